/* Keep what this host signed last in SVC_RUNTIME_DIR, where the owner of the database cannot
 * write. */
#ifndef AZ_STORE_AUDIT_PROOF_SEAL_SIGNED_H
#define AZ_STORE_AUDIT_PROOF_SEAL_SIGNED_H

#include "crypto/jwk.h"
#include "crypto/signed_note.h"
#include "store/audit/proof/seal/seal_private.h"

/* The largest number of an epoch. Restores of a database are rare, so a larger one is an error. */
#define AUDIT_EPOCH_MAX 1000000

/*
 * Check, once in a run and before anything is appended, that the log of the database goes on from
 * what was signed: it has the checkpoint that this host signed last, and the newest one of the
 * database if `key` or an earlier key of ours signed it; and the leaves after the later of both are
 * rows as they stand, or names of keys. A run that ended before its seal leaves such rows; every
 * other note is signed when it is appended. AZ_CONFLICT: nothing may be signed.
 * audit_signed_refusal() has the reason from then on.
 */
enum az_status audit_signed_check(struct seal *seal, const struct jwk *key);

/* True if an epoch has the leaves of a checkpoint. */
bool audit_signed_has(struct op *op, const struct audit_log_state *state,
                      const struct checkpoint *signed_);

/* True if the active key, or one of our earlier keys, signed a note. */
bool audit_signed_is_ours(struct op *op, const char *note, const char *origin,
                          const struct jwk *key);

/* Keep the checkpoint that was signed last. Nothing if the directory is not there, or belongs to
 * another user: a command may run elsewhere. */
enum az_status audit_signed_keep(struct op *op, const char *note);

/* Forget it: a new epoch begins. */
void audit_signed_forget(const struct op *op);

/* Return why the last run signed nothing, on mem; NULL: it was allowed to. */
const char *audit_signed_refusal(TALLOC_CTX *mem, const struct az *az);

/*
 * Find the largest number of an epoch that anything here tells of: the tables of the log, the
 * checkpoint that this host signed last, the end of SVC_AUDIT_CHECKPOINT_FILE, and `after`, which
 * the operator knows. A database that was restored does not know the epochs since, and two logs
 * with one name cannot be told apart. Signatures are not checked: a restore may have lost the key,
 * and a number costs nothing. AZ_INVALID: it is not below AUDIT_EPOCH_MAX.
 */
enum az_status audit_epoch_last(struct op *op, int64_t after, int64_t *ret);

#endif
