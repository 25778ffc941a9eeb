/* Parts that verify.c and verify_aged.c share. */
#ifndef AZ_STORE_AUDIT_PROOF_VERIFY_VERIFY_PRIVATE_H
#define AZ_STORE_AUDIT_PROOF_VERIFY_VERIFY_PRIVATE_H

#include "store/audit/proof/cursor.h"
#include "store/audit/proof/verify/verify.h"

/* The check of an epoch. */
struct verify {
    struct op *op;
    const struct audit_check *check;
    struct audit_report *report;
    const struct audit_epoch *epoch;
    struct audit_log_state state;
    struct audit_cursor rows;
    struct audit_edge *edge;           /* the tree of the hashes so far */
    const struct checkpoint **foreign; /* those from elsewhere of this log, the smallest first */
    size_t foreigns, foreign_at;       /* how many; those that were compared */
    struct audit_notes *notes;         /* days that retention dropped */
    int64_t sealed;                    /* leaves of the last note that seals, or 0 */
};

/* Columns of verify_checkpoints(). */
enum audit_checkpoints_column { CHECKPOINT_SIZE, CHECKPOINT_NOTE };

/* Read the stored checkpoints with sizes above `after` and up to `up_to`, the smallest first. */
enum az_status verify_checkpoints(struct op *op, const struct audit_log_state *state, int64_t after,
                                  int64_t up_to, PGresult **ret);

/* True if one of the keys signed the note, and it says what the tree of this size is. */
bool verify_is_of_log(const struct verify *verify, const char *note, uint64_t size,
                      const merkle_hash root);

/* Check what is left of the leaves whose hashes may be gone: the note that begins the log, and the
 * checkpoints, of which one a day is kept with the tile that it ends in. */
enum az_status verify_aged(struct verify *verify);

#endif
