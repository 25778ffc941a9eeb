#include "config.h"

#include "oidc/upstream/upstream_id_token.h"

#include <gnutls/crypto.h>
#include <math.h>
#include <string.h>

#include "base/b64url.h"
#include "base/iso8601.h"
#include "base/words.h"
#include "crypto/jws.h"
#include "crypto/jwt.h"
#include "crypto/secret.h"
#include "token/authorization.h"

#define DIGEST_MAX 64 /* octets of a SHA-512 */

/*
 * Only signatures by a key of the provider. With HS256 our client secret would be the key or, in a
 * reader that takes any key for any algorithm, the provider's public key; none needs no key at all.
 */
static const char *const id_token_algs[] = {"RS256", "PS256", "ES256", "RS384", "RS512", "PS384",
                                            "PS512", "ES384", "ES512", "EdDSA", NULL};
static const char *const id_token_types[] = {"JWT", NULL};

static enum az_status
id_token_refuse(const char *why, const char **ret_why)
{
    *ret_why = why;
    return AZ_INVALID;
}

/* True if the nonce is the one that was sent (OpenID Connect Core 3.1.3.7, 11); otherwise the token
 * is of another sign-in. */
static bool
nonce_good(const json_t *object, const struct upstream_expected *expected)
{
    const json_t *nonce = json_object_get(object, "nonce");
    return json_is_string(nonce)
           && secret_equal(json_string_value(nonce), json_string_length(nonce), expected->nonce,
                           strlen(expected->nonce));
}

/* Return the digest by the algorithm's name (OpenID Connect Core 3.1.3.6); Ed25519 uses SHA-512. */
static gnutls_digest_algorithm_t
id_token_digest_of(const char *alg)
{
    if (strcmp(alg + 2, "256") == 0)
        return GNUTLS_DIG_SHA256;
    return strcmp(alg + 2, "384") == 0 ? GNUTLS_DIG_SHA384 : GNUTLS_DIG_SHA512;
}

/* True if at_hash is missing, as this flow allows, or matches the access token; otherwise two
 * answers were mixed. */
static bool
at_hash_good(const struct jws *jws, const json_t *object, const struct upstream_expected *expected)
{
    const json_t *value = json_object_get(object, "at_hash");
    unsigned char digest[DIGEST_MAX];
    char text[B64URL_LENGTH(DIGEST_MAX / 2) + 1];
    gnutls_digest_algorithm_t algorithm = id_token_digest_of(jws->alg);
    if (value == NULL || expected->access_token == NULL)
        return value == NULL || json_is_string(value);
    if (gnutls_hash_fast(algorithm, expected->access_token, strlen(expected->access_token), digest)
        != 0)
        return false;
    b64url_encode_into(digest, gnutls_hash_get_len(algorithm) / 2, text);
    return json_is_string(value)
           && secret_equal(json_string_value(value), json_string_length(value), text, strlen(text));
}

/* Read auth_time, a NumericDate as in crypto/jwt.h. */
static bool
read_auth_time(const json_t *object, struct upstream_claims *claims)
{
    const json_t *value = json_object_get(object, "auth_time");
    if (value == NULL)
        return true;
    double seconds = json_number_value(value);
    if (!json_is_number(value) || !isfinite(seconds) || seconds < 0
        || seconds > (double) ISO8601_SECONDS_MAX)
        return false;
    claims->has_auth_time = true;
    claims->auth_time = json_is_integer(value) ? json_integer_value(value) : (int64_t) seconds;
    return true;
}

const char upstream_no_auth_time[] = "the ID token has no auth_time although max_age was sent";

