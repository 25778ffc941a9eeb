/* ID tokens (OpenID Connect Core 2): RS256 by the active signing key. */
#ifndef AZ_TOKEN_ID_TOKEN_H
#define AZ_TOKEN_ID_TOKEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* What it says. */
struct id_token {
    const char *sub;          /* subject */
    const char *aud;          /* client_id */
    const char *nonce;        /* as sent, or NULL */
    int64_t auth_time;        /* seconds since 1970; 0: not said */
    const char *acr;          /* of the provider, or NULL */
    json_t *amr;              /* array: of the provider, or NULL */
    const char *sid;          /* session */
    const char *access_token; /* its text, for at_hash */
};

/* Signs; the text is on op->mem. The key is remembered by the process for a while: a key that was
 * retired meanwhile is still published. */
enum az_status id_token_make(struct op *op, const struct id_token *token, const char **ret);

/* Reads an ID token of ours for logout and id_token_hint: our issuer and signature, whatever its
 * age; *ret_claims is owned by op->mem. AZ_INVALID: it is none of ours. */
enum az_status id_token_read(struct op *op, const char *text, json_t **ret_claims);

#endif
