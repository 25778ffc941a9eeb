#include "config.h"

#include "crypto/keypair.h"

#include <gnutls/x509.h>
#include <stdint.h>
#include <string.h>

#include "crypto/jws.h"
#include "crypto/secret.h"

/* PKCS#8 of an RSA-8192 key takes about 5 KiB. */
#define DER_MAX 8192

static void
x509_privkey_done(gnutls_x509_privkey_t *key)
{
    if (*key != NULL)
        gnutls_x509_privkey_deinit(*key);
}

#define X509_PRIVKEY_AUTO __attribute__((cleanup(x509_privkey_done))) gnutls_x509_privkey_t

/* Set the kid of a new key to its thumbprint, which no other key has. */
static enum az_status
set_names(struct jwk *key)
{
    char thumbprint[JWK_THUMBPRINT_SIZE];

    enum az_status status = jwk_thumbprint(key, thumbprint);
    if (status != AZ_OK)
        return status;
    const struct jws_alg *alg = jws_alg_of_key(key);
    key->kid = talloc_strdup(key, thumbprint);
    key->use = "sig";
    key->alg = alg != NULL ? alg->name : NULL;
    return key->kid != NULL && key->alg != NULL ? AZ_OK : AZ_SERVER_ERROR;
}

/* Make a key with a kid from a copy of an x509 key. */
static enum az_status
wrap(TALLOC_CTX *mem, gnutls_x509_privkey_t from, struct jwk **ret)
{
    gnutls_pubkey_t pub = NULL;
    gnutls_privkey_t priv = NULL;
    struct jwk *key;

    if (gnutls_privkey_init(&priv) != 0)
        return AZ_SERVER_ERROR;
    if (gnutls_pubkey_init(&pub) != 0) {
        gnutls_privkey_deinit(priv);
        return AZ_SERVER_ERROR;
    }
    if (gnutls_privkey_import_x509(priv, from, GNUTLS_PRIVKEY_IMPORT_COPY) != 0
        || gnutls_pubkey_import_privkey(pub, priv, 0, 0) != 0) {
        gnutls_privkey_deinit(priv);
        gnutls_pubkey_deinit(pub);
        return AZ_SERVER_ERROR;
    }
    enum az_status status = jwk_wrap(mem, pub, priv, &key, NULL);
    if (status == AZ_OK)
        status = set_names(key);
    if (status == AZ_OK)
        *ret = key;
    return status;
}

static enum az_status
generate(TALLOC_CTX *mem, gnutls_pk_algorithm_t algorithm, unsigned bits, struct jwk **ret)
{
    X509_PRIVKEY_AUTO key = NULL;

    if (gnutls_x509_privkey_init(&key) != 0
        || gnutls_x509_privkey_generate(key, algorithm, bits, 0) != 0)
        return AZ_SERVER_ERROR;
    return wrap(mem, key, ret);
}

enum az_status
keypair_generate_rsa(TALLOC_CTX *mem, unsigned bits, struct jwk **ret)
{
    if (bits < JWK_RSA_BITS_MIN || bits > JWK_RSA_BITS_MAX)
        return AZ_INVALID;
    return generate(mem, GNUTLS_PK_RSA, bits, ret);
}

enum az_status
keypair_generate_p256(TALLOC_CTX *mem, struct jwk **ret)
{
    return generate(mem, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), ret);
}

enum az_status
keypair_dump(TALLOC_CTX *mem, const struct jwk *key, unsigned char **ret, size_t *ret_len)
{
    X509_PRIVKEY_AUTO x509 = NULL;
    gnutls_datum_t der = {NULL, 0};

    if (key->priv == NULL)
        return AZ_INVALID;
    if (gnutls_privkey_export_x509(key->priv, &x509) != 0
        || gnutls_x509_privkey_export2_pkcs8(x509, GNUTLS_X509_FMT_DER, NULL, GNUTLS_PKCS_PLAIN,
                                             &der)
               != 0)
        return AZ_SERVER_ERROR;
    unsigned char *copy = secret_alloc(mem, der.size);
    if (copy != NULL) {
        memcpy(copy, der.data, der.size);
        *ret = copy;
        *ret_len = der.size;
    }
    secret_wipe(der.data, der.size);
    gnutls_free(der.data);
    return copy != NULL ? AZ_OK : AZ_SERVER_ERROR;
}

enum az_status
keypair_parse(TALLOC_CTX *mem, const void *der, size_t len, struct jwk **ret)
{
    X509_PRIVKEY_AUTO key = NULL;
    gnutls_datum_t datum = {.data = (unsigned char *) (uintptr_t) der, .size = (unsigned) len};

    if (len == 0 || len > DER_MAX)
        return AZ_INVALID;
    if (gnutls_x509_privkey_init(&key) != 0)
        return AZ_SERVER_ERROR;
    if (gnutls_x509_privkey_import_pkcs8(key, &datum, GNUTLS_X509_FMT_DER, NULL, GNUTLS_PKCS_PLAIN)
        != 0)
        return AZ_INVALID;
    return wrap(mem, key, ret);
}
