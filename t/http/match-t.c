#include "config.h"

#include <string.h>

#include "admin/credential.h"
#include "admin/policy/bundles.h"
#include "authzen/evaluation.h"
#include "http/match.h"
#include "oauth/introspect.h"
#include "scarce.h"
#include "tap.h"
#include "uma/owner.h"

/* clang-format off */
static const struct {
    const char *method, *path;
    const char *operation; /* of the row, or NULL */
    const char *value;     /* first path value, or NULL */
    const char *allow;     /* if only the method is wrong */
    const char *name;
} cases[] = {
    {"POST", "/token", "token", NULL, NULL, "a fixed path"},
    {"GET", "/token", NULL, NULL, "POST", "another method is 405 with Allow (oauth.md C1)"},
    {"HEAD", "/token", NULL, NULL, "POST", "HEAD is no POST"},
    {"post", "/token", NULL, NULL, "POST", "methods are case-sensitive (RFC 9110 9.1)"},
    {"", "/token", NULL, NULL, "POST", "no method"},
    {"POST", "/token/", NULL, NULL, NULL, "a final slash is another path"},
    {"POST", "//token", NULL, NULL, NULL, "a double slash is another path"},
    {"POST", "/Token", NULL, NULL, NULL, "paths are case-sensitive"},
    {"POST", "/%74oken", NULL, NULL, NULL, "fixed segments are matched raw"},
    {"POST", "/tokens", NULL, NULL, NULL, "a longer segment"},
    {"POST", "/toke", NULL, NULL, NULL, "a shorter one"},
    {"POST", "token", NULL, NULL, NULL, "no slash"},
    {"POST", "", NULL, NULL, NULL, "nothing"},
    {"GET", "/", "getHome", NULL, NULL, "the root"},
    {"HEAD", "/", "getHome", NULL, NULL, "... its head alone"},
    {"POST", "/", NULL, NULL, "GET", "... and another method there"},
    {"GET", "//", NULL, NULL, NULL, "two slashes are not the root"},
    {"POST", "/token/../token", NULL, NULL, NULL, "dots are not resolved"},
    {"GET", "/health", "getHealth", NULL, NULL, "a path that begins others"},
    {"GET", "/health/live", "getHealthLive", NULL, NULL, "... and one of those"},
    {"HEAD", "/health/live", "getHealthLive", NULL, NULL, "HEAD wherever GET (RFC 9110 9.3.2)"},
    {"HEAD", "/authorize", NULL, NULL, "GET, POST", "... but not where a GET does something: a preview uses up no code"},
    {"HEAD", "/authorize/callback/corp", NULL, NULL, "GET", "... and no sign-in"},
    {"DELETE", "/health/live", NULL, NULL, "GET", "a method no row has"},
    {"GET", "/bundles/svc", "getBundle", "svc", NULL, "a path value"},
    {"GET", "/bundles/%73vc", "getBundle", "svc", NULL, "... decoded"},
    {"GET", "/bundles/a%2Fb", "getBundle", "a/b", NULL, "%2F stays inside its segment"},
    {"GET", "/bundles/a%2f..%2fb", "getBundle", "a/../b", NULL, "... and climbs nowhere"},
    {"GET", "/bundles/a+b", "getBundle", "a+b", NULL, "+ is itself in a path"},
    {"GET", "/bundles/a/b", NULL, NULL, NULL, "a value is one segment"},
    {"GET", "/bundles/", NULL, NULL, NULL, "a value is not empty"},
    {"GET", "/bundles", NULL, NULL, NULL, "... nor absent"},
    {"GET", "/bundles/%", NULL, NULL, NULL, "a lone % in a value"},
    {"GET", "/bundles/%00", NULL, NULL, NULL, "NUL in a value"},
    {"GET", "/bundles/%ff", NULL, NULL, NULL, "a value that is no UTF-8"},
    {"PUT", "/bundles/svc", NULL, NULL, "GET", "another method on a path with a value"},
    {"GET", "/admin/api/clients/https%3A%2F%2Fapp.example%2Fid", "getClient", "https://app.example/id", NULL, "a client_id that is a URL"},
    {"POST", "/admin/api/clients/a%2Frotate-secret", NULL, NULL, "GET, PUT, DELETE", "an escaped slash makes no other endpoint"},
    {"POST", "/admin/api/clients/a/rotate-secret", "rotateClientSecret", "a", NULL, "a value before a fixed segment"},
    {"PATCH", "/admin/api/clients", NULL, NULL, "GET, POST", "Allow names every method of the path"},
    {"GET", "/admin/api/nothing", NULL, NULL, NULL, "an unknown path below /admin"},
};
/* clang-format on */

