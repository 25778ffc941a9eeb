/* Keys for tests: pairs of curves, which the service verifies but does not make, and sets from keys
 * that the test made or from text. */
#ifndef AZ_T_KEYS_H
#define AZ_T_KEYS_H

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "crypto/jwk.h"
#include "crypto/jwk_set.h"
#include "crypto/keypair.h"

/* Nesting of a key set: set, keys, key and x5c are 4; the rest is for ignored members. */
#define KEYS_DEPTH_MAX 8

/* Generate a pair of a curve: "P-256", "P-384", "P-521" or "Ed25519". */
static inline enum az_status
keys_generate_ec(TALLOC_CTX *mem, const char *curve, struct jwk **ret)
{
    const struct jwk_curve *row = jwk_curve_find(curve);
    gnutls_x509_privkey_t key;
    gnutls_datum_t der = {NULL, 0};
    if (row == NULL || gnutls_x509_privkey_init(&key) != 0)
        return AZ_SERVER_ERROR;
    enum az_status st = AZ_SERVER_ERROR;
    if (gnutls_x509_privkey_generate(
            key, row->kty == JWK_OKP ? GNUTLS_PK_EDDSA_ED25519 : GNUTLS_PK_ECDSA,
            GNUTLS_CURVE_TO_BITS(row->gnutls), 0)
            == 0
        && gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_DER, NULL, GNUTLS_PKCS_PLAIN,
                                             &der)
               == 0)
        st = keypair_parse(mem, der.data, der.size, ret);
    gnutls_free(der.data);
    gnutls_x509_privkey_deinit(key);
    return st;
}

/* Sign header and claims as they are, whatever they say, by ES256 with the pair of a P-256 key.
 * Return the compact JWS on mem; NULL: no memory, or the library failed. */
static inline char *
keys_sign_es256(TALLOC_CTX *mem, const struct jwk *key, const char *header, const char *claims,
                size_t claims_length)
{
    char *text = talloc_asprintf(mem, "%s.%s", b64url_encode(mem, header, strlen(header)),
                                 b64url_encode(mem, claims, claims_length));
    gnutls_datum_t data = {(unsigned char *) text, (unsigned) strlen(text)}, der, number[2];
    unsigned char octets[64] = {0};
    if (gnutls_privkey_sign_data2(key->priv, GNUTLS_SIGN_ECDSA_SECP256R1_SHA256, 0, &data, &der)
            != 0
        || gnutls_decode_rs_value(&der, &number[0], &number[1]) != 0)
        return NULL;
    gnutls_free(der.data);
    for (int i = 0; i < 2; i++) {
        /* A number may have a zero in front, or be short. */
        size_t size = number[i].size < 32 ? number[i].size : 32;
        memcpy(octets + 32 * i + 32 - size, number[i].data + number[i].size - size, size);
        gnutls_free(number[i].data);
    }
    return talloc_asprintf(mem, "%s.%s", text, b64url_encode(mem, octets, sizeof(octets)));
}

/* Return a set of keys that live as long as it. */
static inline struct jwk_set *
keys_of(TALLOC_CTX *mem, const struct jwk *const *keys, size_t count)
{
    struct jwk_set *set = talloc_zero(mem, struct jwk_set);
    set->keys = talloc_array(set, const struct jwk *, (unsigned) count + 1);
    for (size_t i = 0; i < count; i++)
        set->keys[i] = keys[i];
    set->count = count;
    return set;
}

/* Read a set from text as a service reads the body that it is in. */
static inline enum az_status
keys_parse_text(TALLOC_CTX *mem, const char *text, size_t length, enum jwk_set_mode mode,
                struct jwk_set **ret, const char **ret_why)
{
    json_t *object = NULL;
    enum az_status st = jsonx_parse(mem, text, length, KEYS_DEPTH_MAX, &object, ret_why);
    return st == AZ_OK ? jwk_set_parse(mem, object, mode, ret, ret_why) : st;
}

#endif
