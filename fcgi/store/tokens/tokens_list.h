/* Lists of live tokens, for the administrator. */
#ifndef AZ_STORE_TOKENS_TOKENS_LIST_H
#define AZ_STORE_TOKENS_TOKENS_LIST_H

#include <jansson.h>
#include <stdint.h>

#include "base/op.h"

/* Live access and refresh tokens, the newest first. */
struct tokens_list {
    const char *subject;   /* of this person, or NULL: of anyone */
    const char *client_id; /* of this client, or NULL: of any */
    const char *idp_id;    /* of people of this identity provider, or NULL: of any */
    int64_t offset, limit; /* tokens to pass over, and to read */
};

/* Read the tokens as a JSON array of {kind, tokenId, clientId, subjectId, scope, resource,
 * issuedAt, expiresAt}, never their texts. One trip. */
enum az_status tokens_list(struct op *op, const struct tokens_list *list, json_t **ret);

#endif
