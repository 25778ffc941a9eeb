#include "config.h"

#include "crypto/seal.h"

#include <gnutls/crypto.h>
#include <string.h>

#include "crypto/digest.h"
#include "crypto/random.h"

#define SEAL_VERSION 1

/* Octets of version and key id. */
#define HEADER_OCTETS (1 + SEAL_KEY_ID_OCTETS)

/* Separate these keys from all others that may be derived from the same text. */
static const char key_label[] = "authz seal 1 key ";
static const char id_label[] = "authz seal 1 id ";

static enum az_status
derive(const char *credential_key, size_t len, const char *label, const char *purpose, void *ret,
       size_t ret_len)
{
    char info[64 + SEAL_PLACE_MAX];
    size_t label_len = strlen(label);
    size_t purpose_len = strlen(purpose);

    memcpy(info, label, label_len);
    memcpy(info + label_len, purpose, purpose_len);
    return hkdf_sha256(credential_key, len, NULL, 0, info, label_len + purpose_len, ret, ret_len);
}

enum az_status
seal_key_derive(const char *credential_key, size_t len, const char *purpose, struct seal_key *ret)
{
    struct seal_key key;

    if (len < SEAL_CREDENTIAL_KEY_MIN || purpose[0] == '\0' || strlen(purpose) > SEAL_PLACE_MAX)
        return AZ_INVALID;
    enum az_status status =
        derive(credential_key, len, key_label, purpose, key.key, sizeof(key.key));
    if (status == AZ_OK)
        status = derive(credential_key, len, id_label, purpose, key.id, sizeof(key.id));
    if (status == AZ_OK)
        *ret = key;
    secret_wipe(&key, sizeof(key));
    return status;
}

/* Return header and place in the form that the cipher authenticates; the header has a fixed
 * length. */
struct associated {
    unsigned char octets[HEADER_OCTETS + SEAL_PLACE_MAX];
    size_t len;
};

static bool
associate(const struct seal_key *key, const char *place, struct associated *ret)
{
    size_t place_len = strlen(place);

    if (place_len == 0 || place_len > SEAL_PLACE_MAX)
        return false;
    ret->octets[0] = SEAL_VERSION;
    memcpy(ret->octets + 1, key->id, SEAL_KEY_ID_OCTETS);
    memcpy(ret->octets + HEADER_OCTETS, place, place_len);
    ret->len = HEADER_OCTETS + place_len;
    return true;
}

static void
cipher_done(gnutls_aead_cipher_hd_t *cipher)
{
    if (*cipher != NULL)
        gnutls_aead_cipher_deinit(*cipher);
}

#define CIPHER_AUTO __attribute__((cleanup(cipher_done))) gnutls_aead_cipher_hd_t

static int
cipher_init(gnutls_aead_cipher_hd_t *cipher, const struct seal_key *key)
{
    unsigned char copy[SEAL_KEY_OCTETS];
    gnutls_datum_t datum = {.data = copy, .size = sizeof(copy)};

    memcpy(copy, key->key, sizeof(copy));
    int failed = gnutls_aead_cipher_init(cipher, GNUTLS_CIPHER_AES_256_GCM, &datum);
    secret_wipe(copy, sizeof(copy));
    return failed;
}

enum az_status
seal_box(TALLOC_CTX *mem, const struct seal_key *key, const char *place, const void *plain,
         size_t len, unsigned char **ret, size_t *ret_len)
{
    struct associated data;
    CIPHER_AUTO cipher = NULL;

    if (len > SEAL_PLAIN_MAX || !associate(key, place, &data))
        return AZ_INVALID;
    unsigned char *box = talloc_size(mem, len + SEAL_OVERHEAD);
    if (box == NULL)
        return AZ_SERVER_ERROR;
    unsigned char *nonce = box + HEADER_OCTETS;
    size_t sealed_len = len + SEAL_TAG_OCTETS;
    memcpy(box, data.octets, HEADER_OCTETS);
    if (random_nonce(nonce, SEAL_NONCE_OCTETS) != AZ_OK || cipher_init(&cipher, key) != 0
        || gnutls_aead_cipher_encrypt(cipher, nonce, SEAL_NONCE_OCTETS, data.octets, data.len,
                                      SEAL_TAG_OCTETS, plain, len, nonce + SEAL_NONCE_OCTETS,
                                      &sealed_len)
               != 0
        || sealed_len != len + SEAL_TAG_OCTETS) {
        talloc_free(box);
        return AZ_SERVER_ERROR;
    }
    *ret = box;
    *ret_len = len + SEAL_OVERHEAD;
    return AZ_OK;
}

bool
seal_is_of_key(const struct seal_key *key, const void *box, size_t len)
{
    const unsigned char *octets = box;

    return len >= SEAL_OVERHEAD && octets[0] == SEAL_VERSION
           && memcmp(octets + 1, key->id, SEAL_KEY_ID_OCTETS) == 0;
}

enum az_status
seal_open(TALLOC_CTX *mem, const struct seal_key *key, const char *place, const void *box,
          size_t len, unsigned char **ret, size_t *ret_len)
{
    struct associated data;
    CIPHER_AUTO cipher = NULL;

    if (!seal_is_of_key(key, box, len) || len > SEAL_PLAIN_MAX + SEAL_OVERHEAD
        || !associate(key, place, &data))
        return AZ_INVALID;
    const unsigned char *nonce = (const unsigned char *) box + HEADER_OCTETS;
    size_t plain_len = len - SEAL_OVERHEAD;
    unsigned char *plain = secret_alloc(mem, plain_len + 1);
    if (plain == NULL)
        return AZ_SERVER_ERROR;
    if (cipher_init(&cipher, key) != 0) {
        talloc_free(plain);
        return AZ_SERVER_ERROR;
    }
    size_t opened_len = plain_len;
    if (gnutls_aead_cipher_decrypt(cipher, nonce, SEAL_NONCE_OCTETS, data.octets, data.len,
                                   SEAL_TAG_OCTETS, nonce + SEAL_NONCE_OCTETS,
                                   plain_len + SEAL_TAG_OCTETS, plain, &opened_len)
            != 0
        || opened_len != plain_len) {
        talloc_free(plain);
        return AZ_INVALID;
    }
    plain[plain_len] = '\0';
    *ret = plain;
    *ret_len = plain_len;
    return AZ_OK;
}
