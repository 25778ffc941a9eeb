/* Trust bundles of SPIFFE (SPIFFE Trust Domain and Bundle 4): a JWK Set of the keys of a trust
 * domain, with two members of its own. */
#ifndef AZ_CRYPTO_TRUST_BUNDLE_H
#define AZ_CRYPTO_TRUST_BUNDLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

/* The use of the keys that sign JWT-SVIDs. The other keys of a bundle sign X.509 certificates. */
#define TRUST_BUNDLE_JWT_USE "jwt-svid"

/* Return the fault of a bundle as a constant text, or NULL. A member of a wrong type is a fault:
 * without its sequence an old bundle would pass for a new one. */
const char *trust_bundle_fault(const json_t *bundle);

/* Return spiffe_refresh_hint, seconds after which the bundle should be fetched again, or -1 if
 * there is none. */
int64_t trust_bundle_refresh_hint(const json_t *bundle);

/* True if `bundle` has a lower spiffe_sequence than `before`: it is an old one, which may contain
 * keys that were withdrawn. A bundle without a sequence is never older. */
bool trust_bundle_is_older(const json_t *bundle, const json_t *before);

/* Return a JWK Set of those keys of a valid bundle that sign JWT-SVIDs; it belongs to mem. NULL: no
 * memory. */
json_t *trust_bundle_jwt_keys(TALLOC_CTX *mem, const json_t *bundle);

#endif
