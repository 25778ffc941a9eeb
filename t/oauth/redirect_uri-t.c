#include "config.h"

#include "oauth/registration/redirect_uri.h"

#include <string.h>

#include "base/uri.h"
#include "tap.h"

/* clang-format off */
static const struct { const char *registered, *asked; bool wanted; const char *name; } rules[] = {
    {"https://a.example/cb", "https://a.example/cb", true, "the same text (RFC 3986 6.2.1)"},
    {"https://a.example/cb", "https://a.example/cb/", false, "a final slash more"},
    {"https://a.example/cb/", "https://a.example/cb", false, "... or less"},
    {"https://a.example", "https://a.example/", false, "an empty path is not /"},
    {"https://a.example/cb", "HTTPS://a.example/cb", false, "a scheme in capitals"},
    {"https://a.example/cb", "https://A.example/cb", false, "a host in capitals"},
    {"https://a.example/cb", "https://a.example/CB", false, "a path in capitals"},
    {"https://a.example/cb", "https://a.example:443/cb", false, "the default port, spelt out"},
    {"https://a.example/cb", "https://a.example/%63b", false, "an escape of an unreserved character"},
    {"https://a.example/%63b", "https://a.example/cb", false, "... in either direction"},
    {"https://a.example/cb", "https://a.example/x/../cb", false, "dots are not resolved"},
    {"https://a.example/cb", "https://a.example/cb?x=y", false, "a query more"},
    {"https://a.example/cb?x=y", "https://a.example/cb?x=y", true, "a registered query"},
    {"https://a.example/cb?x=y", "https://a.example/cb", false, "... is part of it"},
    {"https://a.example/cb?x=y", "https://a.example/cb?x=z", false, "... and so is its value"},
    {"https://a.example/cb", "https://a.example/cb#", false, "a fragment"},
    {"https://a.example/cb", "https://a.example/cbx", false, "a longer path"},
    {"https://a.example/cb", "https://a.example.evil.example/cb", false, "a longer host"},
    {"https://a.example/cb", "https://a.example@evil.example/cb", false, "user information"},
    {"https://a.example/cb", "http://a.example/cb", false, "http for https"},
    {"https://a.example/cb", "", false, "nothing"},
    {"com.example.app:/cb", "com.example.app:/cb", true, "a private scheme, the same"},
    {"com.example.app:/cb", "com.example.app:/cc", false, "... another path"},

    {"http://127.0.0.1/cb", "http://127.0.0.1:8123/cb", true, "loopback: a port where none is registered (RFC 8252 7.3)"},
    {"http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb", true, "... another than the registered"},
    {"http://127.0.0.1:3000/cb", "http://127.0.0.1/cb", true, "... none where one is registered"},
    {"http://[::1]:1/cb", "http://[::1]:8123/cb", true, "... of ::1"},
    {"http://localhost/cb", "http://localhost:8123/cb", true, "... of localhost"},
    {"http://localhost", "http://localhost:8123", true, "... without a path"},
    {"http://localhost?x=y", "http://localhost:8123?x=y", true, "... with a query alone"},
    {"http://127.0.0.1/cb?x=y", "http://127.0.0.1:8123/cb?x=y", true, "... with path and query"},
    {"http://127.0.0.1/cb", "http://127.0.0.1:8123/cc", false, "loopback: the path is exact"},
    {"http://127.0.0.1/cb", "http://127.0.0.1:8123/cb/", false, "... to the slash"},
    {"http://127.0.0.1/cb", "http://127.0.0.1:8123", false, "... and must be there"},
    {"http://127.0.0.1", "http://127.0.0.1:8123/", false, "... or not"},
    {"http://127.0.0.1/cb", "http://127.0.0.1:8123/cb?x=y", false, "... the query too"},
    {"http://127.0.0.1/cb?x=y", "http://127.0.0.1:8123/cb", false, "... in either direction"},
    {"http://127.0.0.1/cb", "http://127.0.0.1:8123/cb#x", false, "... and no fragment"},
    {"http://127.0.0.1/cb", "http://localhost:8123/cb", false, "hosts are not interchangeable: localhost may be another's (RFC 8252 8.3)"},
    {"http://localhost/cb", "http://127.0.0.1:8123/cb", false, "... in either direction"},
    {"http://localhost/cb", "http://[::1]/cb", false, "... nor is ::1"},
    {"http://localhost/cb", "http://LOCALHOST:8123/cb", false, "... nor another spelling"},
    {"http://127.0.0.1/cb", "http://127.0.0.2:8123/cb", false, "another address of the loopback network"},
    {"http://127.0.0.1/cb", "http://127.1:8123/cb", false, "another spelling of the address"},
    {"http://127.0.0.1/cb", "https://127.0.0.1:8123/cb", false, "https on loopback is exact"},
    {"https://localhost/cb", "https://localhost:8123/cb", false, "... a registered one too"},
    {"https://a.example/cb", "https://a.example:8123/cb", false, "any other host is exact"},
    {"http://localhost.evil.example/cb", "http://localhost.evil.example:1/cb", false, "a host that begins so is another host"},
    {"http://localhost/cb", "http://localhost.evil.example/cb", false, "... as what is asked"},
    {"http://127.0.0.1/cb", "http://127.0.0.1.evil.example:8123/cb", false, "... of an address"},
    {"http://localhost/cb", "http://localhost@evil.example/cb", false, "user information is no host"},
    {"http://localhost/cb", "http://localhost:8123@evil.example/cb", false, "... with what looks like a port"},
    {"http://localhost/cb", "http://localhost:@evil.example/cb", false, "... with an empty one"},
    {"http://localhost/cb", "http://localhost\\@evil.example/cb", false, "a backslash ends no host"},
    {"http://localhost/cb", "http://localhost#@evil.example/cb", false, "nor does a fragment"},
    {"http://localhost/cb", "http://localhost:/cb", false, "an empty port is none"},
    {"http://localhost/cb", "http://localhost:0/cb", false, "port 0 is none"},
    {"http://localhost/cb", "http://localhost:65536/cb", false, "a port beyond 65535"},
    {"http://localhost/cb", "http://localhost:123456/cb", false, "a port of six digits"},
    {"http://localhost/cb", "http://localhost:99999999999999999999/cb", false, "a port of twenty"},
    {"http://localhost/cb", "http://localhost:80a/cb", false, "a port with a letter"},
    {"http://localhost/cb", "http://localhost:-1/cb", false, "a port with a sign"},
    {"http://localhost/cb", "http://localhost: 80/cb", false, "a port with a blank"},
    {"http://[::1]/cb", "http://[::1]evil.example/cb", false, "text behind an IPv6 address"},
    {"http://[::1]/cb", "http://[::1%25eth0]:1/cb", false, "a zone"},
    {"http://[::1]/cb", "http://::1/cb", false, "no brackets"},
};

