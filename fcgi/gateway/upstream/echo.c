#include "config.h"

#include "gateway/upstream/echo.h"

#include <string.h>

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

/* Add a text, and the form that writers of JSON give to one with a slash. */
static bool
add_forms(TALLOC_CTX *mem, struct echo *echo, const char *text)
{
    size_t length = strlen(text), used = 0;
    if (!add_text(mem, echo, text, length))
        return false;
    if (length < ECHO_MIN || strchr(text, '/') == NULL)
        return true;
    char *escaped = secret_alloc(mem, 2 * length + 1);
    if (escaped == NULL)
        return false;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '/')
            escaped[used++] = '\\';
        escaped[used++] = *c;
    }
    bool good = add_text(mem, echo, escaped, used);
    talloc_free(escaped);
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

/* Return the octets at the end of `text` that are the beginning of one of ours. */
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

/* Pass a piece on, but for what may be the beginning of a text. */
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
