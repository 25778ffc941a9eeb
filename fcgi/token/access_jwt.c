#include "config.h"

#include "token/access_jwt.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "crypto/digest.h"
#include "crypto/jws.h"
#include "crypto/secret.h"
#include "token/signing_key.h"

#define TYP "at+jwt"

/* jti: bucket, then id, in base64url. */
#define JTI_BUCKET_OCTETS 3
#define JTI_OCTETS (JTI_BUCKET_OCTETS + UUID7_OCTETS)

#define PAYLOAD_DEPTH_MAX 32

static void
make_jti(const struct token_parts *parts, char ret[B64URL_LENGTH(JTI_OCTETS) + 1])
{
    const unsigned char bucket[JTI_BUCKET_OCTETS] = {(unsigned char) (parts->bucket >> 16),
                                                     (unsigned char) (parts->bucket >> 8),
                                                     (unsigned char) parts->bucket};
    unsigned char octets[JTI_OCTETS];
    memcpy(octets, bucket, sizeof(bucket));
    memcpy(octets + sizeof(bucket), parts->id, UUID7_OCTETS);
    b64url_encode_into(octets, sizeof(octets), ret);
}

static enum az_status
read_jti(const char *text, struct token_parts *ret)
{
    unsigned char octets[JTI_OCTETS];
    if (text == NULL || b64url_decode_into(text, strlen(text), octets, sizeof(octets)) != AZ_OK)
        return AZ_INVALID;
    ret->bucket = (uint32_t) octets[0] << 16 | (uint32_t) octets[1] << 8 | octets[2];
    memcpy(ret->id, octets + JTI_BUCKET_OCTETS, UUID7_OCTETS);
    return uuid7_check(ret->id);
}

/* Add the claims of the sign-in that the row names. */
static void
set_sign_in(struct jsonx_build *claims, const struct question_user *user, const json_t *names)
{
    if (user == NULL)
        return;
    if (user->acr != NULL && words_array_has(names, "acr"))
        jsonx_set(claims, "acr", json_string(user->acr));
    if (user->auth_time > 0 && words_array_has(names, "auth_time"))
        jsonx_set(claims, "auth_time", json_integer(user->auth_time));
    if (json_array_size(user->amr) > 0 && words_array_has(names, "amr"))
        jsonx_set(claims, "amr", json_incref(user->amr));
}

/* Return the payload (RFC 9068 2.2); NULL: no memory. The audience is the text that was asked for,
 * because verifiers compare octets. */
static json_t *
make_payload(struct op *op, const struct issue_question *question, const struct decision *decision,
             int64_t expires_at, const struct token_parts *parts)
{
    char jti[B64URL_LENGTH(JTI_OCTETS) + 1];
    const char *scope = words_join(op->mem, decision->scopes);
    make_jti(parts, jti);
    json_t *cnf = question->jkt != NULL ? json_pack("{s:s}", "jkt", question->jkt) : NULL;
    json_t *details = json_array_size(decision->details) > 0 ? decision->details : NULL;
    struct jsonx_build claims = {
        jsonx_own(op->mem, json_pack("{s:s,s:s,s:s,s:I,s:I,s:s,s:s,s:s*,s:o*,s:O*,s:O*}", "iss",
                                     op->az->cfg->oidc_issuer, "sub", question->subject_id, "aud",
                                     decision->resource, "exp", (json_int_t) expires_at, "iat",
                                     (json_int_t) op_now(op), "jti", jti, "client_id",
                                     question->frame.client->client_id, "scope",
                                     scope != NULL && *scope != '\0' ? scope : NULL, "cnf", cnf,
                                     "act", question->act, "authorization_details", details)),
        false};
    if (scope == NULL || (question->jkt != NULL && cnf == NULL))
        return NULL;
    set_sign_in(&claims, question->user, decision->jwt_claims);
    return jsonx_built(&claims);
}

enum az_status
access_jwt_make(struct op *op, const struct issue_question *question,
                const struct decision *decision, int64_t expires_at, char **ret,
                struct token_parts *ret_parts, const char **ret_why)
{
    const struct jwk *key;
    struct token_text unused; /* bucket and id are those of an opaque token */
    char *text = NULL;
    *ret = NULL;
    enum az_status st = signing_key_get_access(op, decision->jwt_alg, &key);
    if (st != AZ_OK)
        return st;
    if (key == NULL) {
        *ret_why = "key";
        return AZ_OK;
    }
    st = token_make(TOKEN_ACCESS, expires_at, op->now_ms, &unused, ret_parts);
    token_text_done(&unused);
    json_t *payload =
        st == AZ_OK ? make_payload(op, question, decision, expires_at, ret_parts) : NULL;
    if (payload == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "cannot build a JWT access token");
    st = jws_sign_json(op->mem, key, key->alg, TYP, payload, &text);
    if (st == AZ_INVALID || (st == AZ_OK && strlen(text) > ACCESS_JWT_OCTETS_MAX)) {
        *ret_why = "too_long";
        return AZ_OK;
    }
    if (st == AZ_OK)
        st = sha256(text, strlen(text), ret_parts->secret_hash);
    if (st == AZ_OK)
        *ret = secret_copy(op->mem, text, strlen(text));
    if (text != NULL)
        secret_wipe(text, strlen(text));
    return *ret != NULL ? AZ_OK
                        : op_fail(op, AZ_SERVER_ERROR, NULL, "cannot sign a JWT access token");
}

static enum az_status
read_jwt(TALLOC_CTX *mem, const char *text, struct token_parts *ret)
{
    struct jws *jws;
    json_t *payload;
    enum az_status st = jws_parse_unverified(mem, text, strlen(text), &jws, NULL);
    if (st != AZ_OK)
        return st;
    if (jws->typ == NULL || strcmp(jws->typ, TYP) != 0)
        return AZ_INVALID;
    st = jsonx_parse(mem, (const char *) jws->payload, jws->payload_len, PAYLOAD_DEPTH_MAX,
                     &payload, NULL);
    if (st == AZ_OK)
        st = read_jti(json_string_value(json_object_get(payload, "jti")), ret);
    return st == AZ_OK ? sha256(text, strlen(text), ret->secret_hash) : st;
}

enum az_status
access_jwt_parse(TALLOC_CTX *mem, const char *text, enum token_kind *ret_kind,
                 struct token_parts *ret)
{
    size_t length = strlen(text);
    if (length == TOKEN_TEXT_LENGTH)
        return token_parse(text, length, ret_kind, ret);
    *ret_kind = TOKEN_ACCESS;
    return length <= ACCESS_JWT_OCTETS_MAX ? read_jwt(mem, text, ret) : AZ_INVALID;
}
