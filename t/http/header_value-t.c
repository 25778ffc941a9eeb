#include "config.h"

#include "http/header_value.h"

#include "tap.h"

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdee"

/* clang-format off */
static const struct { const char *value; bool holds; const char *name; } matches[] = {
    {"\"" DIGEST "\"",                  true,  "its tag"},
    {"\"" OTHER "\", \"" DIGEST "\"",   true,  "its tag after another"},
    {"\"" DIGEST "\",\"x\"",            true,  "its tag before another"},
    {", ,\t\"" DIGEST "\" , ",          true,  "empty members of the list (RFC 9110 5.6.1)"},
    {"*",                               true,  "*"},
    {" *\t",                            true,  "* with blanks"},
    {"",                                false, "nothing"},
    {",",                               false, "an empty list"},
    {"\"" OTHER "\"",                   false, "another tag"},
    {"W/\"" DIGEST "\"",                false, "its tag as a weak one (RFC 9110 13.1.1: strong comparison)"},
    {"w/\"" DIGEST "\"",                false, "... in lower case"},
    {DIGEST,                            false, "the digest without quotes"},
    {"\"" DIGEST,                       false, "... without the last one"},
    {DIGEST "\"",                       false, "... without the first one"},
    {"\"" DIGEST "0\"",                 false, "an octet more"},
    {"\"0" DIGEST "\"",                 false, "... in front"},
    {"x" DIGEST "\"",                   false, "another octet for the first quote"},
    {"\"" DIGEST "x",                   false, "... for the last one"},
    {"\"\"" DIGEST "\"\"",              false, "two quotes"},
    {"*, \"x\"",                        false, "* in a list"},
    {"\"x\", *",                        false, "... at its end"},
    {"\"*\"",                           false, "a tag that is *"},
};

static const struct { const char *value, *tag, *name; } tags[] = {
    {NULL,             "",    "no header"},
    {"",               "",    "an empty one"},
    {"\"abc\"",        "abc", "a tag"},
    {"W/\"abc\"",      "abc", "a weak tag (RFC 9110 13.1.2: weak comparison)"},
    {"abc",            "abc", "a tag without quotes, as older engines send it"},
    {"\"abc",          "abc", "a tag that does not end"},
    {"\"abc\", \"d\"", "abc", "the first of a list"},
    {"\"\"",           "",    "an empty tag"},
    {"W/",             "",    "a weak tag without tag"},
    {"*",              "*",   "*"},
};

#define CHROMIUM                                                                                   \
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;"  \
    "q=0.8,application/signed-exchange;v=b3;q=0.7"
#define FIREFOX "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

static const struct { const char *value; bool html; const char *name; } accepts[] = {
    {CHROMIUM,                                     true,  "what Chromium sends when it opens a page"},
    {FIREFOX,                                      true,  "what Firefox and Safari send"},
    {"text/html",                                  true,  "HTML alone"},
    {"TEXT/HTML",                                  true,  "... in capitals (RFC 9110 8.3.1)"},
    {" , text/html;charset=utf-8",                 true,  "... with a parameter, after an empty member"},
    {"text/html, application/json",                true,  "HTML ahead of JSON"},
    {"application/json;q=0.9, text/html",          true,  "HTML with a larger weight than JSON"},
    {"application/json;q=0.1,text/html;q=0.2",     true,  "... both below 1"},
    {"application/json;q=0,text/html;q=0.001",     true,  "HTML with the smallest weight, JSON refused"},
    {"text/html;q=1.000",                          true,  "a weight of 1 with all digits"},
    {NULL,                                         false, "no header"},
    {"",                                           false, "an empty one"},
    {"*/*",                                        false, "what curl sends: a wildcard names no type"},
    {"text/*",                                     false, "... nor does that of texts"},
    {"application/json",                           false, "JSON alone"},
    {"application/json, text/html",                false, "JSON ahead of HTML"},
    {"application/json, text/plain, */*",          false, "what scripts of pages send"},
    {"application/scim+json, text/html",           false, "a type of JSON ahead of HTML"},
    {"text/html;q=0.5, application/json",          false, "JSON with a larger weight"},
    {"text/html;q=0.5, application/json;q=0.501",  false, "... by a thousandth"},
    {"text/html;q=0",                              false, "HTML refused (RFC 9110 12.4.2)"},
    {"text/html;q=0.000, */*",                     false, "... with all digits"},
    {"text/html;q=x",                              false, "a weight that is none"},
    {"text/html;q=",                               false, "... an empty one"},
    {"text/html;q=2",                              false, "... one above 1"},
    {"text/html;q=0.5x",                           false, "... with something after it"},
    {"text/htmlx",                                 false, "another type that begins so"},
    {"xtext/html",                                 false, "... or ends so"},
    {"application/xhtml+xml",                      false, "another type of a browser alone"},
    {"x/y;z=text/html",                            false, "HTML as a parameter"},
};

static const struct { const char *value; long seconds; const char *name; } waits[] = {
    {NULL,                           0,  "no header"},
    {"",                             0,  "an empty one"},
    {"wait=1",                       1,  "a second"},
    {"wait=24",                      24, "one below the most"},
    {"wait=25",                      25, "the most"},
    {"wait=26",                      25, "one above it"},
    {"wait=99999999999999999999999", 25, "more than fits a number"},
    {"wait=0",                       0,  "none"},
    {"wait=007",                     7,  "zeros in front"},
    {"modes=snapshot,delta;wait=25", 25, "as OPA writes it"},
    {"respond-async, wait=10",       10, "the example of RFC 7240 4.3"},
    {"WAIT=5",                       5,  "names of preferences know no case (RFC 7240 2)"},
    {"wait=5, wait=7",               5,  "the first of several (RFC 7240 2)"},
    {"wait=x, wait=7",               0,  "... though it is none"},
    {"wait=5;x=1",                   5,  "a parameter behind it"},
    {"wait=-1",                      0,  "a negative one"},
    {"wait=+1",                      0,  "a sign"},
    {"wait= 1",                      0,  "a blank"},
    {"wait=1.5",                     0,  "a fraction"},
    {"wait=1s",                      0,  "a unit"},
    {"wait=",                        0,  "no number"},
    {"wait",                         0,  "no value"},
    {"await=5",                      0,  "a preference whose name ends so"},
    {"x=wait=5",                     0,  "a value that looks like it"},
};
/* clang-format on */

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++) {
        ok(header_if_match(matches[i].value, DIGEST) == matches[i].holds, "If-Match %s: %s",
           matches[i].holds ? "holds" : "does not hold", matches[i].name);
        ok(!header_if_match(matches[i].value, NULL),
           "... and never for what does not exist (RFC 9110 13.1.1)");
    }
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
        is_str(header_first_tag(mem, tags[i].value), tags[i].tag, "If-None-Match: %s",
               tags[i].name);
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        is_int(header_prefer_wait(waits[i].value, 25), waits[i].seconds, "Prefer: %s",
               waits[i].name);
    for (size_t i = 0; i < sizeof(accepts) / sizeof(accepts[0]); i++)
        ok(header_prefers_html(accepts[i].value) == accepts[i].html, "Accept %s: %s",
           accepts[i].html ? "prefers HTML" : "does not prefer HTML", accepts[i].name);
    talloc_free(mem);
    return done();
}
