/*
 * The keys that sign the JWT-SVIDs of workloads (oauth.md J9): those of the
 * trust bundle at spiffe_trust_bundle_url of the row svc.operator.controls.trust. No token and no
 * client names another address.
 */
#ifndef AZ_OAUTH_SVID_KEYS_H
#define AZ_OAUTH_SVID_KEYS_H

#include <jansson.h>

#include "base/op.h"
#include "http/fetch/fetch.h"

/*
 * Return the JWK Set of the keys for a SPIFFE ID, on op->mem; a bundle fetched before `not_before`
 * is not new enough (document_get()). AZ_INVALID with *ret_why: no workload of its trust domain is
 * trusted. Another status: the bundle cannot be had, with its fault in *ret_fault; AZ_INVALID
 * without *ret_why: the host answered with something else.
 */
enum az_status svid_keys(struct op *op, const char *spiffe_id, int64_t not_before,
                         const json_t **ret, enum fetch_fault *ret_fault, const char **ret_why);

#endif
