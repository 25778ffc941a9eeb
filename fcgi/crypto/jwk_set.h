/* Sets of public keys (RFC 7517 section 5), as clients register them and issuers publish them. */
#ifndef AZ_CRYPTO_JWK_SET_H
#define AZ_CRYPTO_JWK_SET_H

#include <jansson.h>
#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

struct jwk;

/* A set with more keys is no set of signing keys; each one costs an import. */
#define JWK_SET_KEYS_MAX 100

/* Text of a set: a SPIFFE trust bundle with certificates fits. Fetchers have tighter limits. */
#define JWK_SET_OCTETS_MAX (1024 * 1024)

/* Set, keys, key and x5c are 4; the rest is room for members that are ignored. */
#define JWK_SET_DEPTH_MAX 8

struct jwk_set {
    const struct jwk **keys; /* in the order they stood in; allocated with the set */
    size_t count;            /* may be 0 */
};

/* What to do with a key of a set that is broken, too weak or holds private members. */
enum jwk_set_mode {
    JWK_SET_REGISTERED, /* refuse the whole set, so that its owner hears of it */
    JWK_SET_FETCHED, /* leave that key out (RFC 7517 section 5): one bad key must not lock out all
                      */
};

/*
 * Reads a set. Keys whose kty or crv this service does not know are left out in both modes, unless
 * they hold private members. Private and symmetric keys never get into a set. *ret belongs to mem.
 * AZ_INVALID: not an object with an array "keys", more than JWK_SET_KEYS_MAX of them, or a key as
 * the mode says; *ret_why (unless NULL) becomes a constant public text.
 */
enum az_status jwk_set_parse(TALLOC_CTX *mem, const json_t *object, enum jwk_set_mode mode,
                             struct jwk_set **ret, const char **ret_why);

/* The same from text of at most JWK_SET_OCTETS_MAX octets. */
enum az_status jwk_set_parse_text(TALLOC_CTX *mem, const char *text, size_t len,
                                  enum jwk_set_mode mode, struct jwk_set **ret,
                                  const char **ret_why);

/* A set of keys that the caller holds; they must live as long as it. NULL when out of memory. */
struct jwk_set *jwk_set_of(TALLOC_CTX *mem, const struct jwk *const *keys, size_t count);

/* The rule of a field that holds a client's keys (base/fields.h): what is wrong with it, or NULL.
 */
const char *jwk_set_rule(TALLOC_CTX *mem, const json_t *value);

#endif
