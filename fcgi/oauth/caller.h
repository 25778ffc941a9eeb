/* The callers of endpoints that answer resource servers, /introspect and AuthZEN: a confidential
 * client with its own credentials, or a client with an access token (specification 5). */
#ifndef AZ_OAUTH_CALLER_H
#define AZ_OAUTH_CALLER_H

#include "http/route.h"
#include "store/tokens/tokens_find.h"

/* The caller of one request. Policy decides what it may ask. */
struct caller {
    const struct client *client; /* the client, or the client of the token */
    const char *method;          /* how it authenticated; "bearer" with a token */
    json_t *token;               /* {scopes, resource?, resource_types} of a token, or NULL */
    struct token_parts parts;    /* for the lookup of the token */
};

/*
 * Check the credential as a route_credential: Basic, a form's client_secret or client_assertion, or
 * the form of a Bearer token, which only caller_find() looks up. 401: it is absent, wrong, or of a
 * public client.
 */
enum az_status caller_authenticate(struct request *req);

/*
 * Look up the caller, and with it whatever else the lookup asks for, in one trip. A cached client
 * that is out of date authenticates again. AZ_INVALID_TOKEN: the token is not live, or single-use.
 * Sets req->proved and the audit row's client.
 */
enum az_status caller_find(struct request *req, struct token_lookup *lookup, struct caller *ret);

/* True if the caller has a token with this scope. */
bool caller_token_has(const struct caller *caller, const char *scope);

/* Refuse the caller's token: AZ_INVALID_TOKEN with its challenge (RFC 6750 3). */
enum az_status caller_refuse_token(struct request *req, const char *detail);

#endif
