/* Key sets for tests: from keys that the test made, and from text. */
#ifndef AZ_T_KEYS_H
#define AZ_T_KEYS_H

#include <string.h>

#include "base/jsonx.h"
#include "crypto/jwk.h"
#include "crypto/jwk_set.h"

/* Nesting of a key set: set, keys, key and x5c are 4; the rest is for ignored members. */
#define KEYS_DEPTH_MAX 8

/* Return a set of keys that live as long as it. */
static inline struct jwk_set *
keys_of(TALLOC_CTX *mem, const struct jwk *const *keys, size_t count)
{
    struct jwk_set *set = talloc_zero(mem, struct jwk_set);
    set->keys = talloc_array(set, const struct jwk *, (unsigned) count + 1);
    for (size_t i = 0; i < count; i++)
        set->keys[i] = keys[i];
    set->count = count;
    return set;
}

/* Read a set from text as a service reads the body that it is in. */
static inline enum az_status
keys_parse_text(TALLOC_CTX *mem, const char *text, size_t length, enum jwk_set_mode mode,
                struct jwk_set **ret, const char **ret_why)
{
    json_t *object = NULL;
    enum az_status st = jsonx_parse(mem, text, length, KEYS_DEPTH_MAX, &object, ret_why);
    return st == AZ_OK ? jwk_set_parse(mem, object, mode, ret, ret_why) : st;
}

#endif
