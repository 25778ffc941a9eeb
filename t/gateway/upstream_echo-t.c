/* An upstream that repeats our credential: each place of it in an answer is masked, and nothing
 * else is changed or held back. */
#include "config.h"

#include "gateway/upstream/echo.h"

#include <string.h>
#include <talloc.h>

#include "base/buf.h"
#include "tap.h"

#define SECRET "0123456789abcdef" /* ECHO_MIN octets */
#define STARS "****************"

static TALLOC_CTX *mem;

static bool
take(void *arg, const void *octets, size_t length)
{
    return buf_append(arg, octets, length) == AZ_OK;
}

/* Pass a body through in steps of so many octets. */
static char *
masked(const char *value, const char *plain, const char *body, size_t step, bool *found)
{
    struct echo *echo;
    struct buf out;
    size_t length;
    buf_init(&out, mem, 1 << 20);
    buf_append(&out, "", 0);
    const struct upstream_sink sink = {.take = take, .arg = &out};
    if (!echo_make(mem, value, plain, &echo) || echo == NULL)
        return NULL;
    for (size_t at = 0, all = strlen(body); at < all; at += step)
        if (!echo_feed(echo, &sink, body + at, step < all - at ? step : all - at))
            return NULL;
    if (!echo_end(echo, &sink))
        return NULL;
    *found = echo->found;
    char *text = buf_take(&out, &length);
    return text != NULL ? text : talloc_strdup(mem, "");
}

/* clang-format off */
static const struct {
    const char *value, *plain, *body, *result, *name;
} cases[] = {
    {"Bearer " SECRET, NULL, "a" SECRET "b", "a" STARS "b", "the value is masked, without its scheme"},
    {SECRET, NULL, SECRET, STARS, "... if it is the whole body"},
    {SECRET, NULL, SECRET SECRET " " SECRET, STARS STARS " " STARS, "... as often as it is there"},
    {SECRET, NULL, "0123456789abcdeX" SECRET, "0123456789abcdeX" STARS, "a part of it is none"},
    {SECRET, NULL, "0120123456789abcdef", "012" STARS, "it begins inside of a beginning"},
    {SECRET, NULL, "x0123456789abcde", "x0123456789abcde", "a body that ends with fewer than ECHO_MIN octets of it"},
    {SECRET "ghij", NULL, "x" SECRET, "x" STARS, "... with ECHO_MIN of them: they are masked"},
    {"Bearer ab/cd/0123456789abc", NULL, "{\"t\":\"ab\\/cd\\/0123456789abc\"}", "{\"t\":\"*********************\"}", "slashes that JSON escapes"},
    {"Basic dXNlcjowMTIzNDU2Nzg5YWJjZGVm", SECRET, "dXNlcjowMTIzNDU2Nzg5YWJjZGVm " SECRET, "**************************** " STARS, "Basic, and the password of it"},
    {"Basic dXNlcjpzaG9ydA==", "short", "dXNlcjpzaG9ydA== short", STARS " short", "a short password alone is not searched for"},
    {"ab+cd/0123456789abc", NULL, "x=ab%2Bcd%2F0123456789abc&y", "x=***********************&y", "percent-encoding (RFC 3986 2.1)"},
    {"ab+cd/0123456789abc", NULL, "x=ab%2bcd%2f0123456789abc&y", "x=***********************&y", "... in lower case"},
    {"ab+cd/0123456789abc", NULL, "\"ab\\u002Bcd\\u002F0123456789abc\"", "\"*****************************\"", "escapes of JSON (RFC 8259 section 7)"},
    {"ab+cd/0123456789abc", NULL, "\"ab\\u002bcd\\u002f0123456789abc\"", "\"*****************************\"", "... in lower case"},
    {SECRET, NULL, "MDEyMzQ1Njc4OWFiY2RlZg==", "*********************g==", "base64 of it (RFC 4648 section 4)"},
    {SECRET, NULL, "eDAxMjM0NTY3ODlhYmNkZWZ5", "eD********************Z5", "... behind one octet"},
    {SECRET, NULL, "eHgwMTIzNDU2Nzg5YWJjZGVmeQ==", "eHg*********************eQ==", "... behind two"},
    {SECRET, NULL, "nothing of it", "nothing of it", "another body is passed on as it is"},
    {SECRET, NULL, "", "", "... and an empty one"},
};
/* clang-format on */

static void
test_bodies(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool same = true, found = false;
        for (size_t step = 1; step <= strlen(cases[i].body) + 1; step++) {
            char *got = masked(cases[i].value, cases[i].plain, cases[i].body, step, &found);
            same = same && got != NULL && strcmp(got, cases[i].result) == 0
                   && found == (strcmp(cases[i].body, cases[i].result) != 0);
        }
        ok(same, "%s, however the body is cut", cases[i].name);
    }
}

static void
test_limits(void)
{
    struct echo *echo;
    ok(echo_make(mem, "Bearer 0123456789abcde", NULL, &echo) && echo == NULL,
       "a credential of ECHO_MIN - 1 octets is not searched for");
    ok(echo_make(mem, "Bearer " SECRET, NULL, &echo) && echo != NULL, "one of ECHO_MIN is");

    struct buf out;
    buf_init(&out, mem, 1 << 20);
    buf_append(&out, "", 0);
    const struct upstream_sink sink = {.take = take, .arg = &out};
    ok(echo_feed(echo, &sink, "data: 1\n\n", 9) && out.len == 9,
       "an event that ends is passed on at once");
    ok(echo_feed(echo, &sink, "data: 0123", 10) && out.len == 15,
       "only what can be the beginning of the credential waits");

    char field[] = "Bearer " SECRET;
    echo_mask(echo, field, strlen(field));
    is_str(field, "Bearer " STARS, "a header field is masked in place");
}

static void
test_large(void)
{
    size_t size = 3 * ECHO_PIECE;
    char *body = talloc_array(mem, char, (unsigned) size + 1);
    bool found;
    for (size_t at = ECHO_PIECE - 20; at < ECHO_PIECE + 20; at++) {
        memset(body, 'x', size);
        body[size] = '\0';
        memcpy(body + at, SECRET, ECHO_MIN);
        char *got = masked(SECRET, NULL, body, size, &found);
        if (got == NULL || strlen(got) != size || strstr(got, SECRET) != NULL
            || memcmp(got + at, STARS, ECHO_MIN) != 0) {
            ok(false, "a value across the border of pieces, at octet %zu", at);
            return;
        }
    }
    ok(true, "a value across the border of pieces");
}

int
main(void)
{
    plan(0);
    mem = talloc_new(NULL);
    test_bodies();
    test_limits();
    test_large();
    talloc_free(mem);
    return done();
}
