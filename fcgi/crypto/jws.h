/*
 * Signed JSON objects in compact form (RFC 7515 section 7.1): verification of tokens of others, and
 * signing.
 *
 * The caller states which keys, algorithms and "typ" it accepts; nothing in a token widens that.
 * There is no "none" and no HMAC here. "crit", "b64" and "zip" are refused; "jwk", "jku", "x5u" and
 * "x5c" are ignored. The "jwk" of a DPoP proof is the one exception: its caller takes it out of the
 * header and passes it as the key set.
 */
#ifndef AZ_CRYPTO_JWS_H
#define AZ_CRYPTO_JWS_H

#include <stdbool.h>

#include "base/status.h"
#include "crypto/jwk.h"
#include "crypto/jwk_set.h"

/* Longest token, in octets. Longer ones do not occur, and would only cost work (oauth.md J2). */
#define JWS_OCTETS_MAX (16 * 1024)

/* Depth of a header: the object, a jwk in it, and an array in that. */
#define JWS_HEADER_DEPTH_MAX 4

/* Most verifications for one token that names no kid; it limits the work that a small token can
 * cause. */
#define JWS_TRIES_MAX 20

/* One row per algorithm (RFC 7518 section 3.1, RFC 8037 section 3.1, RFC 9864 section 2.2). */
struct jws_alg {
    const char *name;             /* alg */
    enum jwk_kty kty;             /* of its keys */
    gnutls_ecc_curve_t curve;     /* curve of its keys; GNUTLS_ECC_CURVE_INVALID for RSA */
    gnutls_sign_algorithm_t sign; /* the variant that refuses other curves and other salts */
};

/* Return the row of a name; NULL: the service does not use it. */
const struct jws_alg *jws_alg_find(const char *name);

/* Return the first row that fits a key: RS256 for RSA, the algorithm of the curve for the
 * others. */
const struct jws_alg *jws_alg_of_key(const struct jwk *key);

/* True if a key has the kind and the curve of an algorithm. */
bool jws_alg_fits(const struct jws_alg *alg, const struct jwk *key);

/* Return the fault of a JWK Set that was read (jwk_set_rule()) and has no key for the signatures of
 * its owner, or NULL. The text fits after the name of the member that holds the set. */
const char *jws_set_fault(const json_t *jwks);

/* Reasons to refuse a token. */
enum jws_fault {
    JWS_FAULT_NONE,
    JWS_FAULT_SIZE,      /* longer than JWS_OCTETS_MAX */
    JWS_FAULT_FORM,      /* not three parts of base64url, or no signature */
    JWS_FAULT_HEADER,    /* header is not a JSON object, or alg, kid or typ has the wrong type */
    JWS_FAULT_EXTENSION, /* crit, b64 or zip */
    JWS_FAULT_TYP,       /* typ is not among those expected */
    JWS_FAULT_ALG,       /* alg is unknown or not allowed */
    JWS_FAULT_KEY,       /* no key fits: a caller that caches keys may fetch them again */
    JWS_FAULT_SIGNATURE, /* keys fit, but none verifies */
    JWS_FAULT_OURS,      /* out of memory and the like; comes with AZ_SERVER_ERROR */
};

/* Return a constant text for the log or an error_description. */
const char *jws_fault_text(enum jws_fault fault);

/* The keys and tokens that a caller accepts. The caller owns all pointers. */
struct jws_policy {
    const struct jwk_set *keys; /* nothing else verifies */
    const char *const *algs;    /* names, then NULL */
    const char *const *types;   /* media types without "application/", then NULL */
    bool typ_optional;          /* a token without typ is accepted too */
    const char *key_use;        /* NULL: keys with use "sig" or none; else exactly this use */
};

/* The parts of a token. Do not trust anything in it before jws_verify() returns AZ_OK. */
struct jws {
    const json_t *header; /* the object */
    const char *alg;      /* as in the header; kid and typ are NULL if absent */
    const char *kid;
    const char *typ;
    const unsigned char *payload; /* decoded, followed by a NUL that payload_len does not count */
    size_t payload_len;
    const char *signed_text; /* header "." payload as received: the signed text */
    size_t signed_len;
    const unsigned char *signature; /* decoded */
    size_t signature_len;
};

/*
 * Split a token without verifying it, for callers that must read the claimed issuer before they can
 * know the keys. *ret belongs to mem. AZ_INVALID: SIZE, FORM, HEADER or EXTENSION. ret_fault may be
 * NULL here and below.
 */
enum az_status jws_parse_unverified(TALLOC_CTX *mem, const char *text, size_t len, struct jws **ret,
                                    enum jws_fault *ret_fault);

/* Check typ and alg alone, as jws_verify() does first: for callers whose key costs work.
 * policy->keys is not read. AZ_INVALID: TYP, ALG. */
enum az_status jws_check_header(const struct jws *jws, const struct jws_policy *policy,
                                enum jws_fault *ret_fault);

/*
 * Verify a token that was split: typ, alg, then each key that fits kid, alg and use until one
 * verifies. *ret_key (unless ret_key is NULL) becomes that key. AZ_INVALID: TYP, ALG, KEY,
 * SIGNATURE.
 */
enum az_status jws_verify(const struct jws *jws, const struct jws_policy *policy,
                          const struct jwk **ret_key, enum jws_fault *ret_fault);

/*
 * True if a token that jws_verify() refused may be signed by a key that is newer than the set, so
 * that a caller that fetches the set fetches it again. A new key has a new kid; in a token without
 * kid only the signature can tell. Anybody can send an unknown kid: limit how often.
 */
bool jws_key_may_be_new(const struct jws *jws, enum jws_fault fault);

/*
 * Sign a payload. alg must be in the table and fit the key, which must have its private half; typ
 * may be NULL; the header gets the kid of the key, if there is one. *ret belongs to mem and is
 * NUL-terminated. AZ_INVALID: alg or key do not fit, or the result would exceed JWS_OCTETS_MAX.
 */
enum az_status jws_sign(TALLOC_CTX *mem, const struct jwk *key, const char *alg, const char *typ,
                        const void *payload, size_t payload_len, char **ret);

/* Sign a JSON object as payload. */
enum az_status jws_sign_json(TALLOC_CTX *mem, const struct jwk *key, const char *alg,
                             const char *typ, const json_t *payload, char **ret);

#endif
