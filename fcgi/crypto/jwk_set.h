/* Sets of public keys (RFC 7517 section 5), as clients register them and issuers publish them. */
#ifndef AZ_CRYPTO_JWK_SET_H
#define AZ_CRYPTO_JWK_SET_H

#include <jansson.h>
#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

struct jwk;

/* Keys of one set; each one costs an import. */
#define JWK_SET_KEYS_MAX 100

struct jwk_set {
    const struct jwk **keys; /* in the order of the set; allocated with it */
    size_t count;            /* may be 0 */
};

/* Treatment of a key that is broken, too weak or has private members. */
enum jwk_set_mode {
    JWK_SET_REGISTERED, /* refuse the whole set, so that its owner learns of it */
    JWK_SET_FETCHED, /* leave that key out (RFC 7517 section 5): one bad key must not lock out all
                      */
};

/*
 * Read a set. Keys whose kty or crv this service does not know are left out in both modes, unless
 * they have private members. Private and symmetric keys never get into a set. *ret belongs to mem.
 * AZ_INVALID: the value is not an object with an array "keys", there are more than
 * JWK_SET_KEYS_MAX, or the mode refuses a key; *ret_why (unless NULL) becomes a constant public
 * text.
 */
enum az_status jwk_set_parse(TALLOC_CTX *mem, const json_t *object, enum jwk_set_mode mode,
                             struct jwk_set **ret, const char **ret_why);

/* The rule of a field that holds the keys of a client (field_rule_fn). */
const char *jwk_set_rule(TALLOC_CTX *mem, const json_t *value);

#endif
