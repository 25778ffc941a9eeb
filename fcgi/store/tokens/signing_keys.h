/* Signing keys: next, active, retired; made once for all hosts, private halves sealed at rest. */
#ifndef AZ_STORE_TOKENS_SIGNING_KEYS_H
#define AZ_STORE_TOKENS_SIGNING_KEYS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/* RSA modulus of new keys: NIST SP 800-57 allows 2048 to 2030; twice the bits cost seven times the
 * signing. */
#define SIGNING_KEY_BITS 2048

struct jwk;

/* What a key signs. Keys of one use never stand in for the other's: an ID token is no software
 * statement. */
enum signing_use {
    SIGNING_OIDC,      /* ID tokens */
    SIGNING_STATEMENT, /* software statements for clients */
    SIGNING_USES
};

/* Makes the active and the next key of each use where they are missing, under the key lock: two
 * hosts may start at once. */
enum az_status signing_keys_ensure(struct op *op, bool *ret_made);

/*
 * All published keys as JWKs: next, active, and retired within SVC_OIDC_KEY_RETIREMENT_SECONDS, or
 * SVC_OIDC_STATEMENT_KEY_RETIREMENT_SECONDS for those of statements. Array owned by op->mem.
 */
enum az_status signing_keys_public(struct op *op, json_t **ret);

/* Those of one use: what a token of ours is verified with. */
enum az_status signing_keys_public_of(struct op *op, enum signing_use use, json_t **ret);

/* The active key of a use with its private half, which is wiped with op->mem; AZ_SERVER_ERROR when
 * there is none or it does not open. One trip. */
enum az_status signing_key_open(struct op *op, enum signing_use use, struct jwk **ret);

/* All keys for `authzctl keys list`: kid, use, state, created, activated, retired; array owned by
 * op->mem. */
enum az_status signing_keys_list(struct op *op, json_t **ret);

/*
 * Makes next active, active retired, and a new next. AZ_CONFLICT with the remaining seconds in the
 * text while the next key has not been published for SVC_OIDC_JWKS_CACHE_SECONDS: verifiers could
 * not know it yet.
 */
enum az_status signing_keys_rotate(struct op *op, enum signing_use use);

/* Deletes keys retired longer ago than their publication (housekeeping). */
enum az_status signing_keys_purge(struct op *op);

/* Opens the active key of each use: the credential key still fits. AZ_CONFLICT when it does not,
 * AZ_SERVER_ERROR when a use has no active key. */
enum az_status signing_keys_check(struct op *op);

#endif
