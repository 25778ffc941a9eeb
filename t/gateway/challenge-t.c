/* Challenges of upstreams (RFC 9110 11.6.1, RFC 6750 3, RFC 9728 5.1). */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/upstream/challenge.h"
#include "tap.h"

/* clang-format off */
static const struct { const char *value, *name, *wanted, *rule; } params[] = {
    {"Bearer realm=\"x\", scope=\"a b\"", "scope", "a b", "a quoted parameter"},
    {"bearer scope=a", "scope", "a", "the scheme has no case, and a value may be a token"},
    {"Bearer SCOPE = \"a\"", "scope", "a", "nor has a name; space around = is allowed (BWS)"},
    {"DPoP scope=\"a\"", "scope", "a", "a challenge of DPoP (RFC 9449 7.1)"},
    {"Basic realm=\"x\", Bearer scope=\"a\"", "scope", "a", "the second challenge of a field"},
    {"Basic scope=\"x\", Bearer realm=\"y\"", "scope", NULL, "a parameter of another scheme does not count"},
    {"Bearer realm=\"y\", Basic scope=\"x\"", "scope", NULL, "... also behind it"},
    {"Bearer realm=\"scope=x\", scope=\"a\"", "scope", "a", "a text that looks like a parameter"},
    {"Bearer scope=\"a\\\"b\\\\c\"", "scope", "a\"b\\c", "quoted pairs"},
    {"Bearer scope=\"a", "scope", NULL, "a quote that does not end"},
    {"Bearer scope=\"a\\", "scope", NULL, "... nor does a quoted pair"},
    {"Bearer", "scope", NULL, "a scheme alone"},
    {"", "scope", NULL, "nothing"},
    {"Bearer ;;", "scope", NULL, "no grammar"},
    {"Bearer resource_metadata=\"https://h/m\"", "resource_metadata", "https://h/m", "resource_metadata (RFC 9728 5.1)"},
};
static const struct { const char *value, *wanted, *rule; } scopes[] = {
    {"Bearer error=\"insufficient_scope\", scope=\"a b\"", "[\"a\",\"b\"]", "insufficient_scope names its scopes"},
    {"Bearer error=\"insufficient_scope\"", "[]", "... or none"},
    {"Bearer error=\"invalid_token\", scope=\"a\"", NULL, "another error asks for no scope"},
    {"Bearer scope=\"a\"", NULL, "so does a challenge without error"},
    {"Bearer error=\"insufficient_scope\", scope=\"a a <b> \xc3\xa9 c\\\"d\"", "[\"a\",\"<b>\"]", "scopes have the characters of RFC 6749 3.3, once each"},
};
/* clang-format on */

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char *value = NULL;
    plan(0);
    for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++)
        is_str(upstream_challenge_param(mem, params[i].value, params[i].name), params[i].wanted,
               "%s", params[i].rule);
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
        json_t *seen = upstream_challenge_scopes(mem, scopes[i].value);
        is_str(seen != NULL ? jsonx_dump(mem, seen) : NULL, scopes[i].wanted, "%s", scopes[i].rule);
    }
    for (int extra = 0; extra < 2; extra++) {
        value = talloc_strdup(mem, "Bearer scope=\"a\", x=");
        while (strlen(value) < (size_t) UPSTREAM_CHALLENGE_MAX + (size_t) extra)
            value = talloc_asprintf_append(value, "y");
        is_str(upstream_challenge_param(mem, value, "scope"), extra == 0 ? "a" : NULL,
               extra == 0 ? "the longest challenge" : "one octet more is not read");
    }
    for (int extra = 0; extra < 2; extra++) {
        char scope[UPSTREAM_SCOPE_MAX + 2] = "";
        memset(scope, 'x', (size_t) UPSTREAM_SCOPE_MAX + (size_t) extra);
        json_t *one = jsonx_own(mem, json_pack("[s]", scope));
        is_int((int64_t) json_array_size(upstream_scopes_clean(mem, one)), extra == 0,
               extra == 0 ? "the longest scope" : "one octet more is left out");
    }
    talloc_free(mem);
    return done();
}
