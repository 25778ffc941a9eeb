#include "config.h"

#include "crypto/jwk_set.h"

#include "base/json/field_rules.h"
#include "crypto/jwk.h"

static enum az_status
jwk_set_refuse(const char *why, const char **ret_why)
{
    if (ret_why != NULL)
        *ret_why = why;
    return AZ_INVALID;
}

static struct jwk_set *
set_new(TALLOC_CTX *mem, size_t room)
{
    struct jwk_set *set = talloc_zero(mem, struct jwk_set);
    if (set == NULL)
        return NULL;
    set->keys = talloc_array(set, const struct jwk *, (unsigned) room);
    if (set->keys == NULL) {
        talloc_free(set);
        return NULL;
    }
    return set;
}

/* Read one key into the set, or leave it out if the mode says so. */
static enum az_status
add_key(struct jwk_set *set, const json_t *object, enum jwk_set_mode mode, const char **ret_why)
{
    struct jwk *key;

    enum az_status status = jwk_parse(set, object, &key, ret_why);
    if (status == AZ_OK) {
        set->keys[set->count++] = key;
        return AZ_OK;
    }
    if (status == AZ_INVALID && (mode == JWK_SET_FETCHED || jwk_is_foreign(object)))
        return AZ_OK;
    return status;
}

enum az_status
jwk_set_parse(TALLOC_CTX *mem, const json_t *object, enum jwk_set_mode mode, struct jwk_set **ret,
              const char **ret_why)
{
    const json_t *keys = json_object_get(object, "keys");
    const char *why = NULL;
    size_t i;
    const json_t *key;

    if (!json_is_array(keys))
        return jwk_set_refuse("key set is not an object with an array named keys", ret_why);
    if (json_array_size(keys) > JWK_SET_KEYS_MAX)
        return jwk_set_refuse("key set has too many keys", ret_why);
    struct jwk_set *set = set_new(mem, json_array_size(keys));
    if (set == NULL)
        return AZ_SERVER_ERROR;
    json_array_foreach (keys, i, key) {
        enum az_status status = add_key(set, key, mode, &why);
        if (status != AZ_OK) {
            talloc_free(set);
            return status == AZ_INVALID ? jwk_set_refuse(why, ret_why) : status;
        }
    }
    *ret = set;
    return AZ_OK;
}

const char *
jwk_set_rule(TALLOC_CTX *mem, const json_t *value)
{
    struct jwk_set *set;
    const char *why = "cannot be read";
    if (jwk_set_parse(mem, value, JWK_SET_REGISTERED, &set, &why) == AZ_OK)
        return NULL;
    return field_fault_text(mem, "must be a JWK Set of public keys: %s", why);
}
