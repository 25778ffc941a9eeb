#include "config.h"

#include "store/people/stored_claims.h"

#include <string.h>
#include <strings.h>

#include "base/words.h"

#define VERIFIED "_verified"

static bool
is_proof(const char *name)
{
    size_t length = strlen(name), suffix = sizeof(VERIFIED) - 1;
    return length >= suffix && strcmp(name + length - suffix, VERIFIED) == 0;
}

/* True for the proofs of an address, without which the address is unproved. Another claim stays as
 * the provider sent it: a rule may deny by its value. */
static bool
is_proof_of_address(const char *name)
{
    return strcmp(name, "email" VERIFIED) == 0 || strcmp(name, "phone_number" VERIFIED) == 0;
}

/* Return the boolean that a value stands for, borrowed, or NULL. */
static json_t *
proof_of(const json_t *value)
{
    const char *text = json_string_value(value);
    if (json_is_boolean(value))
        return json_boolean(json_is_true(value));
    if (text == NULL)
        return NULL;
    return strcasecmp(text, "true") == 0    ? json_true()
           : strcasecmp(text, "false") == 0 ? json_false()
                                            : NULL;
}

bool
stored_claims_lack(const json_t *claims, const char *name)
{
    const json_t *list = json_object_get(claims, CLAIMS_INCOMPLETE);
    return words_array_has(list, name) || words_array_has(list, CLAIMS_ANY);
}

enum az_status
stored_claims_type(json_t *claims)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe (claims, next, name, value) {
        json_t *proof = proof_of(value);
        if (!is_proof(name))
            continue;
        if (proof == NULL && is_proof_of_address(name))
            json_object_del(claims, name);
        else if (proof != NULL && json_object_set(claims, name, proof) != 0)
            return AZ_SERVER_ERROR;
    }
    return AZ_OK;
}

enum az_status
stored_claims_typed(struct op *op, json_t *claims)
{
    return stored_claims_type(claims) == AZ_OK ? AZ_OK : op_no_memory(op);
}
