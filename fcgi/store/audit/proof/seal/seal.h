/* The housekeeping job that appends audit rows to the log that proves itself, and signs checkpoints
 * of it (decisions.md "Audit proof"). */
#ifndef AZ_STORE_AUDIT_PROOF_SEAL_SEAL_H
#define AZ_STORE_AUDIT_PROOF_SEAL_SEAL_H

#include "store/db/db.h"

/* Rows of one run: about two seconds of one core. The next run goes on. */
#define AUDIT_SEAL_ROWS 200000

/* The outcome of a run. */
struct audit_sealed {
    int64_t rows;     /* appended */
    int64_t size;     /* leaves of the log */
    const char *note; /* the checkpoint, or NULL: there was nothing new */
};

/*
 * Append the rows up to the mark (mark.h) and sign a checkpoint if there were any. The first run
 * begins the log at the mark: older rows are outside. Each step is one statement that writes only
 * if no other process has moved the log, so a run that is killed leaves a log that the next run
 * continues.
 */
enum az_status audit_seal(struct op *op, struct audit_sealed *ret);

/*
 * Append a note for each day that retention will drop and that has no such note: day, date and
 * number of leaves whose rows are in it, as they were sealed; with a checkpoint. Call it before the
 * partitions are dropped. AZ_RETRY without a fault: a day has rows that are not sealed yet, so it
 * has to wait.
 */
enum az_status audit_seal_drops(struct op *op);

/* Begin another epoch, because the log cannot go on: the database lost rows that were sealed. `why`
 * stands in the first note. Its number is above `after`, 0 for any, and above all that
 * audit_epoch_last() finds. Its first checkpoint is signed, so that audit_seal_file() ends the file
 * with one of the new epoch. */
enum az_status audit_seal_new_epoch(struct op *op, const char *why, int64_t after);

/* Return the origin of an epoch, which is also the name of its key: the issuer without its scheme,
 * /audit, and from the second epoch on the number. On op->mem; NULL: no memory. */
char *audit_log_origin(struct op *op, int epoch);

#endif
