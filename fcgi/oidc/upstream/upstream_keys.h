/* The public keys of an identity provider. */
#ifndef AZ_OIDC_UPSTREAM_UPSTREAM_KEYS_H
#define AZ_OIDC_UPSTREAM_UPSTREAM_KEYS_H

#include "crypto/jwk_set.h"
#include "oidc/upstream/upstream_endpoints.h"

/* A check of one token (`arg`) by keys, with the statuses of upstream_id_token_check(). */
typedef enum az_status upstream_key_check_fn(TALLOC_CTX *mem, const struct jwk_set *keys, void *arg,
                                             const char **ret_why, bool *ret_stale);

/* Check a token by the keys of the provider, which are fetched again, once, if newer ones might
 * verify it. AZ_INVALID: it is refused, *ret_why says why, and no fault is set; AZ_UNAVAILABLE: the
 * keys cannot be fetched. */
enum az_status upstream_keys_check(struct op *op, const struct upstream_endpoints *endpoints,
                                   upstream_key_check_fn *check, void *arg, const char **ret_why);

#endif
