/* Signing keys: next, active and retired. They are made once for all hosts; private keys are stored
 * sealed. */
#ifndef AZ_STORE_TOKENS_SIGNING_KEYS_H
#define AZ_STORE_TOKENS_SIGNING_KEYS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* RSA modulus of new keys, in bits. NIST SP 800-57 allows 2048 until 2030; twice the bits make
 * signing seven times slower. */
#define SIGNING_KEY_BITS 2048

struct jwk;

/* Use of a key. A key of one use is never accepted for the other: an ID token is not a software
 * statement. */
enum signing_use {
    SIGNING_OIDC,      /* ID tokens */
    SIGNING_STATEMENT, /* software statements for clients */
    SIGNING_USES
};

/* Make the active and the next key of each use if they are missing, under the key lock: two hosts
 * may start at once. */
enum az_status signing_keys_ensure(struct op *op, bool *ret_made);

/* List all published keys as JWKs: next, active, and retired within
 * SVC_OIDC_KEY_RETIREMENT_SECONDS, or SVC_OIDC_STATEMENT_KEY_RETIREMENT_SECONDS for those of
 * statements. The array belongs to op->mem. */
enum az_status signing_keys_public(struct op *op, json_t **ret);

/* List the published keys of one use, which verify our own tokens. */
enum az_status signing_keys_public_of(struct op *op, enum signing_use use, json_t **ret);

/* Open the active key of a use with its private half, which is wiped with op->mem; AZ_SERVER_ERROR
 * if there is none or it does not open. One trip. */
enum az_status signing_key_open(struct op *op, enum signing_use use, struct jwk **ret);

/* List all keys for `authzctl keys list`: kid, use, state, created, activated, retired. The array
 * belongs to op->mem. */
enum az_status signing_keys_list(struct op *op, json_t **ret);

/* Return the name of a use, as stored and listed. */
const char *signing_use_name(enum signing_use use);

/* Read for how many seconds the active key of each use has been active; -1: the use has none. One
 * trip. */
enum az_status signing_keys_ages(struct op *op, int64_t ret[SIGNING_USES]);

/* Make the next key active and the active key retired, and make a new next key. AZ_CONFLICT, with
 * the remaining seconds in the text, until the next key has been published for longer than
 * SVC_OIDC_JWKS_CACHE_SECONDS (unless that is 0): before that, verifiers may not know it. */
enum az_status signing_keys_rotate(struct op *op, enum signing_use use);

/* Delete keys whose publication after retirement has ended (housekeeping). */
enum az_status signing_keys_purge(struct op *op);

/* Check that the credential key opens the active key of each use. AZ_CONFLICT if it does not;
 * AZ_SERVER_ERROR if a use has no active key. */
enum az_status signing_keys_check(struct op *op);

/* The same, but a use may have no key yet: the service makes it when it starts. */
enum az_status signing_keys_check_stored(struct op *op);

#endif
