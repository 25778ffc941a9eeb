/* Signing keys: next, active and retired, for each algorithm of a use. They are made once for all
 * hosts (signing_keys_turn.h); private keys are stored sealed. */
#ifndef AZ_STORE_TOKENS_SIGNING_KEYS_H
#define AZ_STORE_TOKENS_SIGNING_KEYS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* The algorithm for which ID tokens and statements always have a key; other algorithms are
 * optional. The audit log uses only this one. */
#define SIGNING_ALG_ALWAYS "RS256"
#define SIGNING_ALG_AUDIT "ES256"

struct jwk;

/* Use of a key. A key of one use is never accepted for the other: an ID token is not a software
 * statement. */
enum signing_use {
    SIGNING_OIDC,      /* ID tokens */
    SIGNING_STATEMENT, /* software statements for clients */
    SIGNING_AUDIT,  /* checkpoints of the audit log; not in the key set, whose keys relying parties
                       take for ID tokens */
    SIGNING_ACCESS, /* JWT access tokens (world.md T2) */
    SIGNING_USES
};

/* Return the algorithm for which this use has an active key whatever the settings list; NULL: it
 * may have none, because its keys wait until all verifiers know them. */
const char *signing_alg_always(enum signing_use use);

/* List all published keys of the key set as JWKs: next, active, and retired within
 * SVC_OIDC_KEY_RETIREMENT_SECONDS, or SVC_OIDC_STATEMENT_KEY_RETIREMENT_SECONDS for those of
 * statements. The array belongs to op->mem. */
enum az_status signing_keys_public(struct op *op, json_t **ret);

/* List the published keys of one use, which verify our own tokens. */
enum az_status signing_keys_public_of(struct op *op, enum signing_use use, json_t **ret);

/* Open the active key of a use and algorithm with its private half, which is wiped with op->mem;
 * the one of signing_alg_always() if no key of that algorithm is active (yet): sign by the key's
 * own alg. AZ_SERVER_ERROR if there is none or it does not open; for a use that may have none *ret
 * is NULL then. One trip. */
enum az_status signing_key_open(struct op *op, enum signing_use use, const char *alg,
                                struct jwk **ret);

/* Open all keys of a use, the retired ones too, the youngest first. A key that does not open is
 * left out: whoever can write to the database can add one, but cannot seal it. The array belongs to
 * op->mem. One trip. */
enum az_status signing_keys_open_all(struct op *op, enum signing_use use, struct jwk ***ret,
                                     size_t *ret_count);

/* List all keys for `authzctl keys list`: kid, use, alg, state, created, activated, retired. The
 * array belongs to op->mem. */
enum az_status signing_keys_list(struct op *op, json_t **ret);

/* Return the name of a use, as stored and listed. */
const char *signing_use_name(enum signing_use use);

/* Read for how many seconds the active key of each use has been active (the oldest of several); -1
 * without an active key. One trip. */
enum az_status signing_keys_ages(struct op *op, int64_t ret[SIGNING_USES]);

/* Check that the credential key opens the active keys of each use. AZ_CONFLICT if it does not;
 * AZ_SERVER_ERROR if a use has no active key. */
enum az_status signing_keys_check(struct op *op);

/* The same, but a use may have no key yet: the service makes it when it starts. */
enum az_status signing_keys_check_stored(struct op *op);

#endif
