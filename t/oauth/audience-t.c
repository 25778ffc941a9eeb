#include "config.h"

#include "oauth/parameters/audience.h"
#include "policy/decide/registry.h"
#include "tap.h"

#define BASE "https://as.example"

/* clang-format off */
static const struct { const char *address, *wanted, *name; } normals[] = {
    {"https://as.example/gateway/mcp", "https://as.example/gateway/mcp", "nothing to change"},
    {"HTTPS://As.Example/Gateway", "https://as.example/Gateway", "scheme and host are in lower case, the path is kept"},
    {"https://as.example:443/a", "https://as.example/a", "the port of https"},
    {"http://as.example:80/a", "http://as.example/a", "the port of http"},
    {"https://as.example:80/a", "https://as.example:80/a", "... of the other scheme is kept"},
    {"https://as.example:8443", "https://as.example:8443", "another port is kept"},
    {"https://[::1]:443/a", "https://[::1]/a", "an IPv6 address"},
    {"https://as.example/", "https://as.example", "a lone slash"},
    {"https://as.example/a/", "https://as.example/a/", "a slash after a path is kept"},
    {"https://as.example?x=1", "https://as.example?x=1", "a query is kept"},
    {"urn:svc:gateway", NULL, "a URN has no authority"},
    {"https://", NULL, "an empty authority"},
    {"https:///a", NULL, "... before a path"},
    {"https://user@as.example/a", NULL, "an address that names a user"},
    {"", NULL, "nothing"},
};

static const struct { const char *issuer, *named, *wanted; bool covers; const char *name; } tokens[] = {
    {BASE, BASE "/gateway/mcp", BASE "/gateway/mcp", true, "the resource itself"},
    {BASE, "HTTPS://AS.example:443/gateway/mcp", BASE "/gateway/mcp", true, "... in another spelling"},
    {"https://AS.example", BASE "/gateway/mcp", "https://AS.example/gateway/mcp", true, "... of the issuer"},
    {BASE, BASE "/gateway/mcp", BASE "/gateway/mcp/github", true, "a resource above"},
    {BASE, BASE "/gateway", BASE "/gateway/mcp/github", true, "the gateway"},
    {BASE, BASE "/gateway", BASE "/gateway/github", true, "... for the proxy too"},
    {BASE, BASE, BASE "/gateway/github", true, "the issuer"},
    {BASE, BASE "/", BASE "/gateway/github", true, "... with a slash, as URL.href has it"},
    {BASE "/auth", BASE "/auth/gateway", BASE "/auth/gateway/github", true, "an issuer with a path"},
    {BASE "/auth", BASE "/auth", BASE "/auth/gateway/github", true, "... itself"},
    {BASE, NULL, BASE "/gateway/mcp", false, "a token without a resource (gateway-admin.md 1.4)"},
    {BASE, "", BASE "/gateway/mcp", false, "an empty resource"},
    {BASE, BASE "/gateway/github", BASE "/gateway/mcp", false, "another resource"},
    {BASE, BASE "/gateway/mcp/github", BASE "/gateway/mcp", false, "a resource below"},
    {BASE, BASE "/gateway/mcp/git", BASE "/gateway/mcp/github", false, "a name that begins so"},
    {BASE, BASE "/gateway/mcp", BASE "/gateway/github", false, "/gateway/mcp is not above the proxy"},
    {BASE, BASE "/gateway/github", BASE "/gateway/mcp/github", false, "the proxy is not the MCP endpoint"},
    {BASE, BASE "/gateway/mcp/", BASE "/gateway/mcp", false, "a slash after a path is another resource: it is dropped where a resource is asked for"},
    {BASE, BASE "/gateway/", BASE "/gateway/mcp", false, "... also as the one above"},
    {BASE, BASE "/gate", BASE "/gateway/mcp", false, "half of a segment"},
    {BASE, BASE "/Gateway/mcp", BASE "/gateway/mcp", false, "paths are case-sensitive"},
    {BASE, "http://as.example/gateway/mcp", BASE "/gateway/mcp", false, "another scheme"},
    {BASE, BASE ":8443/gateway/mcp", BASE "/gateway/mcp", false, "another port"},
    {BASE, "https://as.example.evil/gateway/mcp", BASE "/gateway/mcp", false, "another host"},
    {BASE, "https://user@as.example/gateway/mcp", BASE "/gateway/mcp", false, "an address that names a user"},
    {BASE, BASE "/gateway/mcp?x", BASE "/gateway/mcp", false, "a query"},
    {BASE, "urn:svc:gateway", BASE "/gateway/mcp", false, "the word of the bindings is no resource"},
    {BASE "/auth", BASE, BASE "/auth/gateway/mcp", false, "above the issuer is another service"},
    {BASE "/auth", BASE "/gateway/mcp", BASE "/auth/gateway/mcp", false, "the gateway of another issuer at this host"},
};

