/* What an identity provider's token and userinfo endpoints are asked (RFC 6749 4.1.3, OpenID
 * Connect Core 3.1.3 and 5.3). What comes back is not believed yet, but for its form. */
#ifndef AZ_OIDC_UPSTREAM_TOKENS_H
#define AZ_OIDC_UPSTREAM_TOKENS_H

#include <jansson.h>

#include "oidc/upstream_endpoints.h"

/* What the user and our client are told of a provider that is away. */
#define UPSTREAM_NOT_REACHED "The identity provider cannot be asked at the moment"

/* What the token endpoint gave; on op->mem. */
struct upstream_tokens {
    const char *id_token;     /* never NULL; not checked */
    const char *access_token; /* Bearer, may stand in a header; or NULL */
};

/*
 * Redeems the code, with our secret in the Authorization header (in the form where discovery says
 * that only), or as a public client. AZ_UNAVAILABLE: no answer, or no token answer;
 * AZ_ACCESS_DENIED: the code is refused, or no ID token came.
 */
enum az_status upstream_tokens_get(struct op *op, const struct identity_provider *provider,
                                   const struct upstream_endpoints *endpoints, const char *code,
                                   const char *verifier, struct upstream_tokens *ret);

/*
 * The claims of userinfo, whose sub is `sub`. NULL in *ret: the provider has no such endpoint, or
 * gave no access token. An endpoint that fails is a failure: a person is not let in with half of
 * the claims.
 */
enum az_status upstream_userinfo_get(struct op *op, const struct identity_provider *provider,
                                     const struct upstream_endpoints *endpoints,
                                     const struct upstream_tokens *tokens, const char *sub,
                                     json_t **ret);

/* AZ_ACCESS_DENIED with why in the operator's log. */
enum az_status upstream_deny(struct op *op, const struct identity_provider *provider,
                             const char *why);

#endif
