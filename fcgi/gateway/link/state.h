/*
 * The state of a link (gateway-admin.md 3.5): the parameter of /gateway/link, which a person opens
 * to connect an account. It says nothing about the person (MCP authorization: a link must not
 * identify the user), and a forged one costs no trip to the database.
 *
 * state = "v1." base64url(jti | expiry) "." base64url(HMAC-SHA-256 of both under our key)
 */
#ifndef AZ_GATEWAY_LINK_STATE_H
#define AZ_GATEWAY_LINK_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/b64url.h"
#include "base/status.h"
#include "crypto/digest.h"

/* Octets of the random id of a link's row: too many to guess. */
#define LINK_JTI_OCTETS 16
/* Octets of the expiry, big-endian. */
#define LINK_EXPIRY_OCTETS 8
#define LINK_PAYLOAD_OCTETS (LINK_JTI_OCTETS + LINK_EXPIRY_OCTETS)

/* Characters of a state, and its size with the NUL. */
#define LINK_STATE_LENGTH                                                                          \
    (3 + B64URL_LENGTH(LINK_PAYLOAD_OCTETS) + 1 + B64URL_LENGTH(SHA256_OCTETS))
#define LINK_STATE_SIZE (LINK_STATE_LENGTH + 1)

/* Most keys that are tried: the present one, and the one before it during a rotation. */
#define LINK_KEYS_MAX 2

/* The keys; wipe the struct after use. */
struct link_keys {
    unsigned char key[LINK_KEYS_MAX][SHA256_OCTETS]; /* the first one signs */
    size_t count;
};

/* The content of a state. */
struct link_state {
    unsigned char jti[LINK_JTI_OCTETS];
    int64_t expires_at; /* seconds since 1970 */
};

/* Make the key of a secret by HKDF. */
enum az_status link_key_derive(const char *secret, unsigned char ret[SHA256_OCTETS]);

/* Write a state with the first key. AZ_SERVER_ERROR: the library failed. */
enum az_status link_state_make(const struct link_keys *keys, const struct link_state *state,
                               char ret[LINK_STATE_SIZE]);

/* Read a state. AZ_INVALID if it has another form or no key of ours made it. The expiry is checked
 * by the caller. The HMAC is compared in constant time. */
enum az_status link_state_read(const struct link_keys *keys, const char *text,
                               struct link_state *ret);

#endif
