/* Requests to the token endpoint and the revocation endpoint of an upstream's authorization server
 * (RFC 6749 4.1.3 and 6, RFC 7009). */
#ifndef AZ_GATEWAY_LINK_LINK_TOKEN_H
#define AZ_GATEWAY_LINK_LINK_TOKEN_H

#include "client/answer.h"
#include "gateway/link/provider.h"

/* The credential that a person brought, or that is stored. */
struct link_grant {
    const char *code;          /* code of the grant authorization_code, or NULL for a refresh */
    const char *verifier;      /* PKCE, or NULL */
    const char *refresh_token; /* refresh_token */
};

/*
 * Ask for tokens and read the answer. AZ_UPSTREAM_UNREACHABLE or AZ_UPSTREAM_TIMEOUT if no answer
 * comes, AZ_BUSY if the server was not asked, AZ_UPSTREAM_AUTH if our client authentication cannot
 * be made.
 */
enum az_status link_tokens_get(struct op *op, const struct managed_resource *resource,
                               const struct link_provider *provider, const struct link_grant *grant,
                               struct client_answer *ret);

/* Ask the server to revoke a token, if it has an endpoint for that. A failure is logged: what is
 * stored here is deleted anyway. */
void link_token_revoke(struct op *op, const struct managed_resource *resource,
                       const struct link_provider *provider, const char *token);

#endif
