#include "config.h"

#include "token/person_claims.h"

#include <stdint.h>

#include "base/json/jsonx.h"
#include "base/status.h"
#include "base/words.h"

/* Claims about the token or the sign-in. `sub` is the provider's name for the user; ours is
 * another. */
static const char *const protocol_claims[] = {
    "iss", "aud", "exp",       "iat", "nbf", "nonce", "at_hash", "c_hash",  "s_hash", "azp",
    "sid", "jti", "auth_time", "acr", "amr", "sub",   "act",     "may_act", NULL,
};

/* Claims that are kept first if there are too many. */
static const char *const first_claims[] = {
    "name", "email", "email_verified", "preferred_username", "groups",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Return the octets of `"name":value,`. The member is dumped, because an estimate would be too
 * small for a name that has to be escaped. */
static size_t
claim_octets(const char *name, json_t *value)
{
    json_auto_t *member = json_pack("{s:O}", name, value);
    return member != NULL ? json_dumpb(member, NULL, 0, JSON_COMPACT) : 0;
}

/* Add a claim while there is room. */
static enum az_status
keep_claim(json_t *kept, const char *name, json_t *value, size_t *octets)
{
    if (value == NULL || json_is_null(value) || json_object_get(kept, name) != NULL
        || words_has(protocol_claims, name))
        return AZ_OK;
    size_t more = claim_octets(name, value);
    if (more == 0)
        return AZ_SERVER_ERROR;
    if (*octets + more > PERSON_CLAIMS_MAX)
        return AZ_OK;
    *octets += more;
    return json_object_set(kept, name, value) == 0 ? AZ_OK : AZ_SERVER_ERROR;
}

json_t *
person_claims_keep(TALLOC_CTX *mem, const json_t *id_token, const json_t *userinfo)
{
    const json_t *const sources[] = {id_token, userinfo};
    json_t *kept = jsonx_own(mem, json_object()), *value;
    const char *name;
    size_t octets = 0;
    enum az_status st = kept != NULL ? AZ_OK : AZ_SERVER_ERROR;
    for (size_t s = 0; s < COUNT(sources); s++)
        for (size_t i = 0; i < COUNT(first_claims) && st == AZ_OK; i++)
            st = keep_claim(kept, first_claims[i], json_object_get(sources[s], first_claims[i]),
                            &octets);
    for (size_t s = 0; s < COUNT(sources) && st == AZ_OK; s++)
        json_object_foreach ((json_t *) (uintptr_t) sources[s], name, value)
            if (st == AZ_OK)
                st = keep_claim(kept, name, value, &octets);
    return st == AZ_OK ? kept : NULL;
}