/* Return the fault of auth_time, or NULL: it must be as recent as asked, and not in the future. */
static const char *
auth_time_fault(const struct upstream_claims *claims, const struct upstream_expected *expected)
{
    if (!claims->has_auth_time)
        /* OpenID Connect Core 2: required if max_age was sent. */
        return expected->max_age != AUTHORIZATION_NO_MAX_AGE || expected->prompt_login
                   ? upstream_no_auth_time
                   : NULL;
    if (claims->auth_time > expected->now + UPSTREAM_SKEW)
        return "the auth_time of the ID token is in the future";
    if (expected->max_age != AUTHORIZATION_NO_MAX_AGE
        && claims->auth_time < expected->now - expected->max_age - UPSTREAM_SKEW)
        return "the auth_time of the ID token is older than max_age";
    if (expected->prompt_login && claims->auth_time < expected->asked_at - UPSTREAM_SKEW)
        return "the auth_time of the ID token is older than the request, which asked for a new "
               "sign-in";
    return NULL;
}

/* Return a text of acceptable length, or NULL. These claims are not part of the protocol's checks,
 * so a bad one is dropped and not refused. */
static const char *
id_token_read_text(const json_t *value)
{
    size_t length = json_string_length(value);
    return json_is_string(value) && length > 0 && length <= UPSTREAM_TEXT_MAX
               ? json_string_value(value)
               : NULL;
}

/* Read an array of texts; some providers send one text. *ret is NULL if there are none. */
static enum az_status
read_amr(TALLOC_CTX *mem, const json_t *value, const char ***ret)
{
    size_t count = json_is_array(value) ? json_array_size(value) : 1, used = 0;
    const char **words;
    *ret = NULL;
    if (value == NULL || count > UPSTREAM_AMR_MAX)
        return AZ_OK;
    if ((words = talloc_zero_array(mem, const char *, (unsigned) count + 1)) == NULL)
        return AZ_SERVER_ERROR;
    for (size_t i = 0; i < count; i++) {
        words[used] = id_token_read_text(json_is_array(value) ? json_array_get(value, i) : value);
        used += words[used] != NULL;
    }
    if (used > 0)
        *ret = words;
    return AZ_OK;
}

/* Return the text of the issuer that a token must have: the alias that it has, or the issuer. */
static const char *
issuer_for(const struct upstream_expected *expected, const char *iss)
{
    return iss != NULL && expected->aliases != NULL && words_has(expected->aliases, iss)
               ? iss
               : expected->issuer;
}

/* Check issuer, audience and times by the rule for all tokens of other issuers. */
static enum az_status
id_token_check_claims(const struct jwt_claims *claims, const struct upstream_expected *expected,
                      const char **ret_why)
{
    const char *const audiences[] = {expected->client_id, NULL};
    const struct jwt_rule rule = {
        .iss = issuer_for(expected, claims->iss),
        .audiences = audiences,
        .several_aud = true,
        .need_sub = true,
        .need_exp = true,
        .need_iat = true,
        .now = expected->now,
        .skew_past = UPSTREAM_SKEW,
        .skew_future = UPSTREAM_SKEW,
        .age_max = UPSTREAM_AGE_MAX + UPSTREAM_SKEW,
    };
    enum jwt_fault fault;
    if (jwt_claims_check(claims, &rule, &fault) != AZ_OK)
        return id_token_refuse(jwt_fault_text(fault), ret_why);
    /* OpenID Connect Core 3.1.3.7, 5: also if there is only one audience. */
    if (claims->azp != NULL && strcmp(claims->azp, expected->client_id) != 0)
        return id_token_refuse(jwt_fault_text(JWT_FAULT_AZP), ret_why);
    return AZ_OK;
}

