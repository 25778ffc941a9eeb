#include "config.h"

#include "oauth/revoke.h"

#include <string.h>

#include "crypto/token.h"
#include "oauth/client_auth/client_auth.h"
#include "store/db/keep/partitions.h"
#include "store/tokens/tokens.h"
#include "token/access_jwt.h"

/* clang-format off */
const struct route_param revoke_params[] = {
    {.name = "token", .help = "Access or refresh token; without one nothing is revoked"},
    {.name = "token_type_hint", .help = "Ignored: the token itself says its kind"},
    CLIENT_AUTH_PARAMS,
    {.name = NULL},
};
/* clang-format on */

/* Revoke the token, if the caller may. If the cached client is out of date, authenticate it again
 * and try once more, up to CLIENT_ATTEMPTS times. */
static enum az_status
revoke_token(struct request *req, enum token_kind kind, const struct token_parts *token)
{
    for (int pass = 0; pass < CLIENT_ATTEMPTS; pass++) {
        bool current = false, noted = false;
        request_fill_audit(req, 200, "allowed");
        enum az_status st =
            token_revoke(&req->op, kind, token, req->client, &req->audit, &current, &noted);
        req->audited = noted;
        if (st != AZ_OK || current)
            return st;
        if ((st = client_authenticate_if_any(req, true)) != AZ_OK)
            return st;
    }
    return op_fail(&req->op, AZ_UNAVAILABLE, NULL, "the client changed during each of %d attempts",
                   CLIENT_ATTEMPTS);
}

/* Set *ret to true if the row of the token can exist. The token names its partition, so this needs
 * no SQL for most tokens. */
static enum az_status
has_partition(struct request *req, enum token_kind kind, const struct token_parts *token, bool *ret)
{
    if (kind == TOKEN_ACCESS)
        return partition_has_bucket(&req->op, token->bucket, ret);
    if (kind == TOKEN_REFRESH)
        return partition_has_refresh(&req->op, partition_refresh(token->bucket), ret);
    return AZ_OK;
}

enum az_status
revoke_handle(struct request *req)
{
    const char *text = request_param(req, "token");
    struct token_parts token;
    enum token_kind kind;
    bool possible = false;
    enum az_status st =
        text != NULL ? access_jwt_parse(req->op.mem, text, &kind, &token) : AZ_INVALID;
    if (st == AZ_OK)
        st = has_partition(req, kind, &token, &possible);
    else if (st == AZ_INVALID)
        st = AZ_OK; /* nothing to revoke */
    else
        return op_fail(&req->op, AZ_UNAVAILABLE, NULL, "the token cannot be read: out of memory");
    if (st == AZ_OK && possible)
        st = revoke_token(req, kind, &token);
    return st == AZ_OK ? respond_empty(req, 200) : st;
}
