/*
 * Signed JSON objects in compact form (RFC 7515 section 7.1): checking those of others, making
 * ours.
 *
 * The caller says which keys, which algorithms and which "typ" it takes; nothing in a token widens
 * that. There is no "none" and no HMAC here. "crit", "b64" and "zip" are refused; "jwk", "jku",
 * "x5u" and "x5c" are never looked at. A DPoP proof's "jwk" is the one exception, and there it is
 * the caller who takes it out of the header and passes it as the key set.
 */
#ifndef AZ_CRYPTO_JWS_H
#define AZ_CRYPTO_JWS_H

#include <stdbool.h>

#include "base/status.h"
#include "crypto/jwk.h"
#include "crypto/jwk_set.h"

/* Longer tokens do not occur; a longer one would only be work for us (oauth.md J2). */
#define JWS_OCTETS_MAX (16 * 1024)

/* Depth of a header: the object, a jwk in it, an array of that. */
#define JWS_HEADER_DEPTH_MAX 4

/* Verifications for one token when it names no kid: so many keys a small token may put us to work.
 */
#define JWS_TRIES_MAX 20

/* One row per algorithm (RFC 7518 section 3.1, RFC 8037 section 3.1). */
struct jws_alg {
    const char *name;             /* alg */
    enum jwk_kty kty;             /* of its keys */
    gnutls_ecc_curve_t curve;     /* of its keys; GNUTLS_ECC_CURVE_INVALID for RSA */
    gnutls_sign_algorithm_t sign; /* the one that refuses other curves and other salts */
};

/* The row of a name; NULL when it is not one of ours. */
const struct jws_alg *jws_alg_find(const char *name);

/* The first row that fits a key: RS256 for RSA, the curve's own for the others. */
const struct jws_alg *jws_alg_of_key(const struct jwk *key);

/* Whether a key is of the kind and the curve that an algorithm wants. */
bool jws_alg_fits(const struct jws_alg *alg, const struct jwk *key);

/* Why a token is refused. */
enum jws_fault {
    JWS_FAULT_NONE,
    JWS_FAULT_SIZE,      /* longer than JWS_OCTETS_MAX */
    JWS_FAULT_FORM,      /* not three parts of base64url, or no signature */
    JWS_FAULT_HEADER,    /* header is no JSON object, or alg, kid or typ has the wrong type */
    JWS_FAULT_EXTENSION, /* crit, b64 or zip */
    JWS_FAULT_TYP,       /* typ is none of those expected */
    JWS_FAULT_ALG,       /* alg is unknown or not allowed */
    JWS_FAULT_KEY,       /* no key fits: a caller that caches keys may fetch them anew */
    JWS_FAULT_SIGNATURE, /* keys fit, but none verifies */
    JWS_FAULT_OURS,      /* out of memory and the like; comes with AZ_SERVER_ERROR */
};

/* A constant text for the log or an error_description. */
const char *jws_fault_text(enum jws_fault fault);

/* What a caller takes. All pointers are the caller's. */
struct jws_policy {
    const struct jwk_set *keys; /* nothing else verifies */
    const char *const *algs;    /* names, NULL at the end */
    const char *const *types;   /* media types without "application/", NULL at the end */
    bool typ_optional;          /* a token without typ is taken too */
    const char *key_use;        /* NULL: keys with use "sig" or none; else exactly this use */
};

/* A token taken apart. Nothing in it may be believed before jws_verify() says AZ_OK. */
struct jws {
    const json_t *header; /* the object */
    const char *alg;      /* as the header has it; kid and typ are NULL when absent */
    const char *kid;
    const char *typ;
    const unsigned char *payload; /* decoded, followed by a NUL that payload_len does not count */
    size_t payload_len;
    const char *signed_text; /* header "." payload as received: what is signed */
    size_t signed_len;
    const unsigned char *signature; /* decoded */
    size_t signature_len;
};

/*
 * Takes a token apart without verifying it: for callers that must read who claims to have signed
 * before they can know the keys. *ret belongs to mem. AZ_INVALID: SIZE, FORM, HEADER or EXTENSION.
 * ret_fault may be NULL here and below.
 */
enum az_status jws_parse_unverified(TALLOC_CTX *mem, const char *text, size_t len, struct jws **ret,
                                    enum jws_fault *ret_fault);

/*
 * Checks a token that was taken apart: typ, alg, then each key that fits kid, alg and use until one
 * verifies. *ret_key (unless ret_key is NULL) becomes that key. AZ_INVALID: TYP, ALG, KEY,
 * SIGNATURE.
 */
enum az_status jws_verify(const struct jws *jws, const struct jws_policy *policy,
                          const struct jwk **ret_key, enum jws_fault *ret_fault);

/*
 * Signs. alg must be of our table and fit the key, which must have its private half; typ may be
 * NULL; the key's kid, if it has one, goes into the header. *ret belongs to mem and is
 * NUL-terminated. AZ_INVALID: alg or key do not fit, or the result would pass JWS_OCTETS_MAX.
 */
enum az_status jws_sign(TALLOC_CTX *mem, const struct jwk *key, const char *alg, const char *typ,
                        const void *payload, size_t payload_len, char **ret);

/* The same with a JSON object as payload. */
enum az_status jws_sign_json(TALLOC_CTX *mem, const struct jwk *key, const char *alg,
                             const char *typ, const json_t *payload, char **ret);

#endif
