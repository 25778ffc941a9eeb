#include "config.h"

#include "oauth/dpop/dpop_proof.h"

#include <string.h>

#include "base/b64url.h"
#include "base/raw_uri.h"
#include "base/uri.h"
#include "crypto/digest.h"
#include "crypto/jws.h"
#include "crypto/jwt.h"
#include "crypto/secret.h"

static enum az_status
proof_refuse(const char *why, const char **ret_why)
{
    *ret_why = why;
    return AZ_INVALID;
}

/* Return the port of a URI; one that the scheme implies may be left out (RFC 3986 6.2.3). */
static const char *
proof_port(const struct uri *uri)
{
    if (uri->port != NULL && *uri->port != '\0')
        return uri->port;
    return strcmp(uri->scheme, "https") == 0 ? "443" : strcmp(uri->scheme, "http") == 0 ? "80" : "";
}

/* Return an address with the raw characters of its path encoded, or NULL. The brackets of an IPv6
 * address stay. */
static const char *
encode_path(TALLOC_CTX *mem, const char *url)
{
    const char *authority = strstr(url, "://");
    size_t place = authority != NULL ? (size_t) (authority + 3 - url) : 0;
    place += strcspn(url + place, "/?#");
    size_t length = strcspn(url + place, "?#");
    const char *path = talloc_strndup(mem, url + place, length);
    const char *encoded = path != NULL ? raw_uri_encode(mem, path, RAW_URI_PATH) : NULL;
    return encoded != NULL ? talloc_asprintf(mem, "%.*s%s", (int) place, url, encoded) : NULL;
}

/* True if a path is ours, or is with a slash at its end if that is the same endpoint. */
static bool
is_our_path(const char *path, const char *own, bool slash)
{
    size_t length = strlen(own);
    return strncmp(path, own, length) == 0
           && (path[length] == '\0' || (slash && strcmp(path + length, "/") == 0));
}

/*
 * True if an htu names our address. Scheme and host have no case, and the query and the fragment do
 * not count (RFC 9449 4.3). Raw characters of its path are encoded, as those of the request are.
 * Nothing else is normalized: a path that is not ours letter by letter may be another resource.
 */
static bool
is_our_url(TALLOC_CTX *mem, const char *htu, const struct dpop_rule *rule)
{
    struct uri theirs, ours;
    if (strcmp(htu, rule->url) == 0)
        return true;
    const char *encoded = encode_path(mem, htu);
    if (encoded == NULL || uri_parse(mem, encoded, &theirs) != AZ_OK
        || uri_parse(mem, rule->url, &ours) != AZ_OK || theirs.userinfo != NULL
        || theirs.host == NULL || ours.host == NULL)
        return false;
    return strcmp(theirs.scheme, ours.scheme) == 0 && strcmp(theirs.host, ours.host) == 0
           && strcmp(proof_port(&theirs), proof_port(&ours)) == 0
           && is_our_path(theirs.path, ours.path, rule->slash);
}

/* Compare ath with the hash of the access token (RFC 9449 4.2). */
static enum az_status
check_ath(const char *ath, const char *access_token, const char **ret_why)
{
    unsigned char hash[SHA256_OCTETS];
    char made[B64URL_LENGTH(SHA256_OCTETS) + 1];
    if (access_token == NULL)
        return AZ_OK;
    if (sha256(access_token, strlen(access_token), hash) != AZ_OK)
        return AZ_SERVER_ERROR;
    b64url_encode_into(hash, sizeof(hash), made);
    return ath != NULL && secret_equal(ath, strlen(ath), made, strlen(made))
               ? AZ_OK
               : proof_refuse("ath is not the hash of the access token", ret_why);
}

/* Read a claim that is absent or a text. */
static bool
proof_read_claim(const struct jwt_claims *claims, const char *name, const char **ret)
{
    const json_t *value = json_object_get(claims->object, name);
    *ret = json_string_value(value);
    return value == NULL || *ret != NULL;
}