static void
test_cases(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *values[HTTP_PATH_VALUES_MAX] = {NULL}, *allow = NULL;
        const struct route *row = NULL, *other = NULL;
        route_find(mem, NULL, cases[i].method, cases[i].path, values, &row, &other, &allow);
        is_str(row != NULL ? row->operation : NULL, cases[i].operation, "%s %s: %s",
               cases[i].method, cases[i].path, cases[i].name);
        is_str(values[0], cases[i].value, "... path value");
        is_str(allow, cases[i].allow, "... Allow");
        ok((other != NULL) == (cases[i].allow != NULL)
               && (other == NULL || strstr(cases[i].allow, other->method) == cases[i].allow),
           "... and a row of the path exactly then");
    }
}

/* clang-format off */
static const struct {
    const char *pattern, *path;
    bool matches;
    const char *first, *second; /* values */
    const char *name;
} patterns[] = {
    {"/g/{name}/**", "/g/a", true, "a", "", "nothing below"},
    {"/g/{name}/**", "/g/a/", true, "a", "/", "a slash below"},
    {"/g/{name}/**", "/g/a/b/c", true, "a", "/b/c", "several segments"},
    {"/g/{name}/**", "/g/a/b%2Fc%00/..//d", true, "a", "/b%2Fc%00/..//d", "the rest stays raw"},
    {"/g/{name}/**", "/g/%61/b", true, "a", "/b", "the value before it is decoded"},
    {"/g/{name}/**", "/g", false, NULL, NULL, "the value before it is missing"},
    {"/g/{name}/**", "/g/", false, NULL, NULL, "... or empty"},
    {"/g/{name}/**", "/g//b", false, NULL, NULL, "... or empty with more after it"},
    {"/g/{name}/**", "/g/%ff/b", false, NULL, NULL, "... or no UTF-8"},
    {"/g/{name}/**", "/h/a/b", false, NULL, NULL, "another path"},
    {"/g/{name}/**", "/ga/b", false, NULL, NULL, "a longer first segment"},
    {"/g/**", "/g", true, "", NULL, "no value before it"},
    {"/g/**", "/gx", false, NULL, NULL, "a path that only begins so"},
    {"/g/*", "/g/a", false, NULL, NULL, "one star means nothing"},
};
/* clang-format on */

static void
test_patterns(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        const char *values[HTTP_PATH_VALUES_MAX] = {NULL};
        bool matches =
            route_path_matches(mem, patterns[i].pattern, patterns[i].path, values) == AZ_OK;
        ok(matches == patterns[i].matches, "%s and %s: %s", patterns[i].pattern, patterns[i].path,
           patterns[i].name);
        if (!matches)
            continue;
        is_str(values[0], patterns[i].first, "... first value");
        is_str(values[1], patterns[i].second, "... second value");
    }
}

static bool
below(const char *path, const char *prefix)
{
    return strncmp(path, prefix, strlen(prefix)) == 0;
}

