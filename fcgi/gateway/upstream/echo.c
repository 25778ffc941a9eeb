#include "config.h"

#include "gateway/upstream/echo.h"

#include <string.h>

#include "base/b64url.h"
#include "crypto/secret.h"

/* Add a text; a short one is left out. */
static bool
add_text(TALLOC_CTX *mem, struct echo *echo, const char *text, size_t length)
{
    if (length < ECHO_MIN)
        return true;
    char *copy = secret_copy(mem, text, length);
    if (copy == NULL)
        return false;
    echo->text[echo->texts] = copy;
    echo->length[echo->texts++] = length;
    echo->longest = length > echo->longest ? length : echo->longest;
    return true;
}

/* Escapes of an octet that is not an unreserved character of RFC 3986 2.3. */
static const struct escape {
    const char *begin, *digits;
} escapes[] = {
    {"%",     "0123456789ABCDEF"}, /* RFC 3986 2.1 */
    {"%",     "0123456789abcdef"},
    {"\\u00", "0123456789ABCDEF"}, /* RFC 8259 section 7 */
    {"\\u00", "0123456789abcdef"},
};
/* Longest of them. */
#define ESCAPE_MAX 6

static bool
is_unreserved(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c != '\0' && strchr("-._~", c) != NULL);
}

/* Add the text with one kind of escape; NULL: a backslash before slashes. */
static bool
add_escaped(TALLOC_CTX *mem, struct echo *echo, const char *text, const struct escape *escape)
{
    size_t used = 0;
    char *escaped = secret_alloc(mem, ESCAPE_MAX * strlen(text) + 1);
    if (escaped == NULL)
        return false;
    for (const char *c = text; *c != '\0'; c++) {
        if (escape != NULL && !is_unreserved(*c)) {
            size_t begin = strlen(escape->begin);
            memcpy(escaped + used, escape->begin, begin);
            escaped[used + begin] = escape->digits[(unsigned char) *c >> 4];
            escaped[used + begin + 1] = escape->digits[(unsigned char) *c & 15];
            used += begin + 2;
            continue;
        }
        if (escape == NULL && *c == '/')
            escaped[used++] = '\\';
        escaped[used++] = *c;
    }
    bool good = used == strlen(text) || add_text(mem, echo, escaped, used);
    talloc_free(escaped);
    return good;
}

/*
 * Add the base64 of the text as it stands within a longer text, after a number of octets modulo 3:
 * the characters that depend on the text alone (RFC 4648 section 4), and those of base64url
 * (section 5) if they differ.
 */
static bool
add_base64(TALLOC_CTX *mem, struct echo *echo, const char *text, size_t behind)
{
    size_t length = strlen(text), skip = (behind * 8 + 5) / 6, all = (behind + length) * 8 / 6;
    char *octets = secret_alloc(mem, behind + length + 1), *encoded = NULL;
    bool good = octets != NULL;
    if (good) {
        memset(octets, 0, behind);
        memcpy(octets + behind, text, length);
        encoded = b64_encode(mem, octets, behind + length);
        good = encoded != NULL && add_text(mem, echo, encoded + skip, all - skip);
    }
    bool differs = good && strpbrk(encoded, "+/") != NULL;
    for (char *c = encoded; differs && *c != '\0'; c++)
        *c = (char) (*c == '+' ? '-' : *c == '/' ? '_' : *c);
    if (differs)
        good = add_text(mem, echo, encoded + skip, all - skip);
    if (encoded != NULL)
        explicit_bzero(encoded, strlen(encoded));
    talloc_free(encoded);
    talloc_free(octets);
    return good;
}

/* Add a text, and its forms with the escapes of JSON, of URLs and of base64. */
static bool
add_forms(TALLOC_CTX *mem, struct echo *echo, const char *text)
{
    size_t length = strlen(text);
    bool good = add_text(mem, echo, text, length);
    if (length < ECHO_MIN)
        return good;
    good = good && add_escaped(mem, echo, text, NULL);
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
        good = good && add_escaped(mem, echo, text, &escapes[i]);
    for (size_t behind = 0; behind < 3; behind++)
        good = good && add_base64(mem, echo, text, behind);
    return good;
}

bool
echo_make(TALLOC_CTX *mem, const char *value, const char *plain, struct echo **ret)
{
    const char *space = strchr(value, ' ');
    struct echo *echo = talloc_zero(mem, struct echo);
    *ret = NULL;
    if (echo == NULL || !add_forms(echo, echo, space != NULL ? space + 1 : value)
        || (plain != NULL && !add_forms(echo, echo, plain)))
        return false;
    if (echo->texts > 0 && (echo->window = secret_alloc(echo, echo->longest + ECHO_PIECE)) == NULL)
        return false;
    if (echo->texts > 0)
        *ret = echo;
    else
        talloc_free(echo);
    return true;
}

void
echo_mask(struct echo *echo, char *text, size_t length)
{
    for (size_t i = 0; i < echo->texts; i++) {
        char *at = text, *found;
        while ((found = memmem(at, length - (size_t) (at - text), echo->text[i], echo->length[i]))
               != NULL) {
            memset(found, '*', echo->length[i]);
            at = found + echo->length[i];
            echo->found = true;
        }
    }
}

/* Return the number of octets at the end of `text` that may be the beginning of a text that is
 * searched for. */
static size_t
begun(const struct echo *echo, const char *text, size_t length)
{
    size_t most = 0;
    for (size_t i = 0; i < echo->texts; i++)
        for (size_t n = echo->length[i] - 1 < length ? echo->length[i] - 1 : length; n > most; n--)
            if (memcmp(text + length - n, echo->text[i], n) == 0)
                most = n;
    return most;
}

/* Pass a piece on, except for an end that may be the beginning of such a text. */
static bool
feed_piece(struct echo *echo, const struct upstream_sink *sink, const char *octets, size_t length)
{
    size_t all = echo->held + length;
    memcpy(echo->window + echo->held, octets, length);
    echo_mask(echo, echo->window, all);
    size_t held = begun(echo, echo->window, all), passed = all - held;
    bool more = passed == 0 || sink->take(sink->arg, echo->window, passed);
    memmove(echo->window, echo->window + passed, held);
    echo->held = held;
    return more;
}

bool
echo_feed(struct echo *echo, const struct upstream_sink *sink, const void *octets, size_t length)
{
    const char *at = octets;
    while (length > 0) {
        size_t piece = length < ECHO_PIECE ? length : ECHO_PIECE;
        if (!feed_piece(echo, sink, at, piece))
            return false;
        at += piece;
        length -= piece;
    }
    return true;
}

bool
echo_end(struct echo *echo, const struct upstream_sink *sink)
{
    size_t held = echo->held;
    echo->held = 0;
    if (held >= ECHO_MIN) {
        memset(echo->window, '*', held);
        echo->found = true;
    }
    return held == 0 || sink->take(sink->arg, echo->window, held);
}