/* Check the claims of a proof that is not verified yet, and set the members that come from them. */
static enum az_status
proof_check_claims(TALLOC_CTX *mem, const struct jws *jws, const struct dpop_rule *rule,
                   struct dpop_proof *proof, const char **ret_why)
{
    struct jwt_claims claims;
    enum jwt_fault fault;
    const char *htm, *htu, *ath;
    enum az_status st = jwt_claims_parse(mem, jws, &claims, &fault);
    if (st != AZ_OK)
        return st == AZ_INVALID ? proof_refuse(jwt_fault_text(fault), ret_why) : st;
    if (!proof_read_claim(&claims, "htm", &htm) || !proof_read_claim(&claims, "htu", &htu)
        || !proof_read_claim(&claims, "ath", &ath)
        || !proof_read_claim(&claims, "nonce", &proof->nonce))
        return proof_refuse("htm, htu, ath or nonce is not a text", ret_why);
    if (claims.jti == NULL || *claims.jti == '\0' || strlen(claims.jti) > DPOP_JTI_MAX)
        return proof_refuse("jti is missing, empty or too long", ret_why);
    if (htm == NULL || strcmp(htm, rule->method) != 0)
        return proof_refuse("htm is not the method of the request", ret_why);
    if (htu == NULL || !is_our_url(mem, htu, rule))
        return proof_refuse("htu is not the address of the request", ret_why);
    if (!claims.iat.present || claims.iat.seconds < rule->now - rule->window
        || claims.iat.seconds > rule->now + rule->window)
        return proof_refuse("iat is missing or too far from the present time", ret_why);
    proof->jti = claims.jti;
    proof->iat = claims.iat.seconds;
    return check_ath(ath, rule->access_token, ret_why);
}

/* Verify the signature with the key of the header, and compute the thumbprint of that key. */
static enum az_status
check_key(TALLOC_CTX *mem, const struct jws *jws, const struct jws_policy *policy,
          struct dpop_proof *proof, const char **ret_why)
{
    struct jwk *key = NULL;
    enum jws_fault fault;
    enum az_status st = jwk_parse(mem, json_object_get(jws->header, "jwk"), &key, ret_why);
    if (st != AZ_OK)
        return st;
    const struct jwk *const list[] = {key};
    const struct jwk_set keys = {.keys = (const struct jwk **) (uintptr_t) list, .count = 1};
    struct jws_policy with_key = *policy;
    struct jws unnamed = *jws;
    with_key.keys = &keys;
    unnamed.kid = NULL; /* there is only one key to choose from */
    st = jws_verify(&unnamed, &with_key, NULL, &fault);
    if (st == AZ_INVALID)
        return proof_refuse(jws_fault_text(fault), ret_why);
    return st == AZ_OK ? jwk_thumbprint(key, proof->jkt) : st;
}

enum az_status
dpop_proof_read(TALLOC_CTX *mem, const char *text, const struct dpop_rule *rule,
                struct dpop_proof *ret, const char **ret_why)
{
    static const char *const types[] = {"dpop+jwt", NULL};
    const struct jws_policy policy = {.algs = rule->algs, .types = types};
    struct dpop_proof proof = {.jti = NULL};
    struct jws *jws = NULL;
    enum jws_fault fault;
    enum az_status st = jws_parse_unverified(mem, text, strlen(text), &jws, &fault);
    if (st == AZ_OK)
        st = jws_check_header(jws, &policy, &fault);
    if (st != AZ_OK)
        return st == AZ_INVALID ? proof_refuse(jws_fault_text(fault), ret_why) : st;
    st = proof_check_claims(mem, jws, rule, &proof, ret_why);
    if (st == AZ_OK)
        st = check_key(mem, jws, &policy, &proof, ret_why);
    if (st == AZ_OK)
        *ret = proof;
    return st;
}
