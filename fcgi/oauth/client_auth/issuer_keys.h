/* The signature of a token of another issuer, verified with that issuer's keys. One way for
 * software statements and for the subject tokens of token exchange. */
#ifndef AZ_OAUTH_ISSUER_KEYS_H
#define AZ_OAUTH_ISSUER_KEYS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

struct jws;
struct jws_policy;
struct trust_issuer;

/* Algorithms of other issuers, ending with NULL: asymmetric ones alone (oauth.md J3). */
extern const char *const issuer_algs[];

/*
 * Verify a token that was split. The keys are those at the jwks_uri of the issuer's entry in the
 * trust row, or else those that discovery at the issuer names; policy->keys is set here. The caller
 * has found the issuer in the row: an unknown sender must not choose an address that this service
 * asks. An unknown key has the set fetched again, as often as documents.h allows.
 *
 * AZ_INVALID, with a fault that has the detail and no public text: the issuer does not deliver its
 * keys (*ret_unreachable), or none of them verifies the token. Another status: this service failed.
 */
enum az_status issuer_verify(struct op *op, const struct trust_issuer *issuer,
                             const struct jws *jws, struct jws_policy *policy,
                             bool *ret_unreachable);

/* Check a fetched key set (document_check_fn). AZ_INVALID: the host answered with something else.
 */
enum az_status fetched_keys_check(struct op *op, const char *url, const json_t *document);

#endif
