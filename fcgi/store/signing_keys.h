/* Signing keys: next, active, retired; made once for all hosts, private halves sealed at rest. */
#ifndef AZ_STORE_SIGNING_KEYS_H
#define AZ_STORE_SIGNING_KEYS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/* RSA modulus of new keys: NIST SP 800-57 allows 2048 to 2030; twice the bits cost seven times the
 * signing. */
#define SIGNING_KEY_BITS 2048

/* Makes the active and the next key where they are missing, under the key lock: two hosts may start
 * at once. */
enum az_status signing_keys_ensure(struct op *op, bool *ret_made);

/* All published keys (next, active, retired within SVC_OIDC_KEY_RETIREMENT_SECONDS) as JWKs; array
 * owned by op->mem. */
enum az_status signing_keys_public(struct op *op, json_t **ret);

/* All keys for `authzctl keys list`: kid, use, state, created, activated, retired; array owned by
 * op->mem. */
enum az_status signing_keys_list(struct op *op, json_t **ret);

/*
 * Makes next active, active retired, and a new next. AZ_CONFLICT with the remaining seconds in the
 * text while the next key has not been published for SVC_OIDC_JWKS_CACHE_SECONDS: verifiers could
 * not know it yet.
 */
enum az_status signing_keys_rotate(struct op *op);

/* Deletes keys retired longer ago than their publication (housekeeping). */
enum az_status signing_keys_purge(struct op *op);

/* The private key of a state, opened; fails as the rows do. Checks that the credential key still
 * fits. */
enum az_status signing_keys_check(struct op *op);

#endif
