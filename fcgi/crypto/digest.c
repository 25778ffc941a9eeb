#include "config.h"

#include "crypto/digest.h"

#include <gnutls/crypto.h>
#include <stdint.h>
#include <string.h>

enum az_status
sha256(const void *data, size_t len, unsigned char ret[SHA256_OCTETS])
{
    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, data, len, ret) == 0)
        return AZ_OK;
    secret_wipe(ret, SHA256_OCTETS);
    return AZ_SERVER_ERROR;
}

void
digest_hex(const unsigned char digest[SHA256_OCTETS], char ret[SHA256_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < SHA256_OCTETS; i++) {
        ret[2 * i] = digits[digest[i] >> 4];
        ret[2 * i + 1] = digits[digest[i] & 0x0f];
    }
    ret[2 * SHA256_OCTETS] = '\0';
}

enum az_status
sha256_hex(const void *data, size_t len, char ret[SHA256_HEX_SIZE])
{
    unsigned char digest[SHA256_OCTETS];

    enum az_status status = sha256(data, len, digest);
    digest_hex(digest, ret);
    return status;
}

enum az_status
sha256_texts_equal(const char *a, const char *b, bool *ret)
{
    unsigned char digest_a[SHA256_OCTETS], digest_b[SHA256_OCTETS];

    *ret = false;
    if (sha256(a, strlen(a), digest_a) != AZ_OK || sha256(b, strlen(b), digest_b) != AZ_OK)
        return AZ_SERVER_ERROR;
    *ret = secret_equal(digest_a, SHA256_OCTETS, digest_b, SHA256_OCTETS);
    return AZ_OK;
}

enum az_status
hmac_sha256(const void *key, size_t key_len, const void *data, size_t len,
            unsigned char ret[SHA256_OCTETS])
{
    if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, key_len, data, len, ret) == 0)
        return AZ_OK;
    secret_wipe(ret, SHA256_OCTETS);
    return AZ_SERVER_ERROR;
}

/* Return a datum over octets that GnuTLS only reads; its struct lacks the const. */
static gnutls_datum_t
datum(const void *data, size_t len)
{
    return (gnutls_datum_t){.data = (unsigned char *) (uintptr_t) data, .size = (unsigned) len};
}

enum az_status
hkdf_sha256(const void *secret, size_t secret_len, const void *salt, size_t salt_len,
            const void *info, size_t info_len, void *ret, size_t ret_len)
{
    unsigned char key[SHA256_OCTETS];

    if (ret_len == 0 || ret_len > HKDF_SHA256_MAX || secret_len > UINT32_MAX
        || salt_len > UINT32_MAX || info_len > UINT32_MAX)
        return AZ_INVALID;
    gnutls_datum_t secret_datum = datum(secret, secret_len);
    gnutls_datum_t salt_datum = datum(salt, salt_len);
    gnutls_datum_t key_datum = datum(key, sizeof(key));
    gnutls_datum_t info_datum = datum(info, info_len);
    int failed = gnutls_hkdf_extract(GNUTLS_MAC_SHA256, &secret_datum, &salt_datum, key);
    if (!failed)
        failed = gnutls_hkdf_expand(GNUTLS_MAC_SHA256, &key_datum, &info_datum, ret, ret_len);
    secret_wipe(key, sizeof(key));
    if (!failed)
        return AZ_OK;
    secret_wipe(ret, ret_len);
    return AZ_SERVER_ERROR;
}
