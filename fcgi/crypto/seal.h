/*
 * Sealing of secrets at rest: AES-256-GCM with a key derived from SVC_CREDENTIAL_KEY.
 *
 * box = version (1 octet, = 1) | key id (4) | nonce (12) | ciphertext | tag (16)
 *
 * Associated data are version and key id, then the place: a text such as "clients/secret/42" that
 * names table, column and row. So a box does not open if an attacker with write access to the
 * database moves it to another row or column, or changes its octets. The key id (a digest that
 * reveals nothing of the key) lets a reader distinguish "other key" from "damaged", and allows keys
 * to change.
 */
#ifndef AZ_CRYPTO_SEAL_H
#define AZ_CRYPTO_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

#define SEAL_KEY_OCTETS 32
#define SEAL_KEY_ID_OCTETS 4
#define SEAL_NONCE_OCTETS 12
#define SEAL_TAG_OCTETS 16

/* Octets that a box is longer than its content. */
#define SEAL_OVERHEAD (1 + SEAL_KEY_ID_OCTETS + SEAL_NONCE_OCTETS + SEAL_TAG_OCTETS)

/* Largest secret, in octets: a set of upstream credentials. An RSA-8192 private key takes 5 KiB. */
#define SEAL_PLAIN_MAX (64 * 1024)

/* Shortest credential key, in octets: an attacker with a copy of the database could search a
 * shorter one. */
#define SEAL_CREDENTIAL_KEY_MIN 16

/* Longest place, in octets: it names one column of one row. */
#define SEAL_PLACE_MAX 256

struct seal_key {
    unsigned char key[SEAL_KEY_OCTETS];   /* AES key; wipe the struct after use */
    unsigned char id[SEAL_KEY_ID_OCTETS]; /* identifies the key */
};

/*
 * Derive the key of one purpose ("clients", "signing-keys", ...) by HKDF-SHA256 from the credential
 * key, which is any text of at least SEAL_CREDENTIAL_KEY_MIN octets. AZ_INVALID: the text is
 * shorter, or there is no purpose.
 */
enum az_status seal_key_derive(const char *credential_key, size_t len, const char *purpose,
                               struct seal_key *ret);

/*
 * Seal len octets for a place. The nonce is random: up to 2^32 boxes per key are safe (NIST SP
 * 800-38D section 8.3). *ret belongs to mem. AZ_INVALID: too long, or no place.
 */
enum az_status seal_box(TALLOC_CTX *mem, const struct seal_key *key, const char *place,
                        const void *plain, size_t len, unsigned char **ret, size_t *ret_len);

/*
 * Open a box. *ret belongs to mem, is wiped when it is freed and is followed by a NUL octet that
 * *ret_len does not count. AZ_INVALID: another key, place or version, or the box was cut or
 * changed.
 */
enum az_status seal_open(TALLOC_CTX *mem, const struct seal_key *key, const char *place,
                         const void *box, size_t len, unsigned char **ret, size_t *ret_len);

/* True if a box names this key. This does not authenticate the box. */
bool seal_is_of_key(const struct seal_key *key, const void *box, size_t len);

#endif
