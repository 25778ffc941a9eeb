#include "config.h"

#include "http/cookie.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* clang-format off */
static const struct { const char *header, *value, *name; } rows[] = {
    {"sid=abc",                   "abc",   "a cookie"},
    {"a=1; sid=abc; b=2",         "abc",   "one of several"},
    {"a=1;sid=abc",               "abc",   "no blank after the semicolon"},
    {"a=1;\t sid = abc ; b=2",    "abc",   "blanks and tabs around the parts"},
    {"sid=",                      "",      "an empty value"},
    {"sid=   ",                   "",      "a value of blanks"},
    {"sid=a=b",                   "a=b",   "= in the value"},
    {"sid=\"abc\"",               "\"abc\"", "quotes are part of it: we send none"},
    {"sid=a b",                   "a b",   "a blank inside"},
    {";;; sid=abc;",              "abc",   "empty parts"},
    {"noise; sid=abc",            "abc",   "a part without ="},
    {"xsid=1; sid=abc; sidx=2",   "abc",   "names that hold it"},
    {NULL,                        NULL,    "no header"},
    {"",                          NULL,    "an empty one"},
    {"sid",                       NULL,    "a name without value"},
    {"SID=abc",                   NULL,    "another case: names of cookies have one (RFC 6265 5.3)"},
    {"xsid=abc",                  NULL,    "a longer name"},
    {"si=abc",                    NULL,    "a shorter one"},
    {"a=sid=abc",                 NULL,    "the name in a value"},
    {"a=\"; sid=abc",             "abc",   "quotes do not hide a semicolon (RFC 6265 5.4)"},
    {"sid=abc, sid=def",          "abc, sid=def", "a comma separates nothing"},
    {"sid=abc; sid=def",          NULL,    "two of the name: one may be a neighbour's"},
    {"sid=abc; sid=abc",          NULL,    "... though they are equal"},
    {"sid=abc; a=1; sid=",        NULL,    "... though one is empty"},
};
/* clang-format on */

static void
test_count(void)
{
    const char *value;
    size_t length;
    char text[4 * (COOKIE_COUNT_MAX + 2)] = "sid=1";
    for (int i = 1; i < COOKIE_COUNT_MAX; i++)
        strcat(text, "; a");
    ok(cookie_find(text, "sid", &value, &length), "COOKIE_COUNT_MAX cookies are looked at");
    strcat(text, "; a");
    ok(!cookie_find(text, "sid", &value, &length), "with one more there is none");
}

static void
test_tags(void)
{
    static const char header[] =
        "f_01=a; f_0g=b;f_02 = c; xf_03=d; f_0A=e; f_042=f; f_0=g; f_05; f_06=";
    const char *tags[3];
    is_int(cookie_tags(header, "f_", 2, tags, 3), 3, "cookies of a family: prefix and two digits");
    ok(strncmp(tags[0], "01", 2) == 0 && strncmp(tags[1], "02", 2) == 0
           && strncmp(tags[2], "06", 2) == 0,
       "... are those, and no longer, shorter or other names");
    is_int(cookie_tags(header, "f_", 2, tags, 2), 2, "... at most as many as there is room for");
    is_int(cookie_tags(NULL, "f_", 2, tags, 3), 0, "... of no header none");
}

int
main(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *value = "as before";
        size_t length = 99;
        bool found = cookie_find(rows[i].header, "sid", &value, &length);
        if (rows[i].value == NULL)
            ok(!found && length == 99 && strcmp(value, "as before") == 0, "none: %s", rows[i].name);
        else if (ok(found, "found: %s", rows[i].name))
            is_bin(value, length, rows[i].value, strlen(rows[i].value), "... with its value");
    }
    test_count();
    test_tags();
    return done();
}
