/* Changes of the signing keys. A use has one active and one next key of each algorithm; a key is
 * published as the next one before it becomes active and signs. */
#ifndef AZ_STORE_TOKENS_SIGNING_KEYS_TURN_H
#define AZ_STORE_TOKENS_SIGNING_KEYS_TURN_H

#include "store/tokens/signing_keys.h"

/* RSA modulus of new keys, in bits. NIST SP 800-57 allows 2048 until 2030; twice the bits make
 * signing seven times slower. */
#define SIGNING_KEY_BITS 2048

/*
 * Make the missing keys of each use, under the key lock: two hosts may start at once. ID tokens
 * have keys of the algorithms in SVC_OIDC_ID_TOKEN_ALGS. An algorithm or use that is added to a
 * running service gets a next key only, because verifiers keep a key set that lacks it;
 * signing_keys_begin() makes that key active.
 */
enum az_status signing_keys_ensure(struct op *op, bool *ret_made);

/* Make the next key of each algorithm that has no active one active, once all verifiers know it
 * (housekeeping). *ret_begun counts these keys. */
enum az_status signing_keys_begin(struct op *op, int *ret_begun);

/* Retire the keys of algorithms that SVC_OIDC_ID_TOKEN_ALGS does not list. They stay published as
 * long as any retired key. */
enum az_status signing_keys_withdraw(struct op *op);

/* Make the next key of each algorithm active and the active key retired, and make new next keys, in
 * one transaction. AZ_CONFLICT, with the remaining seconds in the text, until all next keys have
 * been published for longer than SVC_OIDC_JWKS_CACHE_SECONDS (unless that is 0): before that,
 * verifiers may not know them. */
enum az_status signing_keys_rotate(struct op *op, enum signing_use use);

/* Delete keys whose publication after retirement has ended (housekeeping). */
enum az_status signing_keys_purge(struct op *op);

#endif
