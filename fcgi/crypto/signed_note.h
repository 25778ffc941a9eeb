/* Signed notes and the checkpoints of a log in them (C2SP signed-note and tlog-checkpoint, v1),
 * with signatures of ECDSA on P-256 over SHA-256 (signature type 0x02). */
#ifndef AZ_CRYPTO_SIGNED_NOTE_H
#define AZ_CRYPTO_SIGNED_NOTE_H

#include <stdint.h>
#include <talloc.h>

#include "crypto/jwk.h"
#include "crypto/merkle.h"

/* Longest note that is read, in octets: a checkpoint takes 300, and each cosignature 200. */
#define NOTE_OCTETS_MAX 16384

/* Longest origin and name of a key, in octets: an issuer, of which SVC_ISSUER allows less. */
#define NOTE_NAME_MAX 512

/* The content of a checkpoint. */
struct checkpoint {
    char origin[NOTE_NAME_MAX + 1];
    uint64_t size; /* leaves */
    merkle_hash root;
};

/* Return the text of a checkpoint, which ends with a line feed, on mem; NULL: out of memory. */
char *checkpoint_text(TALLOC_CTX *mem, const struct checkpoint *checkpoint);

/* Return the note: the text, an empty line and the signature line of the key under this name. On
 * mem; NULL: the text does not end with a line feed, the name has a blank or a plus, or the library
 * failed. */
char *note_sign(TALLOC_CTX *mem, const char *text, const char *name, const struct jwk *key);

/* Check that a note has a valid signature of the key under this name. Other signatures are passed
 * over. AZ_INVALID: it has none. */
enum az_status note_verify(const char *note, const char *name, const struct jwk *key);

/* Read the text of a note as a checkpoint; extension lines are ignored. AZ_INVALID: the text is not
 * a checkpoint. */
enum az_status checkpoint_read(const char *note, struct checkpoint *ret);

#endif
