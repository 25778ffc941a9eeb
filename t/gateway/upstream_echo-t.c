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
    buf_init(&out, mem, 8 << 20);
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

#define KEY "s3/aB+c9/Zz01234+x=="

/* What encoders make of a credential: each octet is itself or one of its escapes
 * (gateway-admin.md 3.3). */
/* clang-format off */
static const struct {
    const char *value, *encoded, *name;
} forms[] = {
    {KEY, "s3\\/aB+c9\\/Zz01234+x==", "a backslash before slashes (PHP)"},
    {KEY, "s3/aB\\u002Bc9/Zz01234\\u002Bx==", "a plus as \\u002B, slashes plain (.NET)"},
    {KEY, "s3\\u002faB+c9\\u002fZz01234+x==", "a slash as \\u002f, plus plain"},
    {KEY, "s3/aB%2Bc9/Zz01234%2Bx%3D%3D", "a slash plain, the others as addresses have them (urllib.quote)"},
    {KEY, "s3%2FaB+c9%2FZz01234+x%3d%3D", "a slash as %2F, plus plain"},
    {KEY, "s3%2FaB%2Bc9%2fZz01234%2bx==", "= plain, both cases of hexadecimal digits"},
    {KEY, "s3/aB&#43;c9/Zz01234&#43;x&#61;&#61;", "&#43; (HTML)"},
    {KEY, "s3&#x2F;aB&#x2b;c9&#X2f;Zz01234&#43;x==", "&#x2F; in each case"},
    {KEY, "s3&#0047;aB&#x0002B;c9/Zz01234+x==", "... with zeros in front"},
    {KEY, "s3/aB&#43c9&#47Zz01234+x==", "... without the semicolon"},
    {KEY, "s3&sol;aB&plus;c9&sol;Zz01234+x&equals;&equals;", "names of HTML"},
    {KEY, "\\u0073\\u0033\\u002f\\u0061\\u0042\\u002b\\u0063\\u0039\\u002f\\u005a\\u007a\\u0030\\u0031\\u0032\\u0033\\u0034\\u002b\\u0078\\u003d\\u003d", "every character as \\uXXXX"},
    {KEY, "%73%33%2f%61%42%2b%63%39%2f%5a%7a%30%31%32%33%34%2b%78%3d%3d", "every character as %XX"},
    {KEY, "\\x73\\x33/aB\\x2Bc9/Zz01234\\x2bx==", "\\x2B of programming languages"},
    {KEY, "s3\\\\/aB\\\\u002bc9\\\\\\/Zz01234+x==", "JSON within JSON"},
    {KEY, "s3%252FaB%252Bc9/Zz01234+x==", "an address within an address"},
    {KEY, "s3/aB\\u0026#43;c9/Zz01234\\u00252Bx==", "HTML and an address within JSON"},
    {KEY, "s3&amp;#47;aB&amp;plus;c9/Zz01234+x==", "HTML within HTML"},
    {"Bearer " KEY, "s3\\/aB%2Bc9&#47;Zz01234\\u002Bx=%3D", "all of them, each once"},
    {"Basic x", "p\\u00e4ssw\\u00F6rt-0123456789", "characters beyond ASCII as JSON has them"},
    {"Basic x", "p%C3%A4ssw\\xc3\\xb6rt-0123456789", "... as their octets"},
    {"Basic x", "p&#228;ssw&#xf6;rt-0123456789", "... as HTML has them"},
    {"Basic y", "\\ud83d\\ude00-0123456789-abc", "... as a surrogate pair"},
    {"Basic z", "a%41%2541\\u0025&amp;\\\\0123456789", "a credential that has escapes of its own, escaped"},
    {"Basic z", "a%2541%252541%25&#38;\\u005c0123456789", "... all of it"},
    {"Basic z", "a%41%2541%&\\0123456789", "... as it is"},
    {"Basic w", "\\\\\\\\a\\\\%\\/&0123456789", "a credential with backslashes in JSON"},
    {"Basic w", "\\\\\\\\\\\\\\\\a\\\\\\\\%\\/&0123456789", "... in JSON within JSON"},
    {SECRET, "MDEyMzQ1Njc4OWFi\\u0059\\u0032RlZg==", "base64 of it with escapes"},
};
/* clang-format on */

