#include "config.h"

#include "crypto/trust_bundle.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "tap.h"

static json_t *
parse(TALLOC_CTX *mem, const char *text)
{
    json_t *json = NULL;
    jsonx_parse(mem, text, strlen(text), 16, &json, NULL);
    return json;
}

static void
test_forms(TALLOC_CTX *mem)
{
    static const char *const good[] = {
        "{\"keys\":[]}",
        "{\"keys\":[],\"spiffe_sequence\":0,\"spiffe_refresh_hint\":0}",
        "{\"keys\":[{\"use\":\"x509-svid\"},{},5],\"spiffe_sequence\":9007199254740993}",
        "{\"keys\":[],\"other\":{}}",
    };
    static const char *const bad[] = {
        "{}",
        "[]",
        "{\"keys\":null}",
        "{\"keys\":{}}",
        "{\"keys\":[],\"spiffe_sequence\":-1}",
        "{\"keys\":[],\"spiffe_sequence\":\"1\"}",
        "{\"keys\":[],\"spiffe_sequence\":1.5}",
        "{\"keys\":[],\"spiffe_sequence\":null}",
        "{\"keys\":[],\"spiffe_refresh_hint\":-1}",
        "{\"keys\":[],\"spiffe_refresh_hint\":\"300\"}",
        "{\"keys\":[],\"spiffe_refresh_hint\":[]}",
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        ok(trust_bundle_fault(parse(mem, good[i])) == NULL, "bundle: valid: %s", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(trust_bundle_fault(parse(mem, bad[i])) != NULL, "bundle: refused: %s", bad[i]);
}

static void
test_members(TALLOC_CTX *mem)
{
    const json_t *first = parse(mem, "{\"keys\":[],\"spiffe_sequence\":1}"),
                 *second = parse(mem, "{\"keys\":[],\"spiffe_sequence\":2}"),
                 *none = parse(mem, "{\"keys\":[]}");
    ok(trust_bundle_is_older(first, second), "a lower spiffe_sequence is older");
    ok(!trust_bundle_is_older(second, first), "... a higher one is not");
    ok(!trust_bundle_is_older(second, second), "... nor the same");
    ok(!trust_bundle_is_older(none, second) && !trust_bundle_is_older(first, none)
           && !trust_bundle_is_older(first, NULL),
       "... nor is one known to be without both");
    is_int(trust_bundle_refresh_hint(none), -1, "no spiffe_refresh_hint");
    is_int(trust_bundle_refresh_hint(parse(mem, "{\"spiffe_refresh_hint\":300}")), 300,
           "spiffe_refresh_hint in seconds");
}

static void
test_keys(TALLOC_CTX *mem)
{
    const json_t *bundle =
        parse(mem, "{\"keys\":[{\"use\":\"x509-svid\",\"kid\":\"a\"},{\"use\":\"jwt-svid\","
                   "\"kid\":\"b\"},{\"use\":\"sig\",\"kid\":\"c\"},{\"kid\":\"d\"},{\"use\":5},7,"
                   "null,{\"use\":\"JWT-SVID\"},{\"use\":\"jwt-svid\",\"kid\":\"e\"}]}");
    const json_t *keys = json_object_get(trust_bundle_jwt_keys(mem, bundle), "keys");
    is_int((long) json_array_size(keys), 2, "only keys of the use jwt-svid are taken");
    is_str(json_string_value(json_object_get(json_array_get(keys, 0), "kid")), "b",
           "... the first");
    is_str(json_string_value(json_object_get(json_array_get(keys, 1), "kid")), "e",
           "... and the last");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_forms(mem);
    test_members(mem);
    test_keys(mem);
    talloc_free(mem);
    return done();
}
