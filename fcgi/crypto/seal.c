#include "config.h"

#include "crypto/seal.h"

#include <gnutls/crypto.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "crypto/digest.h"
#include "crypto/random.h"

/* Versions of the format. */
#define WITHOUT_DAY 1
#define WITH_DAY 2

/* Octets before the nonce. */
#define HEADER_MAX (1 + SEAL_KEY_ID_OCTETS + SEAL_DAY_OCTETS)

/* Separate these keys from all others that may be derived from the same text. */
static const char key_label[] = "authz seal 1 key ";
static const char id_label[] = "authz seal 1 id ";
static const char root_label[] = "authz seal 2 root ";
static const char day_label[] = "authz seal 2 day ";

static enum az_status
derive(const void *secret, size_t len, const char *label, const char *purpose, void *ret,
       size_t ret_len)
{
    char info[64 + SEAL_PLACE_MAX];
    size_t label_len = strlen(label);
    size_t purpose_len = strlen(purpose);

    memcpy(info, label, label_len);
    memcpy(info + label_len, purpose, purpose_len);
    return hkdf_sha256(secret, len, NULL, 0, info, label_len + purpose_len, ret, ret_len);
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
        status = derive(credential_key, len, root_label, purpose, key.root, sizeof(key.root));
    if (status == AZ_OK)
        status = derive(credential_key, len, id_label, purpose, key.id, sizeof(key.id));
    if (status == AZ_OK)
        *ret = key;
    secret_wipe(&key, sizeof(key));
    return status;
}

enum az_status
seal_day_derive(const struct seal_key *key, uint32_t day, struct seal_day *ret)
{
    char text[16];
    struct seal_day made = {.day = day};

    snprintf(text, sizeof(text), "%" PRIu32, day);
    enum az_status status =
        derive(key->root, sizeof(key->root), day_label, text, made.key, sizeof(made.key));
    if (status == AZ_OK)
        *ret = made;
    secret_wipe(&made, sizeof(made));
    return status;
}

/* Header and place in the form that the cipher authenticates; the version decides the length of the
 * header. */
struct associated {
    unsigned char octets[HEADER_MAX + SEAL_PLACE_MAX];
    size_t header; /* octets before the place */
    size_t len;
};

static bool
associate(const struct seal_key *key, const struct seal_day *day, const char *place,
          struct associated *ret)
{
    size_t place_len = strlen(place);
    size_t used = 1 + SEAL_KEY_ID_OCTETS;

    if (place_len == 0 || place_len > SEAL_PLACE_MAX)
        return false;
    ret->octets[0] = day != NULL ? WITH_DAY : WITHOUT_DAY;
    memcpy(ret->octets + 1, key->id, SEAL_KEY_ID_OCTETS);
    for (int shift = 24; day != NULL && shift >= 0; shift -= 8)
        ret->octets[used++] = (unsigned char) (day->day >> shift);
    memcpy(ret->octets + used, place, place_len);
    ret->header = used;
    ret->len = used + place_len;
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
cipher_init(gnutls_aead_cipher_hd_t *cipher, const unsigned char key[SEAL_KEY_OCTETS])
{
    unsigned char copy[SEAL_KEY_OCTETS];
    gnutls_datum_t datum = {.data = copy, .size = sizeof(copy)};

    memcpy(copy, key, sizeof(copy));
    int failed = gnutls_aead_cipher_init(cipher, GNUTLS_CIPHER_AES_256_GCM, &datum);
    secret_wipe(copy, sizeof(copy));
    return failed;
}

enum az_status
seal_box(TALLOC_CTX *mem, const struct seal_key *key, const struct seal_day *day, const char *place,
         const void *plain, size_t len, unsigned char **ret, size_t *ret_len)
{
    struct associated data;
    CIPHER_AUTO cipher = NULL;

    if (len > SEAL_PLAIN_MAX || !associate(key, day, place, &data))
        return AZ_INVALID;
    unsigned char *box = talloc_size(mem, len + SEAL_OVERHEAD);
    if (box == NULL)
        return AZ_SERVER_ERROR;
    unsigned char *nonce = box + data.header;
    size_t sealed_len = len + SEAL_TAG_OCTETS;
    memcpy(box, data.octets, data.header);
    if (random_nonce(nonce, SEAL_NONCE_OCTETS) != AZ_OK || cipher_init(&cipher, day->key) != 0
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

    return ((len >= SEAL_OVERHEAD_1 && octets[0] == WITHOUT_DAY)
            || (len >= SEAL_OVERHEAD && octets[0] == WITH_DAY))
           && memcmp(octets + 1, key->id, SEAL_KEY_ID_OCTETS) == 0;
}

bool
seal_has_day(const void *box, size_t len, uint32_t *ret)
{
    const unsigned char *octets = box;

    if (len < SEAL_OVERHEAD || octets[0] != WITH_DAY)
        return false;
    *ret = 0;
    for (size_t i = 0; i < SEAL_DAY_OCTETS; i++)
        *ret = *ret << 8 | octets[1 + SEAL_KEY_ID_OCTETS + i];
    return true;
}

/* Decrypt what follows the header. */
static enum az_status
open_rest(TALLOC_CTX *mem, const unsigned char *key, const struct associated *data,
          const unsigned char *nonce, size_t plain_len, unsigned char **ret)
{
    CIPHER_AUTO cipher = NULL;
    unsigned char *plain = secret_alloc(mem, plain_len + 1);
    size_t opened_len = plain_len;

    if (plain == NULL || cipher_init(&cipher, key) != 0) {
        talloc_free(plain);
        return AZ_SERVER_ERROR;
    }
    if (gnutls_aead_cipher_decrypt(cipher, nonce, SEAL_NONCE_OCTETS, data->octets, data->len,
                                   SEAL_TAG_OCTETS, nonce + SEAL_NONCE_OCTETS,
                                   plain_len + SEAL_TAG_OCTETS, plain, &opened_len)
            != 0
        || opened_len != plain_len) {
        talloc_free(plain);
        return AZ_INVALID;
    }
    plain[plain_len] = '\0';
    *ret = plain;
    return AZ_OK;
}

enum az_status
seal_open(TALLOC_CTX *mem, const struct seal_key *key, const struct seal_day *day,
          const char *place, const void *box, size_t len, unsigned char **ret, size_t *ret_len)
{
    struct associated data;
    uint32_t its_day;
    bool has_day = seal_has_day(box, len, &its_day);
    size_t overhead = has_day ? SEAL_OVERHEAD : SEAL_OVERHEAD_1;

    if (has_day != (day != NULL) || (has_day && day->day != its_day)
        || !seal_is_of_key(key, box, len) || len > SEAL_PLAIN_MAX + overhead
        || !associate(key, day, place, &data))
        return AZ_INVALID;
    enum az_status status =
        open_rest(mem, has_day ? day->key : key->key, &data,
                  (const unsigned char *) box + data.header, len - overhead, ret);
    if (status == AZ_OK)
        *ret_len = len - overhead;
    return status;
}