static const struct { const char *issuer, *resource, *wanted, *name; } slashes[] = {
    {BASE, BASE "/gateway/mcp/", BASE "/gateway/mcp", "G4 slash_resource: the slash of the endpoint"},
    {BASE, "https://AS.example:443/gateway/mcp/github/", "https://AS.example:443/gateway/mcp/github", "G4: ... of a resource, whose spelling stays"},
    {BASE, BASE "/gateway/github/", BASE "/gateway/github", "G4: ... at the proxy"},
    {BASE, BASE "/gateway/mcp", BASE "/gateway/mcp", "G4: none"},
    {BASE, BASE "/gateway/mcp//", BASE "/gateway/mcp/", "G4: one alone is dropped"},
    {BASE, BASE "/gateway/", BASE "/gateway/", "G4: the gateway itself is not below"},
    {BASE, BASE "/", BASE "/", "G4: the issuer"},
    {BASE, BASE "/api/", BASE "/api/", "G4: another resource of the host"},
    {BASE, "https://api.example/gateway/mcp/", "https://api.example/gateway/mcp/", "G4: another host"},
    {BASE "/auth", BASE "/gateway/mcp/", BASE "/gateway/mcp/", "G4: another issuer at this host"},
    {BASE, "urn:x/", "urn:x/", "G4: a URN"},
    {BASE, "", "", "G4: nothing"},
};

static const struct { const char *issuer, *resource; bool below; } resources[] = {
    {BASE, BASE "/gateway/mcp", true},
    {"https://AS.example:443", BASE "/gateway/mcp", true},
    {BASE "/auth", BASE "/auth/gateway/x/y", true},
    {BASE, BASE "/gateway", false},
    {BASE, BASE "/gateway/", false},
    {BASE, BASE "/gatewayx/y", false},
    {BASE, BASE, false},
    {BASE, NULL, false},
    {BASE, "https://other.example/gateway/mcp", false},
    {BASE "/auth", BASE "/gateway/mcp", false},
    {BASE, "urn:svc:gateway", false},
};
/* clang-format on */

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    for (size_t i = 0; i < sizeof(normals) / sizeof(normals[0]); i++)
        is_str(resource_normal(mem, normals[i].address), normals[i].wanted, "address: %s",
               normals[i].name);
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
        ok(audience_covers(tokens[i].issuer, tokens[i].named, tokens[i].wanted) == tokens[i].covers,
           "audience: %s is %s", tokens[i].name, tokens[i].covers ? "accepted" : "refused");
    for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++)
        ok(audience_is_gateway(resources[i].issuer, resources[i].resource) == resources[i].below,
           "%s is %sa resource of the gateway of %s",
           resources[i].resource != NULL ? resources[i].resource : "none",
           resources[i].below ? "" : "not ", resources[i].issuer);
    for (size_t i = 0; i < sizeof(slashes) / sizeof(slashes[0]); i++)
        is_str(audience_without_slash(mem, slashes[i].issuer, slashes[i].resource),
               slashes[i].wanted, "%s", slashes[i].name);
    talloc_free(mem);
    return done();
}
