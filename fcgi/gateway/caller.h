/* The caller of the gateway, for whom credentials of upstreams are found. */
#ifndef AZ_GATEWAY_CALLER_H
#define AZ_GATEWAY_CALLER_H

#include "gateway/upstream/credential.h"
#include "http/route.h"
#include "oauth/own_token.h"

/* The incoming request and its token, from which the gateway makes a request to the upstream. */
struct gateway_bearer {
    struct request *req;
    const struct own_token *token;
};

/* Return the bearer as credentials are found for it; it lives as long as *bearer. A token without a
 * provider is a client's own: it names no person. */
struct upstream_caller gateway_caller(struct gateway_bearer *bearer);

#endif
