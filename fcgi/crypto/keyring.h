/* The keys this process derives from SVC_CREDENTIAL_KEY and SVC_ADMIN_PEPPER, one per purpose, made
 * once. */
#ifndef AZ_CRYPTO_KEYRING_H
#define AZ_CRYPTO_KEYRING_H

#include <stdint.h>
#include <talloc.h>

#include "crypto/digest.h"
#include "crypto/seal.h"

/* What is sealed at rest; each has a key of its own. */
enum keyring_purpose {
    KEYRING_CLIENT_SECRET,
    KEYRING_ADMIN_KEY,
    KEYRING_SIGNING_KEY,
    KEYRING_IDENTITY_PROVIDER, /* secrets at identity providers */
    KEYRING_SIGN_IN,           /* PKCE verifiers and ID tokens of sign-ins */
    KEYRING_PURPOSES
};

struct keyring;

/* Derives all keys. NULL when memory or the library fails, or the credential key is too short. */
struct keyring *keyring_new(TALLOC_CTX *mem, const char *credential_key, const char *admin_pepper);

/* Seals and opens with the place "<table>/<column>/<id>" as associated data, so that a value moved
 * to another row fails. */
enum az_status keyring_seal(TALLOC_CTX *mem, const struct keyring *ring,
                            enum keyring_purpose purpose, const char *place, const void *plain,
                            size_t length, unsigned char **ret, size_t *ret_length);
enum az_status keyring_open(TALLOC_CTX *mem, const struct keyring *ring,
                            enum keyring_purpose purpose, const char *place, const void *box,
                            size_t length, unsigned char **ret, size_t *ret_length);

/* HMAC-SHA-256 of an admin key under the pepper: what the row is found by. */
enum az_status keyring_admin_lookup(const struct keyring *ring, const char *key,
                                    unsigned char ret[SHA256_OCTETS]);

#endif
