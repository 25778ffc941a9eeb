/* The search for a credential in an answer: cuts between reads make no difference, the length
 * stays, and the credential is not in what is passed on, whichever of its octets are escaped in
 * which way. Input: the credential, a line feed, the body; the octets of the body also choose the
 * escapes. */
#include "config.h"

#include <string.h>
#include <talloc.h>

#include "base/buf.h"
#include "fuzz/fuzz.h"
#include "gateway/upstream/echo.h"
#include "gateway/upstream/escape.h"

static bool
take_masked(void *arg, const void *octets, size_t length)
{
    MUST(length > 0);
    MUST(buf_append(arg, octets, length) == AZ_OK);
    return true;
}

static void
mask_in_steps(TALLOC_CTX *mem, const char *value, const uint8_t *body, size_t size, size_t step,
              struct buf *out)
{
    struct echo *echo;
    const struct upstream_sink sink = {.take = take_masked, .arg = out};
    buf_init(out, mem, size + 1);
    MUST(echo_make(mem, value, NULL, &echo));
    if (echo == NULL)
        return;
    for (size_t at = 0; at < size; at += step)
        MUST(echo_feed(echo, &sink, body + at, step < size - at ? step : size - at));
    MUST(echo_end(echo, &sink));
    MUST(out->len == size);
    for (size_t i = 0; i < echo->texts && size > 0; i++)
        if (memchr(echo->text[i], '*', echo->length[i]) == NULL)
            MUST(memmem(out->data, out->len, echo->text[i], echo->length[i]) == NULL);
}

/* ---- the naive search: all readings of all places */

#define NAIVE_TEXT 64
#define NAIVE_BODY 160

/* Return the most octets of a body that can be read as the text: 0 if none can. */
static size_t
naive_length(const char *wanted, const char *at, size_t left)
{
    static bool reached[NAIVE_TEXT + 1][NAIVE_BODY + 1];
    size_t length = strlen(wanted), most = 0, longest = 0;
    memset(reached, 0, sizeof(reached));
    reached[0][0] = true;
    for (size_t done = 0; done < length && done <= most; done++)
        for (size_t used = 0; used < left; used++)
            for (int layers = 0; reached[done][used] && layers <= ESCAPE_LAYERS; layers++) {
                struct escape_unit unit = escape_read(at + used, left - used, layers);
                size_t count = escape_stands_for(&unit, wanted + done, length - done);
                if (unit.length == 0 || count == 0)
                    continue;
                reached[done + count][used + unit.length] = true;
                most = done + count > most ? done + count : most;
            }
    for (size_t used = 1; used <= left; used++)
        if (reached[length][used])
            longest = used;
    return longest;
}

/* What the naive search finds is masked. */
static void
check_naive(const char *value, const uint8_t *body, size_t size, const struct buf *out)
{
    const char *space = strchr(value, ' ');
    const char *secret = space != NULL ? space + 1 : value;
    if (strlen(secret) < ECHO_MIN || strlen(secret) > NAIVE_TEXT || size > NAIVE_BODY)
        return;
    for (size_t at = 0; at < size; at++) {
        size_t length = naive_length(secret, (const char *) body + at, size - at);
        for (size_t i = 0; i < length; i++)
            MUST(out->data[at + i] == '*');
    }
}

/* ---- the credential with escapes */

/* The escapes of an octet: what stands around its digits. */
static const struct way {
    const char *begin, *end;
    int width;
    char digits; /* x, X or d: in which way and case */
} ways[] = {
    {"%",        "",  2, 'x'},
    {"%",        "",  2, 'X'},
    {"\\x",      "",  2, 'x'},
    {"%25",      "",  2, 'x'},
    {"\\u",      "",  4, 'x'},
    {"\\u",      "",  4, 'X'},
    {"\\\\u",    "",  4, 'x'},
    {"&#",       ";", 1, 'd'},
    {"&#x",      ";", 1, 'X'},
    {"&#",       ";", 5, 'd'},
    {"&amp;#",   ";", 1, 'd'},
    {"\\u0026#", ";", 1, 'd'},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))
/* The first ones have an octet; the others a code point, which is more octets from 0x80 on. */
#define WAYS_OF_OCTETS 4

static void
append_way(struct buf *out, const struct way *way, unsigned octet)
{
    char digits[16];
    if (way->digits == 'd')
        snprintf(digits, sizeof(digits), "%0*u", way->width, octet);
    else if (way->digits == 'x')
        snprintf(digits, sizeof(digits), "%0*x", way->width, octet);
    else
        snprintf(digits, sizeof(digits), "%0*X", way->width, octet);
    MUST(buf_append_text(out, way->begin) == AZ_OK && buf_append_text(out, digits) == AZ_OK
         && buf_append_text(out, way->end) == AZ_OK);
}

/* Write the credential with escapes that the choices say. */
static void
append_escaped(struct buf *out, const char *text, const uint8_t *choices, size_t count)
{
    for (size_t i = 0; text[i] != '\0'; i++) {
        unsigned char octet = (unsigned char) text[i];
        uint8_t choice = count > 0 ? choices[i % count] : 0;
        if (choice % 2 == 1)
            append_way(out, &ways[choice / 2 % (octet < 0x80 ? WAYS : WAYS_OF_OCTETS)], octet);
        else
            MUST(buf_append(out, text + i, 1) == AZ_OK);
    }
}

/* The credential with escapes, within a body: all of its octets are masked. */
static void
mask_escaped(TALLOC_CTX *mem, const char *value, const uint8_t *body, size_t size)
{
    struct buf text, out;
    const char *space = strchr(value, ' ');
    const char *secret = space != NULL ? space + 1 : value;
    size_t before = size / 2, most = 16 * strlen(secret) + size + 1;
    if (strlen(secret) < ECHO_MIN)
        return;
    buf_init(&text, mem, most);
    MUST(buf_append(&text, body, before) == AZ_OK);
    append_escaped(&text, secret, body, size);
    size_t behind = text.len;
    MUST(buf_append(&text, body + before, size - before) == AZ_OK);
    for (size_t step = 1; step < 40; step += 12) {
        mask_in_steps(mem, value, (const uint8_t *) text.data, text.len, step, &out);
        for (size_t at = before; at < behind; at++)
            MUST(out.data[at] == '*');
        buf_done(&out);
    }
    buf_done(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = size > 0 ? memchr(data, '\n', size) : NULL;
    if (line == NULL || memchr(data, '\0', (size_t) (line - data)) != NULL)
        return 0;
    TALLOC_CTX *mem = talloc_new(NULL);
    char *value = talloc_strndup(mem, (const char *) data, (size_t) (line - data));
    size_t length = size - (size_t) (line + 1 - data);
    struct buf whole;
    mask_in_steps(mem, value, line + 1, length, length + 1, &whole);
    check_naive(value, line + 1, length, &whole);
    for (size_t step = 1; step < 40; step += 12) {
        struct buf out;
        mask_in_steps(mem, value, line + 1, length, step, &out);
        MUST(out.len == whole.len && (out.len == 0 || memcmp(out.data, whole.data, out.len) == 0));
        buf_done(&out);
    }
    buf_done(&whole);
    mask_escaped(mem, value, line + 1, length);
    talloc_free(mem);
    return 0;
}
