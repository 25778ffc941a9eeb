#include "config.h"

#include "crypto/jws.h"

#include <gnutls/crypto.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"

/*
 * These are the variants of ECDSA with a curve: plain GNUTLS_SIGN_ECDSA_SHA256 would verify ES256
 * with a P-384 key. GnuTLS refuses PSS with a salt that is not as long as the digest.
 */
/* clang-format off */
static const struct jws_alg jws_algs[] = {
    {"RS256", JWK_RSA, GNUTLS_ECC_CURVE_INVALID,   GNUTLS_SIGN_RSA_SHA256},
    {"RS384", JWK_RSA, GNUTLS_ECC_CURVE_INVALID,   GNUTLS_SIGN_RSA_SHA384},
    {"RS512", JWK_RSA, GNUTLS_ECC_CURVE_INVALID,   GNUTLS_SIGN_RSA_SHA512},
    {"PS256", JWK_RSA, GNUTLS_ECC_CURVE_INVALID,   GNUTLS_SIGN_RSA_PSS_RSAE_SHA256},
    {"PS384", JWK_RSA, GNUTLS_ECC_CURVE_INVALID,   GNUTLS_SIGN_RSA_PSS_RSAE_SHA384},
    {"PS512", JWK_RSA, GNUTLS_ECC_CURVE_INVALID,   GNUTLS_SIGN_RSA_PSS_RSAE_SHA512},
    {"ES256", JWK_EC,  GNUTLS_ECC_CURVE_SECP256R1, GNUTLS_SIGN_ECDSA_SECP256R1_SHA256},
    {"ES384", JWK_EC,  GNUTLS_ECC_CURVE_SECP384R1, GNUTLS_SIGN_ECDSA_SECP384R1_SHA384},
    {"ES512", JWK_EC,  GNUTLS_ECC_CURVE_SECP521R1, GNUTLS_SIGN_ECDSA_SECP521R1_SHA512},
    {"EdDSA", JWK_OKP, GNUTLS_ECC_CURVE_ED25519,   GNUTLS_SIGN_EDDSA_ED25519},
    {"Ed25519", JWK_OKP, GNUTLS_ECC_CURVE_ED25519, GNUTLS_SIGN_EDDSA_ED25519},
};

static const char *const jws_fault_texts[] = {
    [JWS_FAULT_NONE]      = "token is valid",
    [JWS_FAULT_SIZE]      = "token is too long",
    [JWS_FAULT_FORM]      = "token is not a compact JWS",
    [JWS_FAULT_HEADER]    = "token header is malformed",
    [JWS_FAULT_EXTENSION] = "token header has crit, b64 or zip",
    [JWS_FAULT_TYP]       = "token typ is not accepted",
    [JWS_FAULT_ALG]       = "token alg is not accepted",
    [JWS_FAULT_KEY]       = "no key matches the token",
    [JWS_FAULT_SIGNATURE] = "token signature is wrong",
    [JWS_FAULT_OURS]      = "token could not be checked",
};
/* clang-format on */

#define ALG_COUNT (sizeof(jws_algs) / sizeof(jws_algs[0]))

const struct jws_alg *
jws_alg_find(const char *name)
{
    for (size_t i = 0; i < ALG_COUNT; i++)
        if (strcmp(name, jws_algs[i].name) == 0)
            return &jws_algs[i];
    return NULL;
}

bool
jws_alg_fits(const struct jws_alg *alg, const struct jwk *key)
{
    gnutls_ecc_curve_t curve = key->curve != NULL ? key->curve->gnutls : GNUTLS_ECC_CURVE_INVALID;
    return alg->kty == key->kty && alg->curve == curve;
}

const struct jws_alg *
jws_alg_of_key(const struct jwk *key)
{
    for (size_t i = 0; i < ALG_COUNT; i++)
        if (jws_alg_fits(&jws_algs[i], key))
            return &jws_algs[i];
    return NULL;
}

const char *
jws_fault_text(enum jws_fault fault)
{
    return jws_fault_texts[fault];
}

static enum az_status
jws_refuse(enum jws_fault fault, enum jws_fault *ret_fault)
{
    if (ret_fault != NULL)
        *ret_fault = fault;
    return fault == JWS_FAULT_OURS ? AZ_SERVER_ERROR : AZ_INVALID;
}

/*
 * Split a token: header "." payload "." signature (RFC 7515 section 7.1). An empty signature
 * ("alg":"none") and a fourth part (a JWE has five) are refused.
 */
static bool
jws_split(const char *text, size_t len, const char *parts[3], size_t lens[3])
{
    const char *end = text + len;

    for (int i = 0; i < 2; i++) {
        const char *dot = memchr(text, '.', (size_t) (end - text));
        if (dot == NULL)
            return false;
        parts[i] = text;
        lens[i] = (size_t) (dot - text);
        text = dot + 1;
    }
    parts[2] = text;
    lens[2] = (size_t) (end - text);
    return lens[0] > 0 && lens[2] > 0 && memchr(text, '.', lens[2]) == NULL;
}

