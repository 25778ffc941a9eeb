#include "config.h"

#include "policy/decide/console_role.h"

#include <string.h>

#include "base/words.h"
#include "store/people/stored_claims.h"

/* True if a role may come of a claim: of an address that is proved, and of no claim that is
 * incomplete (world.md U7). */
static bool
claim_counts(const char *claim, const json_t *claims)
{
    if (stored_claims_lack(claims, claim))
        return false;
    return strcmp(claim, "email") != 0 || json_is_true(json_object_get(claims, "email_verified"));
}

/* True if the claim is one of the values, or a list that has one of them. */
static bool
claim_has(const json_t *claim, const json_t *values)
{
    size_t index;
    const json_t *value;
    if (json_is_string(claim))
        return words_array_has(values, json_string_value(claim));
    json_array_foreach (claim, index, value)
        if (json_is_string(value) && words_array_has(values, json_string_value(value)))
            return true;
    return false;
}

/* True if an entry of the row is about this person. */
static bool
entry_fits(const json_t *entry, const char *idp_id, const json_t *claims)
{
    const char *idp = json_string_value(json_object_get(entry, "idp"));
    const char *claim = json_string_value(json_object_get(entry, "claim"));
    return idp != NULL && claim != NULL && strcmp(idp, idp_id) == 0 && claim_counts(claim, claims)
           && claim_has(json_object_get(claims, claim), json_object_get(entry, "values"));
}

enum admin_role
console_role(const json_t *row, const char *idp_id, const json_t *claims)
{
    enum admin_role best = ADMIN_ROLE_NONE;
    size_t index;
    const json_t *entry;
    json_array_foreach (json_object_get(row, "people"), index, entry) {
        enum admin_role role = admin_role_of(json_string_value(json_object_get(entry, "role")));
        if (role > best && entry_fits(entry, idp_id, claims))
            best = role;
    }
    return best;
}

bool
console_role_concerns(const json_t *row, const char *idp_id)
{
    size_t index;
    const json_t *entry;
    json_array_foreach (json_object_get(row, "people"), index, entry) {
        const char *idp = json_string_value(json_object_get(entry, "idp"));
        if (idp != NULL && strcmp(idp, idp_id) == 0)
            return true;
    }
    return false;
}
