#include "config.h"

#include <string.h>

#include "http/origin.h"
#include "tap.h"

/* clang-format off */
static const struct { const char *issuer, *listed, *origin; bool allowed; const char *name; } origins[] = {
    {"https://as.example", NULL, "https://as.example", true, "the issuer's own"},
    {"https://as.example/auth", NULL, "https://as.example", true, "... without its path"},
    {"https://AS.example", NULL, "https://as.example", true, "... which browsers write in lower case"},
    {"http://localhost:8080", NULL, "http://localhost:8080", true, "... with its port"},
    {"https://as.example", "https://app.example", "https://app.example", true, "a listed one"},
    {"https://as.example", "https://a.example, https://app.example", "https://app.example", true, "the second of a list"},
    {"https://as.example", "null", "null", true, "null if the operator lists it"},
    {"https://as.example", NULL, "https://app.example", false, "another one"},
    {"https://as.example", NULL, "http://as.example", false, "another scheme"},
    {"https://as.example", NULL, "https://as.example:8443", false, "another port"},
    {"https://as.example", NULL, "https://as.example.evil.example", false, "a name that begins like the issuer's"},
    {"https://as.example", NULL, "https://as.exampl", false, "a name that ends before the issuer's"},
    {"https://as.example", NULL, "https://as.example/", false, "a path is no part of an origin (RFC 6454 6.2)"},
    {"https://as.example", NULL, "null", false, "null (RFC 6454 6.1)"},
    {"https://as.example", NULL, "", false, "an empty one"},
    {"https://as.example", "", "", false, "... also with an empty list"},
    {"https://as.example", ",", "", false, "... and with one that has an empty entry"},
    {"https://as.example", "https://app.example", "https://app.exampl", false, "the beginning of a listed one"},
    {"https://as.example", "https://app.example", "https://app.example.evil.example", false, "a listed one and more"},
    {"https://as.example", "https://a.example,https://b.example", "https://a.example,https://b.example", false, "the list itself"},
    {"https://as.example", "*", "https://app.example", false, "a star lists nobody"},
};

#define KNOWN "Authorization, Content-Type, DPoP, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID"

static const struct { const char *asked, *wanted, *name; } headers[] = {
    {NULL, KNOWN, "nothing is asked for"},
    {"content-type,authorization", KNOWN, "the known headers are allowed, asked for or not"},
    {"x-evil, cookie", KNOWN, "an unknown header is not"},
    {"mcp-param-region", KNOWN ", mcp-param-region", "a parameter of a tool is (gateway-admin.md 1.3)"},
    {"a, Mcp-Param-A,mcp-param-b_c", KNOWN ", Mcp-Param-A, mcp-param-b_c", "... each of them, in any case"},
    {"mcp-param-", KNOWN, "... not without a name"},
    {"mcp-paramx", KNOWN, "... not a header that only begins so"},
    {"mcp-param-a\r\nX-Evil: 1", KNOWN, "... not with a line break (response splitting)"},
    {"mcp-param-a:b", KNOWN, "... not with a character that no name has"},
};
/* clang-format on */

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++)
        ok(origin_is_allowed(origins[i].issuer, origins[i].listed, origins[i].origin)
               == origins[i].allowed,
           "Origin %s: %s is %s", origins[i].origin, origins[i].name,
           origins[i].allowed ? "allowed" : "refused");
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        is_str(origin_request_headers(mem, headers[i].asked), headers[i].wanted, "preflight: %s",
               headers[i].name);
    char *at = talloc_array(mem, char, ORIGIN_HEADERS_MAX + 2);
    memset(at, ',', ORIGIN_HEADERS_MAX + 1);
    memcpy(at, "mcp-param-a", 11);
    at[ORIGIN_HEADERS_MAX] = '\0';
    is_str(origin_request_headers(mem, at), KNOWN ", mcp-param-a", "a list of %d octets is read",
           ORIGIN_HEADERS_MAX);
    at[ORIGIN_HEADERS_MAX] = ',';
    at[ORIGIN_HEADERS_MAX + 1] = '\0';
    is_str(origin_request_headers(mem, at), KNOWN, "... one past that is not");
    talloc_free(mem);
    return done();
}