/* Read a member that is absent or text; alg is required. */
static bool
read_text(const json_t *header, const char *name, const char **ret)
{
    const json_t *value = json_object_get(header, name);

    *ret = json_string_value(value);
    return value == NULL || (json_is_string(value) && json_string_length(value) <= JWK_NAME_MAX);
}

/*
 * Refuse extensions. crit names those that a reader must understand, and this service understands
 * none (RFC 7515 4.1.11). b64 (RFC 7797) would change what is signed; zip belongs to encryption,
 * and allows memory bombs.
 */
static bool
has_extension(const json_t *header)
{
    return json_object_get(header, "crit") != NULL || json_object_get(header, "b64") != NULL
           || json_object_get(header, "zip") != NULL;
}

static enum az_status
read_header(struct jws *jws, const char *text, size_t len, enum jws_fault *ret_fault)
{
    json_t *header;

    enum az_status status = jsonx_parse(jws, text, len, JWS_HEADER_DEPTH_MAX, &header, NULL);
    if (status != AZ_OK)
        return jws_refuse(status == AZ_INVALID ? JWS_FAULT_HEADER : JWS_FAULT_OURS, ret_fault);
    if (!json_is_object(header) || !read_text(header, "alg", &jws->alg) || jws->alg == NULL
        || !read_text(header, "kid", &jws->kid) || !read_text(header, "typ", &jws->typ))
        return jws_refuse(JWS_FAULT_HEADER, ret_fault);
    if (has_extension(header))
        return jws_refuse(JWS_FAULT_EXTENSION, ret_fault);
    jws->header = header;
    return AZ_OK;
}

static enum az_status
decode_parts(struct jws *jws, const char *text, size_t len, enum jws_fault *ret_fault)
{
    const char *parts[3];
    size_t lens[3];
    unsigned char *octets[3];

    if (!jws_split(text, len, parts, lens))
        return jws_refuse(JWS_FAULT_FORM, ret_fault);
    for (int i = 0; i < 3; i++) {
        enum az_status status = b64url_decode(jws, parts[i], lens[i], &octets[i], &lens[i]);
        if (status != AZ_OK)
            return jws_refuse(status == AZ_INVALID ? JWS_FAULT_FORM : JWS_FAULT_OURS, ret_fault);
    }
    jws->payload = octets[1];
    jws->payload_len = lens[1];
    jws->signature = octets[2];
    jws->signature_len = lens[2];
    jws->signed_len = (size_t) (parts[2] - text) - 1;
    jws->signed_text = talloc_strndup(jws, text, jws->signed_len);
    if (jws->signed_text == NULL)
        return jws_refuse(JWS_FAULT_OURS, ret_fault);
    return read_header(jws, (const char *) octets[0], lens[0], ret_fault);
}

enum az_status
jws_parse_unverified(TALLOC_CTX *mem, const char *text, size_t len, struct jws **ret,
                     enum jws_fault *ret_fault)
{
    if (len > JWS_OCTETS_MAX)
        return jws_refuse(JWS_FAULT_SIZE, ret_fault);
    struct jws *jws = talloc_zero(mem, struct jws);
    if (jws == NULL)
        return jws_refuse(JWS_FAULT_OURS, ret_fault);
    enum az_status status = decode_parts(jws, text, len, ret_fault);
    if (status == AZ_OK)
        *ret = jws;
    else
        talloc_free(jws);
    return status;
}

/* Compare a media type without regard to case, with or without "application/" (RFC 7515 section
 * 4.1.9). */
static bool
typ_is(const char *typ, const char *expected)
{
    static const char prefix[] = "application/";

    if (strncasecmp(typ, prefix, sizeof(prefix) - 1) == 0)
        typ += sizeof(prefix) - 1;
    return strcasecmp(typ, expected) == 0;
}

static bool
typ_accepted(const struct jws *jws, const struct jws_policy *policy)
{
    if (jws->typ == NULL)
        return policy->typ_optional;
    for (size_t i = 0; policy->types[i] != NULL; i++)
        if (typ_is(jws->typ, policy->types[i]))
            return true;
    return false;
}

static const struct jws_alg *
alg_accepted(const struct jws *jws, const struct jws_policy *policy)
{
    for (size_t i = 0; policy->algs[i] != NULL; i++)
        if (strcmp(jws->alg, policy->algs[i]) == 0)
            return jws_alg_find(jws->alg);
    return NULL;
}

static bool
use_accepted(const struct jwk *key, const char *wanted)
{
    if (wanted != NULL)
        return key->use != NULL && strcmp(key->use, wanted) == 0;
    return key->use == NULL || strcmp(key->use, "sig") == 0;
}