static const struct { const char *uri; bool wanted; const char *name; } remembered[] = {
    {"https://a.example/cb", true, "https"},
    {"https://a.example:8443/cb", true, "... with a port"},
    {"https://localhost/cb", false, "loopback: any program of the machine may be there"},
    {"https://127.0.0.1/cb", false, "... by address"},
    {"https://[::1]/cb", false, "... of IPv6"},
    {"https://LOCALHOST/cb", false, "... in capitals"},
    {"http://127.0.0.1:3000/cb", false, "loopback by http"},
    {"http://localhost/cb", false, "... by name"},
    {"com.example.app:/cb", false, "a private scheme: any program may take it"},
    {"com.example.app://a.example/cb", false, "... with a host"},
    {"cb", false, "no URI"},
};
/* clang-format on */

static void
test_client(TALLOC_CTX *mem)
{
    const char *uris[] = {"https://a.example/1", "http://127.0.0.1/2", NULL}, *none[] = {NULL};
    struct client client = {.type = "public", .redirect_uris = uris};
    ok(redirect_uri_is_of(&client, "https://a.example/1"), "a client's first URI");
    ok(redirect_uri_is_of(&client, "http://127.0.0.1:9/2"), "... its second, with a port");
    ok(!redirect_uri_is_of(&client, "http://127.0.0.1:9/1"), "... not one made of both");
    ok(!redirect_uri_needs_challenge(&client, "http://127.0.0.1:9/2"),
       "... which needs nothing else of a public client, whose challenge is always asked for");
    client.type = "confidential";
    ok(redirect_uri_is_of(&client, "http://127.0.0.1:9/2"),
       "a confidential client's URI has any port too (world.md F7, RFC 8252 7.3)");
    ok(redirect_uri_needs_challenge(&client, "http://127.0.0.1:9/2"),
       "... if a challenge is there (RFC 9700 4.5)");
    ok(!redirect_uri_needs_challenge(&client, "http://127.0.0.1/2"), "... its own without");
    ok(redirect_uri_needs_challenge(&client, "http://127.0.0.1:80/2"),
       "... the default port that is spelt out is another one");
    ok(!redirect_uri_needs_challenge(&client, "https://a.example/1"), "... any other is exact");
    client.redirect_uris = none;
    ok(!redirect_uri_is_of(&client, "https://a.example/1"), "a client without URIs has none");

    char *longest = talloc_zero_size(mem, URI_MAX + 2);
    memset(longest, 'a', URI_MAX);
    memcpy(longest, "http://localhost/", 17);
    const char *registered[] = {longest, NULL};
    client.redirect_uris = registered;
    ok(redirect_uri_is_of(&client, longest), "a URI of %d octets", URI_MAX);
    longest[URI_MAX] = 'a';
    ok(!redirect_uri_is_of(&client, longest), "... one more is none: no header line holds it");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        is_int(redirect_uri_matches(rules[i].registered, rules[i].asked), rules[i].wanted,
               "redirect_uri: %s", rules[i].name);
    for (size_t i = 0; i < sizeof(remembered) / sizeof(remembered[0]); i++)
        is_int(redirect_uri_is_remembered(remembered[i].uri), remembered[i].wanted,
               "consent is %sremembered (decisions.md \"Consent\"): %s",
               remembered[i].wanted ? "" : "not ", remembered[i].name);
    test_client(mem);
    talloc_free(mem);
    return done();
}
