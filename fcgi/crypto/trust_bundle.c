#include "config.h"

#include "crypto/trust_bundle.h"

#include <string.h>

#include "base/json/jsonx.h"

#define SEQUENCE "spiffe_sequence"
#define HINT "spiffe_refresh_hint"

/* True if a member is absent or an integer from 0. */
static bool
member_is_count(const json_t *bundle, const char *name)
{
    const json_t *value = json_object_get(bundle, name);
    return value == NULL || (json_is_integer(value) && json_integer_value(value) >= 0);
}

const char *
trust_bundle_fault(const json_t *bundle)
{
    if (!json_is_array(json_object_get(bundle, "keys")))
        return "it has no array named keys";
    if (!member_is_count(bundle, SEQUENCE))
        return "its spiffe_sequence is not a number from 0";
    return member_is_count(bundle, HINT) ? NULL : "its spiffe_refresh_hint is not a number from 0";
}

int64_t
trust_bundle_refresh_hint(const json_t *bundle)
{
    const json_t *hint = json_object_get(bundle, HINT);
    return json_is_integer(hint) ? json_integer_value(hint) : -1;
}

bool
trust_bundle_is_older(const json_t *bundle, const json_t *before)
{
    const json_t *now = json_object_get(bundle, SEQUENCE), *old = json_object_get(before, SEQUENCE);
    return json_is_integer(now) && json_is_integer(old)
           && json_integer_value(now) < json_integer_value(old);
}

json_t *
trust_bundle_jwt_keys(TALLOC_CTX *mem, const json_t *bundle)
{
    struct jsonx_build keys = {json_array(), false};
    size_t index;
    json_t *key;
    json_array_foreach (json_object_get(bundle, "keys"), index, key) {
        const char *use = json_string_value(json_object_get(key, "use"));
        if (use != NULL && strcmp(use, TRUST_BUNDLE_JWT_USE) == 0)
            jsonx_append(&keys, json_incref(key));
    }
    json_t *set = jsonx_own(mem, json_pack("{s:o}", "keys", keys.value));
    return keys.lost ? NULL : set;
}