/* True if the key may verify signatures by some algorithm. */
static bool
key_is_usable(const struct jwk *key)
{
    const struct jws_alg *alg = key->alg != NULL ? jws_alg_find(key->alg) : jws_alg_of_key(key);
    return alg != NULL && jws_alg_fits(alg, key) && key->may_verify && use_accepted(key, NULL);
}

const char *
jws_set_fault(const json_t *jwks)
{
    struct jwk_set *set;
    TALLOC_CTX *scratch = talloc_new(NULL);
    bool usable = false;
    if (scratch != NULL && jwk_set_parse(scratch, jwks, JWK_SET_FETCHED, &set, NULL) == AZ_OK)
        for (size_t i = 0; i < set->count; i++)
            usable = usable || key_is_usable(set->keys[i]);
    talloc_free(scratch);
    return usable ? NULL : "must have a key that can verify signatures";
}

/* True if a key may verify this token: a key that states its kid, use or alg is used for nothing
 * else. */
static bool
key_fits(const struct jwk *key, const struct jws *jws, const struct jws_alg *alg,
         const struct jws_policy *policy)
{
    if (jws->kid != NULL && (key->kid == NULL || strcmp(jws->kid, key->kid) != 0))
        return false;
    if (key->alg != NULL && strcmp(key->alg, alg->name) != 0)
        return false;
    return jws_alg_fits(alg, key) && key->may_verify && use_accepted(key, policy->key_use);
}

/*
 * Return the signature in the form that GnuTLS expects. JOSE puts r and s of ECDSA side by side,
 * each exactly as long as the curve (RFC 7518 section 3.4); other lengths are refused, so that a
 * signature has one text. Free *ret with gnutls_free() if it is not the token's own. Return a code
 * of GnuTLS.
 */
static int
native_signature(const struct jws *jws, const struct jwk *key, gnutls_datum_t *ret)
{
    unsigned char *octets = (unsigned char *) (uintptr_t) jws->signature;
    size_t len = jws->signature_len;

    *ret = (gnutls_datum_t){.data = octets, .size = (unsigned) len};
    if (key->kty == JWK_RSA)
        return len == (key->bits + 7) / 8 ? 0 : GNUTLS_E_PK_SIG_VERIFY_FAILED;
    size_t half = key->curve->octets;
    if (len != 2 * half)
        return GNUTLS_E_PK_SIG_VERIFY_FAILED;
    if (key->kty == JWK_OKP)
        return 0;
    gnutls_datum_t r = {.data = octets, .size = (unsigned) half};
    gnutls_datum_t s = {.data = octets + half, .size = (unsigned) half};
    return gnutls_encode_rs_value(ret, &r, &s);
}

/* Return a code of GnuTLS; a negative one: the signature is not good, or there was no memory. */
static int
check_signature(const struct jws *jws, const struct jws_alg *alg, const struct jwk *key)
{
    gnutls_datum_t signature;
    gnutls_datum_t text = {.data = (unsigned char *) (uintptr_t) jws->signed_text,
                           .size = (unsigned) jws->signed_len};

    int code = native_signature(jws, key, &signature);
    if (code != 0)
        return code;
    code = gnutls_pubkey_verify_data2(key->pub, alg->sign, 0, &text, &signature);
    if (signature.data != jws->signature)
        gnutls_free(signature.data);
    return code;
}

enum az_status
jws_check_header(const struct jws *jws, const struct jws_policy *policy, enum jws_fault *ret_fault)
{
    if (!typ_accepted(jws, policy))
        return jws_refuse(JWS_FAULT_TYP, ret_fault);
    return alg_accepted(jws, policy) != NULL ? AZ_OK : jws_refuse(JWS_FAULT_ALG, ret_fault);
}

enum az_status
jws_verify(const struct jws *jws, const struct jws_policy *policy, const struct jwk **ret_key,
           enum jws_fault *ret_fault)
{
    unsigned tries = 0;

    enum az_status status = jws_check_header(jws, policy, ret_fault);
    if (status != AZ_OK)
        return status;
    const struct jws_alg *alg = alg_accepted(jws, policy);
    for (size_t i = 0; i < policy->keys->count && tries < JWS_TRIES_MAX; i++) {
        const struct jwk *key = policy->keys->keys[i];
        if (!key_fits(key, jws, alg, policy))
            continue;
        tries++;
        int code = check_signature(jws, alg, key);
        if (code == GNUTLS_E_MEMORY_ERROR) /* an ID token that names a session is not a bad one */
            return jws_refuse(JWS_FAULT_OURS, ret_fault);
        if (code < 0)
            continue;
        if (ret_key != NULL)
            *ret_key = key;
        return AZ_OK;
    }
    return jws_refuse(tries > 0 ? JWS_FAULT_SIGNATURE : JWS_FAULT_KEY, ret_fault);
}

bool
jws_key_may_be_new(const struct jws *jws, enum jws_fault fault)
{
    return fault == JWS_FAULT_KEY || (fault == JWS_FAULT_SIGNATURE && jws->kid == NULL);
}
