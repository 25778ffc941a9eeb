/* Tokens of the person behind a request, for the authorization server of an upstream. */
#ifndef AZ_GATEWAY_SUBJECT_TOKEN_H
#define AZ_GATEWAY_SUBJECT_TOKEN_H

#include "crypto/token.h"
#include "gateway/upstream/credential.h"
#include "http/route.h"
#include "oauth/own_token.h"

/* The request and its token, from which another one is made. */
struct gateway_bearer {
    struct request *req;
    const struct own_token *token;
};

/*
 * Make an access token of the person for `resource`, as a token exchange of the caller's client
 * would (decisions.md "Gateway"): policy is asked (evaluation 1) and an audit row is written. It
 * has no scopes, lives for a minute, at most as long as the caller's, and ends with its sign-in. It
 * says who calls, and opens nothing. `arg` is a struct gateway_bearer. AZ_FORBIDDEN: policy allows
 * no such token.
 */
enum az_status gateway_subject_token(void *arg, const char *resource, struct token_text *ret);

/* Return the bearer as credentials are found for it; it lives as long as *bearer. A token without a
 * provider is a client's own: it names no person. */
struct upstream_caller gateway_caller(struct gateway_bearer *bearer);

#endif
