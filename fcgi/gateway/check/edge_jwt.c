#include "config.h"

#include "gateway/check/edge_jwt.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "crypto/jwk.h"
#include "crypto/jws.h"
#include "crypto/random.h"
#include "store/tokens/signing_keys.h"
#include "token/signing_key.h"

/* The algorithm, if the service has a key for it; signatures by RS256 take many times as long. */
#define EDGE_JWT_ALG "ES256"

/* Return when the JWT ends: never after the token. */
static int64_t
edge_jwt_end(const struct op *op, const struct gateway_access *access)
{
    int64_t end = op_now(op) + access->resource->edge_lifetime;
    int64_t token = access->token->lookup.row.expires_at;
    return end < token ? end : token;
}

/* Return the claims (RFC 7519 4.1, RFC 9068 2.2, RFC 8693 4.1; htm and htu as in RFC 9449 4.2). */
static json_t *
edge_jwt_claims(struct request *req, const struct gateway_access *access,
                const struct forwarded *asked)
{
    const struct op *op = &req->op;
    const struct token_row *row = &access->token->lookup.row;
    const json_t *subject = json_object_get(access->token->issued, "subject");
    const char *url = talloc_asprintf(op->mem, "%s%s", asked->origin, asked->raw);
    const char *id = random_uuid7(op->mem, op->now_ms);
    if (url == NULL || id == NULL)
        return NULL;
    return jsonx_own(op->mem, json_pack("{s:s,s:s,s:s,s:s*,s:s,s:s,s:s*,s:O*,s:s,s:I,s:I,s:s,s:s}",
                                        "iss", op->az->cfg->oidc_issuer, "aud",
                                        access->resource->edge_audience, "sub", row->subject, "idp",
                                        row->idp, "client_id", row->client.client_id, "scope",
                                        words_join(op->mem, access->token->scopes), "acr",
                                        json_string_value(json_object_get(subject, "acr")), "act",
                                        row->act, "jti", id, "iat", (json_int_t) op_now(op), "exp",
                                        (json_int_t) edge_jwt_end(op, access), "htm", asked->method,
                                        "htu", url));
}

enum az_status
edge_jwt_make(struct request *req, const struct gateway_access *access,
              const struct forwarded *asked, const char **ret)
{
    struct op *op = &req->op;
    const struct jwk *key;
    char *text;
    *ret = NULL;
    if (access->resource->edge_audience == NULL)
        return AZ_OK;
    json_t *claims = edge_jwt_claims(req, access, asked);
    if (claims == NULL)
        return op_no_memory(op);
    enum az_status st = signing_key_get(op, EDGE_JWT_ALG, &key);
    if (st != AZ_OK)
        return st;
    if (jws_sign_json(op->mem, key, key->alg, EDGE_JWT_TYP, claims, &text) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "cannot sign a JWT for an upstream");
    if (strlen(text) > EDGE_JWT_MAX)
        return op_fail(op, AZ_FORBIDDEN, "The identity has no room in a header field",
                       "the JWT for the upstream has more than %d octets", EDGE_JWT_MAX);
    *ret = text;
    return AZ_OK;
}
