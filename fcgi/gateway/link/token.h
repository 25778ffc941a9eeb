/* Requests to the token endpoint and the revocation endpoint of an upstream's authorization server
 * (RFC 6749 4.1.3 and 6, RFC 7009). */
#ifndef AZ_GATEWAY_LINK_TOKEN_H
#define AZ_GATEWAY_LINK_TOKEN_H

#include "gateway/link/answer.h"
#include "gateway/link/provider.h"
#include "http/fetch/fetch.h"

/* The credential that a person brought, or that is stored. */
struct link_grant {
    const char *code;          /* authorization_code; NULL: a refresh */
    const char *verifier;      /* PKCE, or NULL */
    const char *refresh_token; /* refresh_token */
};

/*
 * Ask for tokens. AZ_OK with an outcome of LINK_TOKENS, LINK_GRANT_REFUSED, LINK_CLIENT_REFUSED,
 * LINK_FAILED or LINK_MALFORMED, and *ret_error for the operator. AZ_UPSTREAM_UNREACHABLE,
 * AZ_UPSTREAM_TIMEOUT: there is no answer; AZ_BUSY: the server was not asked.
 */
enum az_status link_tokens_get(struct op *op, const struct managed_resource *resource,
                               const struct link_provider *provider, const struct link_grant *grant,
                               enum link_outcome *ret_outcome, struct link_tokens *ret,
                               const char **ret_error);

/* Ask the server to revoke a token, if it has an endpoint for that. A failure is logged: what is
 * stored here is deleted anyway. */
void link_token_revoke(struct op *op, const struct managed_resource *resource,
                       const struct link_provider *provider, const char *token);

/* Give the failure of a fetch the status that it has for an upstream. */
enum az_status link_fetch_failed(struct op *op, enum az_status st, enum fetch_fault fault);

#endif
