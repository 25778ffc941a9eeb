#include "config.h"

#include "crypto/keyring.h"

#include <string.h>

#include "crypto/secret.h"

struct keyring {
    struct seal_key key[KEYRING_PURPOSES]; /* by purpose */
    char *pepper;                          /* key of the lookup HMAC */
};

static const char *const purposes[KEYRING_PURPOSES] = {
    [KEYRING_CLIENT_SECRET] = "client secrets",
    [KEYRING_ADMIN_KEY] = "admin keys",
    [KEYRING_SIGNING_KEY] = "signing keys",
    [KEYRING_IDENTITY_PROVIDER] = "identity provider secrets",
    [KEYRING_SIGN_IN] = "sign-ins",
    [KEYRING_ADDRESS] = "network addresses",
};

struct keyring *
keyring_new(TALLOC_CTX *mem, const char *credential_key, const char *admin_pepper)
{
    struct keyring *ring = secret_alloc(mem, sizeof(*ring));
    if (ring == NULL)
        return NULL;
    ring->pepper = secret_copy(ring, admin_pepper, strlen(admin_pepper));
    enum az_status st = ring->pepper != NULL ? AZ_OK : AZ_SERVER_ERROR;
    for (size_t i = 0; i < KEYRING_PURPOSES && st == AZ_OK; i++)
        st = seal_key_derive(credential_key, strlen(credential_key), purposes[i], &ring->key[i]);
    if (st != AZ_OK)
        TALLOC_FREE(ring);
    return ring;
}

enum az_status
keyring_seal(TALLOC_CTX *mem, const struct keyring *ring, enum keyring_purpose purpose,
             const char *place, const void *plain, size_t length, unsigned char **ret,
             size_t *ret_length)
{
    return seal_box(mem, &ring->key[purpose], place, plain, length, ret, ret_length);
}

enum az_status
keyring_open(TALLOC_CTX *mem, const struct keyring *ring, enum keyring_purpose purpose,
             const char *place, const void *box, size_t length, unsigned char **ret,
             size_t *ret_length)
{
    return seal_open(mem, &ring->key[purpose], place, box, length, ret, ret_length);
}

enum az_status
keyring_admin_lookup(const struct keyring *ring, const char *key, unsigned char ret[SHA256_OCTETS])
{
    return hmac_sha256(ring->pepper, strlen(ring->pepper), key, strlen(key), ret);
}

enum az_status
keyring_address_hash(const struct keyring *ring, const void *octets, size_t length,
                     unsigned char ret[SHA256_OCTETS])
{
    const struct seal_key *key = &ring->key[KEYRING_ADDRESS];
    return hmac_sha256(key->key, sizeof(key->key), octets, length, ret);
}
