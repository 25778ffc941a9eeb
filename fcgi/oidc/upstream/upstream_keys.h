/* The public keys of an identity provider. */
#ifndef AZ_OIDC_UPSTREAM_UPSTREAM_KEYS_H
#define AZ_OIDC_UPSTREAM_UPSTREAM_KEYS_H

#include <stdint.h>

#include "crypto/jwk_set.h"
#include "oidc/upstream/upstream_endpoints.h"

/* Get the keys, none of them fetched before `not_before` (milliseconds since 1970; 0: no such
 * condition; http/fetch/documents.h). On op->mem. AZ_UNAVAILABLE: they cannot be fetched. */
enum az_status upstream_keys_get(struct op *op, const struct upstream_endpoints *endpoints,
                                 int64_t not_before, struct jwk_set **ret);

#endif
