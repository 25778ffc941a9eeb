/* The request target at an upstream: paths, queries and origins. */
#include "config.h"

#include "gateway/upstream/target.h"

#include <string.h>
#include <talloc.h>

#include "scarce.h"
#include "tap.h"

static TALLOC_CTX *mem;

/* clang-format off */
static const struct {
    const char *base, *path, *query, *target, *name;
} targets[] = {
    {"",      "/a/b",       "",       "/a/b",         "a path"},
    {"/v3",   "/a",         "x=1",    "/v3/a?x=1",    "below the path of upstreamUrl, with a query"},
    {"",      "",           "",       "/",            "no path at all"},
    {"/mcp",  "",           "",       "/mcp",         "the path of upstreamUrl alone"},
    {"",      "/a%2Fb",     "",       "/a%2Fb",       "an encoded slash stays encoded"},
    {"",      "/%252e%252e", "",      "/%252e%252e",  "nothing is decoded twice"},
    {"",      "/a//b/",     "",       "/a//b/",       "empty segments stay"},
    {"",      "/...",       "",       "/...",         "three dots are a name"},
    {"",      "/a:@!$&'()*+,;=~", "a=b?c/d", "/a:@!$&'()*+,;=~?a=b?c/d", "all characters of RFC 3986 3.3 and 3.4"},
    {"",      "/..",        "",       NULL,           "two dots"},
    {"",      "/a/../b",    "",       NULL,           "two dots inside"},
    {"",      "/a/.",       "",       NULL,           "one dot"},
    {"",      "/%2e%2E",    "",       NULL,           "encoded dots"},
    {"",      "/.%2e/b",    "",       NULL,           "half encoded dots"},
    {"",      "/%2e",       "",       NULL,           "one encoded dot"},
    {"",      "a",          "",       NULL,           "a path without a slash: user@evil would be another host"},
    {"",      "@evil/",     "",       NULL,           "an authority"},
    {"",      "/a#b",       "",       NULL,           "a fragment"},
    {"",      "/a?b",       "",       NULL,           "a question mark in the path"},
    {"",      "/a\\b",      "",       NULL,           "a backslash"},
    {"",      "/a b",       "",       NULL,           "a space"},
    {"",      "/a\r\nX: y", "",       NULL,           "a line end"},
    {"",      "/\xc0\xae",  "",       NULL,           "raw octets (overlong UTF-8)"},
    {"",      "/%",         "",       NULL,           "a lone percent sign"},
    {"",      "/%4",        "",       NULL,           "half an encoding"},
    {"",      "/%zz",       "",       NULL,           "an encoding that is none"},
    {"",      "/a",         "x#y",    NULL,           "a fragment in the query"},
    {"",      "/a",         "x y",    NULL,           "a space in the query"},
    {"",      "/a",         "%",      NULL,           "a lone percent sign in the query"},
    {"/..",   "/a",         "",       NULL,           "dots in upstreamUrl"},
};

static const char *const state_page[] = {"state", "page"};
static const struct {
    const char *query;
    bool filtered;
    const char *own, *kept, *name;
} queries[] = {
    {"a=1&b=2",               false, NULL,      "a=1&b=2",     "without query.allow all are passed"},
    {"",                      false, NULL,      "",            "an empty query"},
    {"state=open&x=1&page=2", true,  NULL,      "state=open&page=2", "others are dropped"},
    {"x=1",                   true,  NULL,      "",            "... all of them"},
    {"st%61te=1",             true,  NULL,      "st%61te=1",   "a name is decoded once, and passed as it was"},
    {"st%2561te=1",           true,  NULL,      "",            "... not twice"},
    {"STATE=1",               true,  NULL,      "",            "names have a case"},
    {"state=1&state=2",       true,  NULL,      "state=1&state=2", "a repeated one is passed as often"},
    {"state=a%26x%3D1",       true,  NULL,      "state=a%26x%3D1", "an encoded separator stays encoded"},
    {"state=a;x=1",           true,  NULL,      "state=a%3Bx=1", "a semicolon is encoded"},
    {"state",                 true,  NULL,      "state",       "a name without a value"},
    {"&&state=1&",            true,  NULL,      "state=1",     "empty pairs are dropped"},
    {"%00state=1",            true,  NULL,      "",            "NUL in a name"},
    {"api_key=mine&a=1",      false, "api_key", "a=1",         "the caller cannot set our own parameter"},
    {"api%5Fkey=mine&a=1",    false, "api_key", "a=1",         "... encoded neither"},
    {"a=1;api_key=mine",      false, "api_key", "a=1%3Bapi_key=mine", "... nor behind a semicolon"},
};