/* Read and check the claims of a token whose signature was verified. */
static enum az_status
id_token_read(TALLOC_CTX *mem, const struct jws *jws, const struct upstream_expected *expected,
              struct upstream_claims *ret, const char **ret_why)
{
    struct upstream_claims claims = {.sub = NULL};
    struct jwt_claims jwt;
    enum jwt_fault fault;
    enum az_status st = jwt_claims_parse(mem, jws, &jwt, &fault);
    if (st != AZ_OK)
        return st == AZ_INVALID ? id_token_refuse(jwt_fault_text(fault), ret_why) : st;
    if (id_token_check_claims(&jwt, expected, ret_why) != AZ_OK)
        return AZ_INVALID;
    if (!nonce_good(jwt.object, expected))
        return id_token_refuse("the nonce of the ID token is not the one that was sent", ret_why);
    if (!at_hash_good(jws, jwt.object, expected))
        return id_token_refuse("the at_hash of the ID token does not match the access token",
                               ret_why);
    if (!read_auth_time(jwt.object, &claims))
        return id_token_refuse("the auth_time of the ID token is malformed", ret_why);
    const char *why = auth_time_fault(&claims, expected);
    if (why != NULL)
        return id_token_refuse(why, ret_why);
    if ((st = read_amr(mem, json_object_get(jwt.object, "amr"), &claims.amr)) != AZ_OK)
        return st;
    claims.object = (json_t *) (uintptr_t) jwt.object;
    claims.sub = jwt.sub;
    claims.acr = id_token_read_text(json_object_get(jwt.object, "acr"));
    claims.sid = id_token_read_text(json_object_get(jwt.object, "sid"));
    *ret = claims;
    return AZ_OK;
}

size_t
upstream_token_parts(const char *text)
{
    size_t parts = 1;
    for (; *text != '\0'; text++)
        parts += *text == '.';
    return parts;
}

/* Split and verify a token. */
static enum az_status
verify(TALLOC_CTX *mem, const char *text, const struct jwk_set *keys, struct jws **ret,
       const char **ret_why, bool *ret_stale)
{
    const struct jws_policy policy = {keys, id_token_algs, id_token_types, true, NULL};
    enum jws_fault fault;
    *ret_stale = false;
    enum az_status st = jws_parse_unverified(mem, text, strlen(text), ret, &fault);
    if (st == AZ_OK && (st = jws_verify(*ret, &policy, NULL, &fault)) == AZ_INVALID)
        *ret_stale = jws_key_may_be_new(*ret, fault);
    return st == AZ_INVALID ? id_token_refuse(jws_fault_text(fault), ret_why) : st;
}

enum az_status
upstream_id_token_check(TALLOC_CTX *mem, const char *text, const struct jwk_set *keys,
                        const struct upstream_expected *expected, struct upstream_claims *ret,
                        const char **ret_why, bool *ret_stale)
{
    struct jws *jws;
    enum az_status st = verify(mem, text, keys, &jws, ret_why, ret_stale);
    if (st != AZ_OK)
        return st;
    return id_token_read(mem, jws, expected, ret, ret_why);
}

/* True if a signed userinfo answer names no audience, or us among others. */
static bool
names_us(const struct jwt_claims *claims, const char *client_id)
{
    for (size_t i = 0; i < claims->aud_count; i++)
        if (strcmp(claims->aud[i], client_id) == 0)
            return true;
    return claims->aud_count == 0;
}

enum az_status
upstream_userinfo_check(TALLOC_CTX *mem, const char *text, const struct jwk_set *keys,
                        const struct upstream_expected *expected, json_t **ret_object,
                        const char **ret_why, bool *ret_stale)
{
    struct jws *jws;
    struct jwt_claims claims;
    enum jwt_fault fault;
    enum az_status st = verify(mem, text, keys, &jws, ret_why, ret_stale);
    if (st == AZ_OK && (st = jwt_claims_parse(mem, jws, &claims, &fault)) == AZ_INVALID)
        return id_token_refuse(jwt_fault_text(fault), ret_why);
    if (st != AZ_OK)
        return st;
    if (claims.iss != NULL && strcmp(claims.iss, issuer_for(expected, claims.iss)) != 0)
        return id_token_refuse("the iss of the signed userinfo is another issuer", ret_why);
    if (!names_us(&claims, expected->client_id))
        return id_token_refuse("the aud of the signed userinfo is not this service", ret_why);
    if (claims.exp.present && claims.exp.seconds < expected->now - UPSTREAM_SKEW)
        return id_token_refuse("the signed userinfo has expired", ret_why);
    *ret_object = (json_t *) (uintptr_t) claims.object;
    return AZ_OK;
}
