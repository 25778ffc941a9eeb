/* The keys that sign ID tokens and JWT access tokens, cached by the process. */
#ifndef AZ_TOKEN_SIGNING_KEY_H
#define AZ_TOKEN_SIGNING_KEY_H

#include "base/op.h"

struct jwk;

/*
 * Time for which the process keeps a key. After a rotation it may sign with a retired key for
 * this long; retired keys stay published until their last signatures have expired. Seconds.
 */
#define SIGNING_KEY_MEMORY 60

/*
 * Get the active key of an algorithm with its private half; the one of RS256 if the service has no
 * active key of that algorithm, or if SVC_OIDC_ID_TOKEN_ALGS does not list it. `wanted` may be
 * NULL. The key lives at least until the end of the operation, and is wiped when it is dropped. One
 * trip if it is not cached.
 */
enum az_status signing_key_get(struct op *op, const char *wanted, const struct jwk **ret);

/* Get the active key that signs JWT access tokens by an algorithm, a constant text, in the same
 * way. *ret is NULL if none is active: not all verifiers know it yet. */
enum az_status signing_key_get_access(struct op *op, const char *alg, const struct jwk **ret);

#endif
