/* Requests to an identity provider's token endpoint (RFC 6749 4.1.3, OpenID Connect Core 3.1.3).
 * Only the form of the answers is checked here. */
#ifndef AZ_OIDC_UPSTREAM_UPSTREAM_TOKENS_H
#define AZ_OIDC_UPSTREAM_UPSTREAM_TOKENS_H

#include "oidc/upstream/upstream_endpoints.h"

/* Answer of the token endpoint; on op->mem. */
struct upstream_tokens {
    const char *id_token;     /* never NULL; not checked */
    const char *access_token; /* of type Bearer, fit for a header; or NULL */
};

/*
 * Redeem the code. We authenticate as the row says (world.md U9); else our secret goes into the
 * Authorization header, or into the form if discovery offers nothing else, and without a secret we
 * are a public client. AZ_UNAVAILABLE: no answer, or a
 * malformed one; AZ_PROVIDER_SETUP: it refuses us or our request; AZ_ACCESS_DENIED: the code is
 * refused, or no ID token came.
 */
enum az_status upstream_tokens_get(struct op *op, const struct identity_provider *provider,
                                   const struct upstream_endpoints *endpoints, const char *code,
                                   const char *verifier, struct upstream_tokens *ret);

/* Fail with AZ_ACCESS_DENIED; `why` goes into the operator's log. */
enum az_status upstream_deny(struct op *op, const struct identity_provider *provider,
                             const char *why);

#endif
