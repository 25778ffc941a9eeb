/* The text about a redirect of an MCP upstream (decisions.md "Gateway"). */
#include "config.h"

#include "gateway/mcp/peer/peer_redirect.h"

#include <string.h>
#include <talloc.h>

#include "tap.h"

#define BASE "https://mcp.example:8443/mcp"
#define HIDDEN "an address that cannot be shown"

/* clang-format off */
static const struct {
    const char *location, *shown, *name;
} cases[] = {
    {"https://mcp.example:8443/mcp/",  "https://mcp.example:8443/mcp/", "a slash at the end"},
    {"/mcp/",                          "https://mcp.example:8443/mcp/", "a path of the same server"},
    {"//other.example/x",              "https://other.example/x", "another host, with our scheme"},
    {"http://Other.example/x",         "http://other.example/x", "another scheme"},
    {"https://h/mcp/?api_key=secret",  "https://h/mcp/", "a query is left out: it may have a secret"},
    {"https://u:secret@h/mcp/#secret", "https://h/mcp/", "so are user and fragment"},
    {"javascript:alert(1)",            HIDDEN, "another scheme is not repeated"},
    {"mcp/",                           "https://mcp.example:8443/mcp/", "a path without a slash before it (RFC 9110 10.2.2)"},
    {"./v2/../v3/mcp?key=secret",      "https://mcp.example:8443/v3/mcp", "... with dot segments (RFC 3986 5.2.4)"},
    {"../../x/.",                      "https://mcp.example:8443/x/", "... that lead above the root"},
    {"/a/b/..",                        "https://mcp.example:8443/a/", "... at the end"},
    {"?key=secret",                    "https://mcp.example:8443/mcp", "a query alone"},
    {"",                               "https://mcp.example:8443/mcp", "nothing: the same address"},
    {"mcp:8080/x",                     HIDDEN, "a host without scheme is a URI of another scheme"},
    {"https://h/a b",                  HIDDEN, "a space"},
    {"https://h/<b>",                  HIDDEN, "characters that an address does not have"},
    {"https:///x",                     HIDDEN, "no host"},
};
/* clang-format on */

static void
test_longest(TALLOC_CTX *mem)
{
    char location[PEER_REDIRECT_MAX + 2];
    memset(location, 'a', sizeof(location));
    memcpy(location, "https://h/", 10);
    location[PEER_REDIRECT_MAX + 1] = '\0';
    ok(strstr(peer_redirect_text(mem, BASE, location), HIDDEN) != NULL, "one octet too long");
    location[PEER_REDIRECT_MAX] = '\0';
    ok(strstr(peer_redirect_text(mem, BASE, location), location) != NULL, "the longest address");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        is_str(peer_redirect_text(mem, BASE, cases[i].location),
               talloc_asprintf(mem, "The upstream redirects to %s: change upstreamUrl",
                               cases[i].shown),
               "M2: %s", cases[i].name);
    test_longest(mem);
    talloc_free(mem);
    return done();
}
