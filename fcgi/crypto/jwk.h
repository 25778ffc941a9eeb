/*
 * JSON Web Keys (RFC 7517, 7518 section 6, 8037 section 2) of other servers and of this service:
 * keys for the signatures that this service can use, which are RSA, EC on the three NIST curves,
 * and OKP Ed25519.
 */
#ifndef AZ_CRYPTO_JWK_H
#define AZ_CRYPTO_JWK_H

#include <gnutls/abstract.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Below 2048 bits RSA is too weak; above 8192 bits one verification takes as long as hundreds. */
#define JWK_RSA_BITS_MIN 2048
#define JWK_RSA_BITS_MAX 8192

/* Longest RSA public exponent, in octets: a huge one makes verification as slow as signing. */
#define JWK_RSA_EXPONENT_MAX 4

/* Longest kid, use and alg, in octets. They are compared and logged, but nothing is looked up by
 * them. */
#define JWK_NAME_MAX 256

/* Size of base64url of a SHA-256 and a NUL. */
#define JWK_THUMBPRINT_SIZE 44

enum jwk_kty { JWK_RSA, JWK_EC, JWK_OKP };

/* One row per curve. */
struct jwk_curve {
    const char *name;          /* crv */
    enum jwk_kty kty;          /* EC or OKP */
    gnutls_ecc_curve_t gnutls; /* the library's name */
    size_t octets;             /* octets of a coordinate, of r and of s */
};

struct jwk {
    enum jwk_kty kty;              /* what it is */
    const struct jwk_curve *curve; /* NULL for RSA */
    unsigned bits;                 /* bits of the RSA modulus; 0 for other keys */
    const char *kid;               /* NULL if absent; the two below too */
    const char *use;               /* "sig", "enc", "jwt-svid", ... */
    const char *alg;               /* the only algorithm that the key may be used for */
    bool may_verify;               /* key_ops is absent or contains "verify" */
    gnutls_pubkey_t pub;           /* always there */
    gnutls_privkey_t priv;         /* NULL for a public key */
};

/*
 * Read one public key. A key with a private or symmetric member is refused: its owner has published
 * a secret. EC points must lie on their curve and RSA sizes keep the limits above; coordinates must
 * have their full length (RFC 7518 section 6.2.1.2). x5c, x5u and x5t are ignored. *ret belongs to
 * mem. AZ_INVALID: refused; *ret_why (unless NULL) becomes a constant public text.
 */
enum az_status jwk_parse(TALLOC_CTX *mem, const json_t *object, struct jwk **ret,
                         const char **ret_why);

/*
 * Make a key from GnuTLS handles; priv may be NULL. The key owns the handles from the call on, even
 * if it is refused. AZ_INVALID: a kind, curve or size that jwk_parse() would refuse.
 */
enum az_status jwk_wrap(TALLOC_CTX *mem, gnutls_pubkey_t pub, gnutls_privkey_t priv,
                        struct jwk **ret, const char **ret_why);

/*
 * Write the public half as JSON: kty and its members, then kid, use and alg if they are set, and no
 * private member. *ret is a new reference of the caller (json_auto_t, or jsonx_own()).
 */
enum az_status jwk_dump(const struct jwk *key, json_t **ret);

/* Compute the thumbprint of RFC 7638 with SHA-256. It is the same for every way in which one
 * public key can be written. */
enum az_status jwk_thumbprint(const struct jwk *key, char ret[JWK_THUMBPRINT_SIZE]);

/*
 * True if jwk_parse() refuses a key only because this service does not use its kind: an unknown kty
 * or crv, and no private or symmetric member.
 */
bool jwk_is_foreign(const json_t *object);

/* Return the row of a curve by its name or its GnuTLS number; NULL: the service does not use it. */
const struct jwk_curve *jwk_curve_find(const char *name);

#endif