/* Return the password of a row above whose value is that of Basic. */
static const char *
plain_of(const char *value)
{
    static const struct {
        const char *value, *plain;
    } plains[] = {
        {"Basic w", "\\\\a\\%/&0123456789"             },
        {"Basic x", "p\xc3\xa4ssw\xc3\xb6rt-0123456789"},
        {"Basic y", "\xf0\x9f\x98\x80-0123456789-abc"  },
        {"Basic z", "a%41%2541%&\\0123456789"          }
    };
    for (size_t i = 0; i < sizeof(plains) / sizeof(plains[0]); i++)
        if (strcmp(plains[i].value, value) == 0)
            return plains[i].plain;
    return NULL;
}

static void
test_forms(void)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        char *body = talloc_asprintf(mem, "{\"a\":\"<%s>\\n\"}", forms[i].encoded);
        size_t length = strlen(forms[i].encoded),
               left = strcmp(forms[i].value, SECRET) == 0 ? 3 : 0;
        char *result = talloc_strdup(mem, body), *got = NULL;
        bool same = true, found = false;
        memset(result + 7, '*', length - left);
        for (size_t step = 1; step <= strlen(body) + 1; step++) {
            got = masked(forms[i].value, plain_of(forms[i].value), body, step, &found);
            same = same && got != NULL && strcmp(got, result) == 0 && found;
        }
        ok(same, "masked, however the body is cut: %s", forms[i].name);
    }
}

/* Texts that are nearly the credential stay as they are. */
static void
test_others(void)
{
    static const char *const others[] = {"s3\\/aB+c9\\/Zz01234+x=.",
                                         "s3/aB\\u012Bc9/Zz01234+x==",
                                         "s3/aB%2Cc9/Zz01234+x==",
                                         "s3/aB&#430;c9/Zz01234+x==",
                                         "s3/aB&pluss;c9/Zz01234+x==",
                                         "s3/aB%2 Bc9/Zz01234+x==",
                                         "S3/aB+c9/Zz01234+x==",
                                         "s3/aB\\+ c9/Zz01234+x==",
                                         "s3/aB&#x;c9/Zz01234+x==",
                                         "s3/aB\\u002 Bc9/Zz01234+x==",
                                         "s3/aB%25252Bc9/Zz01234+x==x",
                                         "s3/aB&#1114155;c9/Zz0123+x==",
                                         "s3/aB\\",
                                         "s3/aB%2",
                                         "s3/aB&#4"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        bool same = true, found = false;
        for (size_t step = 1; step <= strlen(others[i]) + 1; step++) {
            char *got = masked(KEY, NULL, others[i], step, &found);
            same = same && got != NULL && strcmp(got, others[i]) == 0 && !found;
        }
        ok(same, "not the credential: %s", others[i]);
    }
}

/* An upstream may choose its token and its answer so that each comparison is as long as it can be:
 * that is masked, and takes no minutes. */
static void
test_repetitive(void)
{
    size_t size = 4 << 20;
    char *value = talloc_array(mem, char, 8192),
         *body = talloc_array(mem, char, (unsigned) size + 1);
    bool found;
    memset(value, 'a', 8190);
    memcpy(value + 8190, "b", 2);
    memset(body, 'a', size);
    body[size] = '\0';
    char *got = masked(value, NULL, body, size, &found);
    ok(got != NULL && strlen(got) == size, "a credential and an answer of one letter: 4 MiB pass");
    ok(found && strspn(got, "a") < ECHO_STEPS_MAX,
       "... masked where comparing would take too long");
    memset(value, '\\', 8190);
    memset(body, '\\', size);
    got = masked(value, NULL, body, size, &found);
    ok(got != NULL && strlen(got) == size && found, "... or of backslashes");
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
    test_forms();
    test_others();
    test_repetitive();
    test_limits();
    test_large();
    talloc_free(mem);
    return done();
}