static const struct {
    const char *url, *origin, *path, *base, *name;
} origins[] = {
    {"https://API.example.com",          "https://api.example.com", "", "", "a host"},
    {"https://api.example.com/",         "https://api.example.com", "/", "", "a host with the slash alone"},
    {"https://api.example.com/v3/",      "https://api.example.com", "/v3/", "/v3", "M1: the slash of a path is kept as written, and cut for a REST base"},
    {"https://api.example.com/mcp",      "https://api.example.com", "/mcp", "/mcp", "M1: ... and none is added"},
    {"https://api.example.com/v3//",     "https://api.example.com", "/v3//", "/v3", "M1: ... also two slashes"},
    {"http://[::1]:8080/x",              "http://[::1]:8080", "/x", "/x", "an IPv6 address with a port"},
    {"https://a@b.example",              NULL, NULL, NULL, "user information"},
    {"https://a.example/?q",             NULL, NULL, NULL, "a query"},
    {"https://a.example/#f",             NULL, NULL, NULL, "a fragment"},
    {"ftp://a.example/",                 NULL, NULL, NULL, "another scheme"},
    {"file:///etc/passwd",               NULL, NULL, NULL, "a file"},
    {"https://a%2eexample/",             NULL, NULL, NULL, "an encoded host"},
    {"https:///a",                       NULL, NULL, NULL, "no host"},
    {"//a.example",                      NULL, NULL, NULL, "no scheme"},
};
/* clang-format on */

static void
test_targets(void)
{
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        char *target = NULL;
        enum az_status st =
            upstream_target(mem, targets[i].base, targets[i].path, targets[i].query, &target);
        is_str(target, targets[i].target, "%s: %s",
               targets[i].target != NULL ? "target" : "refused", targets[i].name);
        ok((st == AZ_OK) == (targets[i].target != NULL), "... with its status");
    }
    char path[UPSTREAM_TARGET_MAX + 2], *target;
    memset(path, 'a', sizeof(path));
    path[0] = '/';
    path[UPSTREAM_TARGET_MAX + 1] = '\0';
    is_int(upstream_target(mem, "", path, "", &target), AZ_INVALID, "one octet too long");
    path[UPSTREAM_TARGET_MAX] = '\0';
    is_int(upstream_target(mem, "", path, "", &target), AZ_OK, "the longest target");
}

static void
test_queries(void)
{
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
        is_str(upstream_query(mem, queries[i].query, queries[i].filtered ? state_page : NULL, 2,
                              queries[i].own),
               queries[i].kept, "query: %s", queries[i].name);
    is_str(upstream_query_add(mem, "a=1", "api_key", "x&y=\xc3\xa4 %"),
           "a=1&api_key=x%26y%3D%C3%A4%20%25", "a parameter of ours is encoded");
    is_str(upstream_query_add(mem, "", "k", "v"), "k=v", "... and may be the only one");
}

static enum scarce_outcome
query_once(TALLOC_CTX *limited, void *arg)
{
    const char *text = upstream_query(limited, arg, NULL, 0, NULL);
    return text == NULL ? SCARCE_FAILED : strcmp(text, arg) == 0 ? SCARCE_WHOLE : SCARCE_WRONG;
}

static void
test_origins(void)
{
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
        struct upstream_origin origin = {.origin = NULL};
        upstream_origin_read(mem, origins[i].url, &origin);
        is_str(origin.origin, origins[i].origin, "upstreamUrl: %s", origins[i].name);
        is_str(origin.path, origins[i].path, "... its path");
        is_str(origin.path != NULL ? upstream_base_path(mem, origin.path) : NULL, origins[i].base,
               "... and the path that paths are put below");
    }
}

int
main(void)
{
    mem = talloc_new(NULL);
    plan(0);
    test_targets();
    test_queries();
    char query[] = "first_of_all=1&second_of_all=2";
    struct scarce_count count = scarce_talloc(query_once, query, 4000, 4);
    scarce_is_seen(&count, "query: no parameter is lost without memory (performance.md R7)");
    test_origins();
    talloc_free(mem);
    return done();
}
