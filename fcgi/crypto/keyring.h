/* Keys that this process derives from SVC_CREDENTIAL_KEY and SVC_ADMIN_PEPPER: those of the
 * purposes once, those of the days when they are needed first. */
#ifndef AZ_CRYPTO_KEYRING_H
#define AZ_CRYPTO_KEYRING_H

#include <stdint.h>
#include <talloc.h>

#include "crypto/digest.h"
#include "crypto/seal.h"

/* Purposes; each has a key of its own, and sealed values have one for each day. */
enum keyring_purpose {
    KEYRING_CLIENT_SECRET,
    KEYRING_ADMIN_KEY,
    KEYRING_SIGNING_KEY,
    KEYRING_IDENTITY_PROVIDER, /* secrets at identity providers */
    KEYRING_MANAGED_RESOURCE,  /* secrets at upstreams of the gateway */
    KEYRING_SIGN_IN,           /* PKCE verifiers and ID tokens of sign-ins */
    KEYRING_ADDRESS,           /* hashes of network addresses; nothing is sealed with it */
    KEYRING_DPOP_NONCE,        /* DPoP nonces; the same */
    KEYRING_UPSTREAM_TOKEN,    /* tokens of the gateway at upstreams */
    KEYRING_CONNECTION,        /* accounts of people at upstreams, and our registrations there */
    KEYRING_LINK_STATE,        /* states of links; nothing is sealed with it */
    KEYRING_MCP_STATE,         /* what MCP clients send back to us: requestState, sessions, ids */
    KEYRING_OBJECT_SECRET,     /* secrets of files that an object was made of; nothing is sealed */
    KEYRING_PURPOSES
};

struct keyring;

/* Derive all keys. NULL: out of memory, the library failed, or the credential key is too short. */
struct keyring *keyring_new(TALLOC_CTX *mem, const char *credential_key, const char *admin_pepper);

/* Open what SVC_CREDENTIAL_KEY_PREVIOUS sealed, too; nothing is sealed with it. AZ_INVALID: it is
 * too short. */
enum az_status keyring_add_previous(struct keyring *ring, const char *credential_key);

/* Seal and open a value with its place "<table>/<column>/<id>" as associated data, so that a
 * value that was moved to another row does not open. */
enum az_status keyring_seal(TALLOC_CTX *mem, const struct keyring *ring,
                            enum keyring_purpose purpose, const char *place, const void *plain,
                            size_t length, unsigned char **ret, size_t *ret_length);
enum az_status keyring_open(TALLOC_CTX *mem, const struct keyring *ring,
                            enum keyring_purpose purpose, const char *place, const void *box,
                            size_t length, unsigned char **ret, size_t *ret_length);

/* Compute HMAC-SHA-256 of an admin key with the pepper; the row is found by it. */
enum az_status keyring_admin_lookup(const struct keyring *ring, const char *key,
                                    unsigned char ret[SHA256_OCTETS]);

/* Return the SEAL_KEY_ID_OCTETS that name the key of new boxes of a purpose. */
const unsigned char *keyring_id(const struct keyring *ring, enum keyring_purpose purpose);

/* Compute HMAC-SHA-256 under the key of a purpose that nothing is sealed with. Rows that stay for
 * long keep that of a network address in its place: without the key an attacker cannot try all
 * addresses. */
enum az_status keyring_mac(const struct keyring *ring, enum keyring_purpose purpose,
                           const void *octets, size_t length, unsigned char ret[SHA256_OCTETS]);

#endif
