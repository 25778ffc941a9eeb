#include "config.h"

#include "policy/decide/registry.h"

#include "tap.h"

/* clang-format off */
static const struct { const char *a, *b; bool same; const char *name; } pairs[] = {
    {"https://r.example",          "https://r.example",           true,  "the same text"},
    {"https://r.example",          "https://r.example/",          true,  "a final slash where the path is empty (oauth.md 2.7)"},
    {"https://r.example:8443",     "https://r.example:8443/",     true,  "... behind a port"},
    {"https://[2001:db8::1]",      "https://[2001:db8::1]/",      true,  "... behind an IPv6 address"},
    {"https://r.example/a/",       "https://r.example/a/",        true,  "the same text with a path"},
    {"urn:example:r",              "urn:example:r",               true,  "the same URN"},
    {"https://r.example/a",        "https://r.example/a/",        false, "a final slash behind a path"},
    {"https://r.example/",         "https://r.example//",         false, "two slashes"},
    {"https://r.example",          "https://r.example//",         false, "... where the path is empty"},
    {"https://r.example",          "https://r.example/a",         false, "a path more"},
    {"https://r.example",          "https://r.example.evil",      false, "a longer host"},
    {"https://r.example",          "https://r.exampl",            false, "a shorter host"},
    {"https://r.example",          "https://r.example:",          false, "an empty port"},
    {"https://r.example",          "https://r.example?",          false, "an empty query"},
    {"https://r.example",          "https://r.example#",          false, "an empty fragment"},
    {"https://r.example?q",        "https://r.example?q/",        false, "a slash that ends a query"},
    {"https://r.example#f",        "https://r.example#f/",        false, "... a fragment"},
    {"https://r.example",          "http://r.example",            false, "another scheme"},
    {"https://r.example",          "https://R.example",           false, "another case: indicators are compared as text"},
    {"https://r.example",          "https://q.example",           false, "another host as long"},
    {"https://r.example",          "https://q.example/",          false, "... and a slash"},
    {"https://r.example",          "https://r.example%2F",        false, "an escaped slash"},
    {"urn:example:r",              "urn:example:r/",              false, "a slash behind a URN, which has no authority"},
    {"",                           "/",                           false, "nothing and a slash"},
    {"",                           "https://r.example",           false, "nothing"},
};
/* clang-format on */

int
main(void)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        ok(resource_equal(pairs[i].a, pairs[i].b) == pairs[i].same, "resources are %s: %s",
           pairs[i].same ? "equal" : "not equal", pairs[i].name);
        ok(resource_equal(pairs[i].b, pairs[i].a) == pairs[i].same, "... the other way round too");
    }
    return done();
}