/* The table is the security review: rules for every row. */
static void
test_table(void)
{
    static const char *const family[] = {"/token", "/introspect", "/revoke",
                                         "/access/v1/evaluation", "/access/v1/evaluations"};
    /* GET /authorize/ciba begins sign-ins as /authorize does (decisions.md "Rate limit"). */
    static const char *const limited[] = {"/token",
                                          "/admin/api/object-owners/secrets",
                                          "/introspect",
                                          "/revoke",
                                          "/authorize",
                                          "/register",
                                          "/bc-authorize",
                                          "/authorize/ciba",
                                          "/account",
                                          "/admin/session/start",
                                          "/gateway/mcp",
                                          "/gateway/mcp/{name}",
                                          "/gateway/link",
                                          "/gateway/connect",
                                          "/gateway/connect/callback",
                                          "/gateway/connect/callback/{resource}",
                                          "/gateway/connect/{resource}",
                                          "/gateway/connect/{resource}/disconnect",
                                          "/audit/checkpoint",
                                          "/audit/keys"};
    for (const struct route *row = routes; row < routes + routes_count; row++) {
        unsigned values = 0;
        for (const char *c = row->path; *c != '\0'; c++)
            values += *c == '{' || strncmp(c, "/**", 4) == 0;
        ok(row->handle != NULL && row->credential != NULL && row->operation != NULL,
           "%s %s has a handler, a credential and a name", row->method, row->path);
        ok(values <= HTTP_PATH_VALUES_MAX, "... no more path values than there is room for");
        bool reads = row->body != BODY_STREAM && row->body != BODY_NONE && row->body != BODY_QUERY
                     && row->body != BODY_QUERY_FAULTS;
        ok(reads == (row->body_max > 0), "... a limit exactly where a body is read");
        bool large = strcmp(row->operation, "deployPolicyBundle") == 0
                     || strcmp(row->operation, "measurePolicyImpact") == 0
                     || strcmp(row->operation, "putPolicyShadow") == 0
                     || strcmp(row->operation, "evaluatePolicy") == 0
                     || strncmp(row->operation, "pushBundleStatus", 16) == 0;
        ok(row->body_max <= (large ? HTTP_DEPLOY_BODY_MAX : HTTP_ADMIN_BODY_MAX),
           "... which is no larger than any may be, a bundle's and what is said of one apart");
        bool is_limited = false, is_family = false;
        for (size_t i = 0; i < sizeof(limited) / sizeof(limited[0]); i++)
            is_limited = is_limited || strcmp(limited[i], row->path) == 0;
        for (size_t i = 0; i < sizeof(family) / sizeof(family[0]); i++)
            is_family = is_family || strcmp(family[i], row->path) == 0;
        ok(row->rate_limited == is_limited, "... limited as specification 8 says");
        bool sign_in = strcmp(row->operation, "beginConsoleSession") == 0;
        bool session = strcmp(row->path, "/admin/session") == 0; /* who asks, and the sign-out */
        bool by_provider = strcmp(row->operation, "startConsoleSession") == 0;
        ok(!below(row->path, "/admin/") || by_provider
               || (row->credential
                       == (sign_in   ? &credential_sign_in
                           : session ? &credential_session
                                     : &credential_admin)
                   && row->dialect == DIALECT_ADMIN),
           "... /admin needs the admin key (specification 5)");
        ok(!below(row->path, "/bundles/") || row->credential == &credential_bundle,
           "... /bundles needs its key (specification 5)");
        ok(below(row->path, "/access/") == (row->credential == &credential_authzen),
           "... /access needs a client or a token, by a header (specification 5)");
        bool uma = below(row->path, "/permission") || below(row->path, "/resource_registration/");
        ok(uma == (row->credential == &credential_pat), "... UMA needs a PAT (specification 5)");
        ok(uma == (row->wrong_method == AZ_UNSUPPORTED_METHOD_TYPE),
           "... and answers another method in its own way (oauth.md 3.7)");
        ok(below(row->path, "/delegation") == (row->credential == &credential_delegation),
           "... /delegation needs a token for it (specification 5)");
        ok(row->credential->before_body
               == ((below(row->path, "/admin/") && !by_provider) || below(row->path, "/bundles/")
                   || below(row->path, "/access/") || below(row->path, "/delegation") || uma),
           "... a key in a header is checked before the body is read; a client's secret may be in "
           "the body");
        ok(!is_family
               || (row->cache == CACHE_NO_STORE && row->audited && row->dialect == DIALECT_OAUTH),
           "... the token family is audited and never cached (specification 1)");
        ok(!below(row->path, "/authorize")
               || (row->dialect == DIALECT_PAGE && row->cache == CACHE_NO_STORE && !row->cors),
           "... what a browser's session decides is never cached, nor open to other origins "
           "(oauth.md 3.2)");
        ok(!row->cors
               || (row->credential != &credential_introspect
                   && row->credential != &credential_authzen && row->dialect != DIALECT_ADMIN
                   && row->dialect != DIALECT_PAGE),
           "... and other origins call only what hangs on no cookie (gateway-admin.md 1.3)");
        ok(strcmp(row->method, "GET") == 0 || row->audited || below(row->path, "/bundles/"),
           "... what changes state is audited (decisions.md \"Audited\")");
    }
    unsigned guards = 0;
    for (const struct route *row = route_guards; row < route_guards + route_guards_count; row++)
        guards += strcmp(row->path, "/admin/") == 0 && row->credential->check != NULL
                  && row->credential->before_body;
    is_int(guards, 1, "unknown paths below /admin/ ask for the key first (specification 5.3)");
}

/* No request is answered by two rows. */
static void
test_no_shadow(TALLOC_CTX *mem)
{
    for (const struct route *row = routes; row < routes + routes_count; row++) {
        const char *values[HTTP_PATH_VALUES_MAX], *allow;
        const struct route *found, *other;
        if (strchr(row->path, '{') == NULL)
            ok(route_find(mem, NULL, row->method, row->path, values, &found, &other, &allow)
                       == AZ_OK
                   && found == row,
               "%s %s is not hidden by a row above it", row->method, row->path);
    }
}

static enum scarce_outcome
match_once(TALLOC_CTX *mem, void *arg)
{
    const char *values[HTTP_PATH_VALUES_MAX] = {NULL}, *allow;
    const struct route *row = NULL, *other;
    enum az_status st = route_find(mem, NULL, "DELETE", arg, values, &row, &other, &allow);
    return st == AZ_OK ? SCARCE_WHOLE : st == AZ_SERVER_ERROR ? SCARCE_FAILED : SCARCE_WRONG;
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_cases(mem);
    test_patterns(mem);
    test_table();
    test_no_shadow(mem);
    char path[] = "/admin/api/clients/crm";
    struct scarce_count count = scarce_talloc(match_once, path, 4000, 16);
    scarce_is_seen(&count, "what cannot be read without memory is not absent (performance.md R7)");
    talloc_free(mem);
    return done();
}
