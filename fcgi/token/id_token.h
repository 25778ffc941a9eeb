/* ID tokens (OpenID Connect Core 2): signed by the active key of the algorithm that the client asks
 * for, by default RS256. */
#ifndef AZ_TOKEN_ID_TOKEN_H
#define AZ_TOKEN_ID_TOKEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* The content of an ID token. */
struct id_token {
    const char *sub;          /* subject */
    const char *aud;          /* client_id */
    const char *nonce;        /* as sent, or NULL */
    int64_t auth_time;        /* seconds since 1970; 0: left out */
    const char *acr;          /* from the provider, or NULL */
    json_t *amr;              /* array from the provider, or NULL */
    const char *sid;          /* session id */
    const char *access_token; /* its text, for at_hash */
    const char *alg;          /* id_token_signed_response_alg of the client, or NULL */
};

/*
 * Sign an ID token; the text is on op->mem. The process keeps the signing key for a while. A key
 * that is retired in that time is still published. An algorithm that the service does not use (any
 * more, or yet) is replaced by RS256, which a client accepts beside the one it asked for (OpenID
 * Connect Core 3.1.3.7, rule 7).
 */
enum az_status id_token_make(struct op *op, const struct id_token *token, const char **ret);

/* Read an ID token of this service for logout and id_token_hint. Issuer and signature must be
 * right; its age does not matter. *ret_claims is on op->mem. AZ_INVALID: not an ID token of this
 * service. */
enum az_status id_token_read(struct op *op, const char *text, json_t **ret_claims);

#endif
