/* Access tokens that the gateway gets at an upstream's authorization server, and tokens that the
 * service issues to itself: client_credentials (RFC 6749 4.4), fetched once for all workers. */
#ifndef AZ_GATEWAY_CREDENTIAL_CLIENT_CREDENTIALS_H
#define AZ_GATEWAY_CREDENTIAL_CLIENT_CREDENTIALS_H

#include "base/query.h"
#include "gateway/upstream/credential.h"

struct upstream_token;

/* URIs of token types (RFC 8693 3). */
#define TOKEN_TYPE_URN "urn:ietf:params:oauth:token-type:"

/* Most parameters of a grant: a token exchange has 4. */
#define GRANT_PAIRS_MAX 4

/* A request of one grant to a token endpoint. */
struct gateway_grant {
    struct query_pair pair[GRANT_PAIRS_MAX]; /* parameters of the grant, grant_type included; those
                                                without a value are left out */
    const char *issued_type; /* token type that is wanted (RFC 8693 2.2.1); NULL: the grant is no
                                exchange */
    bool client_refused;     /* out, with AZ_UPSTREAM_AUTH: the server refuses the client
                                authentication, not the request */
};

/*
 * Ask the token endpoint of upstreamAuth, with our client authentication, its scopes, audience and
 * resource, and its tokenParams. AZ_UPSTREAM_AUTH: refused; AZ_UPSTREAM_INVALID: the answer is not
 * a bearer token that can be sent.
 */
enum az_status gateway_ask_token(struct op *op, const struct upstream_wish *wish,
                                 struct gateway_grant *grant, struct upstream_token *ret);

/* An upstream_credential_fn. The token is kept in the database until a minute before it expires. If
 * the upstream refused the token, a newer one that another worker has stored replaces it, or a new
 * one is fetched. AZ_UPSTREAM_AUTH: the token endpoint refuses this service. */
enum az_status gateway_client_credentials(struct op *op, const struct upstream_wish *wish,
                                          struct upstream_credential *ret);

#endif
