/*
 * Sealing of secrets at rest: AES-256-GCM with a key derived from SVC_CREDENTIAL_KEY.
 *
 * box = version (1 octet, = 2) | key id (4) | day (4) | nonce (12) | ciphertext | tag (16)
 *
 * The day is the number of days since 1970, big-endian. Each purpose and day has a key of its own:
 * nonces are random, and NIST SP 800-38D section 8.3 allows at most 2^32 of them for one key. A box
 * of version 1 has no day and opens with the one key of its purpose; none are made any more.
 *
 * Associated data are all octets before the nonce, then the place: a text such as
 * "clients/secret/42" that names table, column and row. So a box does not open if an attacker with
 * write access to the database moves it to another row or column, or changes its octets. The key id
 * (a digest that reveals nothing of the key) lets a reader distinguish "other key" from "damaged",
 * and allows keys to change.
 */
#ifndef AZ_CRYPTO_SEAL_H
#define AZ_CRYPTO_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

#define SEAL_KEY_OCTETS 32
#define SEAL_KEY_ID_OCTETS 4
#define SEAL_NONCE_OCTETS 12
#define SEAL_TAG_OCTETS 16

#define SEAL_DAY_OCTETS 4

/* Octets that a box is longer than its content; the shorter ones of version 1. */
#define SEAL_OVERHEAD                                                                              \
    (1 + SEAL_KEY_ID_OCTETS + SEAL_DAY_OCTETS + SEAL_NONCE_OCTETS + SEAL_TAG_OCTETS)
#define SEAL_OVERHEAD_1 (SEAL_OVERHEAD - SEAL_DAY_OCTETS)

/* Largest secret, in octets: a set of upstream credentials. An RSA-8192 private key takes 5 KiB. */
#define SEAL_PLAIN_MAX (64 * 1024)

/* Shortest credential key, in octets: an attacker with a copy of the database could search a
 * shorter one. */
#define SEAL_CREDENTIAL_KEY_MIN 16

/* Longest place, in octets: it names one column of one row. */
#define SEAL_PLACE_MAX 256

/* The keys of one purpose; wipe the struct after use. */
struct seal_key {
    unsigned char key[SEAL_KEY_OCTETS];   /* AES key of version 1 */
    unsigned char root[SEAL_KEY_OCTETS];  /* the keys of the days are derived from it */
    unsigned char id[SEAL_KEY_ID_OCTETS]; /* identifies the keys */
};

/* The key of one day; wipe the struct after use. */
struct seal_day {
    uint32_t day;                       /* days since 1970 */
    unsigned char key[SEAL_KEY_OCTETS]; /* AES key of version 2 */
};

/*
 * Derive the keys of one purpose ("clients", "signing-keys", ...) by HKDF-SHA256 from the
 * credential key, which is any text of at least SEAL_CREDENTIAL_KEY_MIN octets. AZ_INVALID: the
 * text is shorter, or there is no purpose.
 */
enum az_status seal_key_derive(const char *credential_key, size_t len, const char *purpose,
                               struct seal_key *ret);

/* Derive the key of one day. */
enum az_status seal_day_derive(const struct seal_key *key, uint32_t day, struct seal_day *ret);

/* Seal len octets for a place under the key of a day. *ret belongs to mem. AZ_INVALID: too long, or
 * no place. */
enum az_status seal_box(TALLOC_CTX *mem, const struct seal_key *key, const struct seal_day *day,
                        const char *place, const void *plain, size_t len, unsigned char **ret,
                        size_t *ret_len);

/* True if a box has a day, with whose key it opens. This does not authenticate the box. */
bool seal_has_day(const void *box, size_t len, uint32_t *ret);

/*
 * Open a box. `day` is the key of its day, or NULL if it has none. *ret belongs to mem, is wiped
 * when it is freed and is followed by a NUL octet that *ret_len does not count. AZ_INVALID: another
 * key, day, place or version, or the box was cut or changed.
 */
enum az_status seal_open(TALLOC_CTX *mem, const struct seal_key *key, const struct seal_day *day,
                         const char *place, const void *box, size_t len, unsigned char **ret,
                         size_t *ret_len);

/* True if a box names this key. This does not authenticate the box. */
bool seal_is_of_key(const struct seal_key *key, const void *box, size_t len);

#endif
