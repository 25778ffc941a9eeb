#include "config.h"

#include "base/query.h"

#include <string.h>

#include "tap.h"

/* clang-format off */
static const struct { const char *url, *name_of, *value, *wanted, *name; } cases[] = {
    {"https://a.example/cb", "code", "x", "https://a.example/cb?code=x", "a query begins"},
    {"https://a.example/cb?a=b", "code", "x", "https://a.example/cb?a=b&code=x", "a query is kept as it is (RFC 6749 3.1.2)"},
    {"https://a.example/cb?a=%2f+b&&c", "code", "x", "https://a.example/cb?a=%2f+b&&c&code=x", "... however it is spelt"},
    {"https://a.example/cb?", "code", "x", "https://a.example/cb?code=x", "an empty query"},
    {"https://a.example/cb?a=b&", "code", "x", "https://a.example/cb?a=b&code=x", "a query that ends open"},
    {"https://a.example/cb#f", "code", "x", "https://a.example/cb?code=x#f", "before a fragment"},
    {"https://a.example/cb?a#f?g", "code", "x", "https://a.example/cb?a&code=x#f?g", "... that has a question mark"},
    {"https://a.example/cb#f?g", "code", "x", "https://a.example/cb?code=x#f?g", "... which is no query"},
    {"com.example.app:/cb", "code", "x", "com.example.app:/cb?code=x", "a private scheme"},
    {"u:", "v", "", "u:?v=", "an empty value"},
    {"u:", "v", NULL, "u:", "no value: nothing"},
    {"u:", "v", "azAZ09-._~", "u:?v=azAZ09-._~", "unreserved characters (RFC 3986 2.3)"},
    {"u:", "v", "a b+c&d=e%f#g?h/i:j", "u:?v=a%20b%2Bc%26d%3De%25f%23g%3Fh%2Fi%3Aj", "all others are escaped"},
    {"u:", "v", "\r\nSet-Cookie: x", "u:?v=%0D%0ASet-Cookie%3A%20x", "a line end makes no header"},
    {"u:", "v", "\xc3\xa4\x7f\x01", "u:?v=%C3%A4%7F%01", "UTF-8 and controls"},
};
/* clang-format on */

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct query_pair pair = {cases[i].name_of, cases[i].value};
        is_str(query_append(mem, cases[i].url, &pair, 1), cases[i].wanted, "query: %s",
               cases[i].name);
    }
    const struct query_pair pairs[] = {
        {"a", "1" },
        {"b", NULL},
        {"c", "3" }
    };
    is_str(query_append(mem, "https://a.example/", pairs, 3), "https://a.example/?a=1&c=3",
           "query: several, one left out");
    is_str(query_append(mem, "https://a.example/", pairs, 0), "https://a.example/", "query: none");
    is_int((int64_t) query_escaped_length("a b\xc3\xa4"), 11, "escaped length");
    talloc_free(mem);
    return done();
}
