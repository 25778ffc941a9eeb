#include "config.h"

#include "token/id_token.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "crypto/digest.h"
#include "crypto/jwk_set.h"
#include "crypto/jws.h"
#include "crypto/jwt.h"
#include "store/tokens/signing_keys.h"
#include "token/signing_key.h"

#define TYP "JWT"

/* OpenID Connect Core 3.1.3.6: the left half of the hash of the signature algorithm, which is
 * SHA-256 for RS256 and for ES256. */
#define AT_HASH_OCTETS (SHA256_OCTETS / 2)

static const char *
at_hash(struct op *op, const char *access_token)
{
    unsigned char hash[SHA256_OCTETS];
    if (sha256(access_token, strlen(access_token), hash) != AZ_OK)
        return NULL;
    return b64url_encode(op->mem, hash, AT_HASH_OCTETS);
}

static json_t *
make_claims(struct op *op, const struct id_token *token, const char *hash)
{
    json_t *claims = jsonx_own(
        op->mem, json_pack("{s:s,s:s,s:s,s:I,s:I,s:s,s:s*,s:s*,s:s*,s:O*}", "iss",
                           op->az->cfg->oidc_issuer, "sub", token->sub, "aud", token->aud, "exp",
                           (json_int_t) (op_now(op) + op->az->cfg->id_token_validity), "iat",
                           (json_int_t) op_now(op), "at_hash", hash, "nonce", token->nonce, "acr",
                           token->acr, "sid", token->sid, "amr",
                           json_array_size(token->amr) > 0 ? token->amr : NULL));
    if (claims != NULL && token->auth_time > 0
        && json_object_set_new(claims, "auth_time", json_integer(token->auth_time)) != 0)
        return NULL;
    return claims;
}

enum az_status
id_token_make(struct op *op, const struct id_token *token, const char **ret)
{
    const struct jwk *key;
    char *text;
    const char *hash = at_hash(op, token->access_token);
    json_t *claims = hash != NULL ? make_claims(op, token, hash) : NULL;
    if (claims == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "cannot build an ID token");
    enum az_status st = signing_key_get(op, token->alg, &key);
    if (st != AZ_OK)
        return st;
    if (jws_sign_json(op->mem, key, key->alg, TYP, claims, &text) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "cannot sign an ID token");
    *ret = text;
    return AZ_OK;
}

/* Read the keys of ID tokens only, so that a software statement cannot pass for an ID token. */
static enum az_status
read_keys(struct op *op, struct jwk_set **ret)
{
    json_t *keys;
    const char *why = NULL;
    enum az_status st = signing_keys_public_of(op, SIGNING_OIDC, &keys);
    if (st != AZ_OK)
        return st;
    json_t *set = jsonx_own(op->mem, json_pack("{s:O}", "keys", keys));
    if (set == NULL || jwk_set_parse(op->mem, set, JWK_SET_FETCHED, ret, &why) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "cannot read the published keys: %s",
                       why != NULL ? why : "out of memory");
    return AZ_OK;
}

enum az_status
id_token_read(struct op *op, const char *text, json_t **ret_claims)
{
    static const char *const types[] = {TYP, NULL};
    struct jwk_set *keys;
    struct jws *jws;
    struct jwt_claims claims;
    enum az_status st = jws_parse_unverified(op->mem, text, strlen(text), &jws, NULL);
    if (st == AZ_OK)
        st = read_keys(op, &keys);
    if (st != AZ_OK)
        return st;
    const struct jws_policy policy = {.keys = keys, .algs = settings_id_token_algs, .types = types};
    if ((st = jws_verify(jws, &policy, NULL, NULL)) != AZ_OK
        || (st = jwt_claims_parse(op->mem, jws, &claims, NULL)) != AZ_OK)
        return st;
    const struct jwt_rule rule = {.iss = op->az->cfg->oidc_issuer, .need_sub = true};
    /* An expired token is good: a user may sign out with a token that was issued long ago. */
    const struct jwt_claims ageless = {
        .object = claims.object, .iss = claims.iss, .sub = claims.sub};
    if ((st = jwt_claims_check(&ageless, &rule, NULL)) != AZ_OK)
        return st;
    *ret_claims = (json_t *) (uintptr_t) claims.object;
    return AZ_OK;
}
