/* The progress of sending the audit log to other servers: the rows of audit_stream. */
#ifndef AZ_STORE_AUDIT_PROOF_OUTGOING_H
#define AZ_STORE_AUDIT_PROOF_OUTGOING_H

#include "store/db/db.h"

/* Names of the rows. */
#define OUTGOING_ROWS "rows"
#define OUTGOING_CHECKPOINTS "checkpoints"

/* Seconds for which a process may be silent before another process sends in its place: the maximum
 * of SVC_SAFE_HTTP_TIMEOUT_SECONDS, and time to read and write a batch. */
#define OUTGOING_LEASE 90

/* Seconds between two tries, at most, and after a server has refused the credential. */
#define OUTGOING_WAIT_MAX 300

/* The state of one stream. */
struct outgoing {
    const char *name;  /* set by the caller */
    bool begun;        /* the row is there */
    int64_t up_to;     /* rows up to this id were sent */
    const char *lease; /* NULL: another process has it, or it is not due */
    int64_t tries;
    bool held;
    const char *error, *sent_at, *next_at; /* or NULL */
    int64_t sent, rejected, skipped, passed;
    int64_t refused; /* of those that were skipped, since the last one that was taken */
    int64_t lag;     /* rows that may wait: ids that were given out since */
};

/* The result of an attempt. */
struct outgoing_step {
    int64_t up_to;
    int64_t sent, rejected, skipped, passed; /* to add */
    int64_t refused;                         /* to add, unless rows were taken */
    const char *error;                       /* NULL: it was taken */
    bool held;
    int64_t wait; /* seconds until the next attempt, or 0 */
};

/* Read the row of this name. */
enum az_status outgoing_read(struct op *op, struct outgoing *outgoing);

/* Begin after the row `up_to` if nothing was begun. */
enum az_status outgoing_begin(struct op *op, const char *name, int64_t up_to);

/* Take the lease, if no process has it and it is due; outgoing->lease tells. */
enum az_status outgoing_lease(struct op *op, struct outgoing *outgoing);

/* Write what became of a try, and keep the lease. AZ_CONFLICT: another process has it. */
enum az_status outgoing_step(struct op *op, struct outgoing *outgoing,
                             const struct outgoing_step *step);

/* Give the lease back. */
enum az_status outgoing_release(struct op *op, const struct outgoing *outgoing);

/* Go on after the row `up_to`, at once, whatever was sent before. */
enum az_status outgoing_move(struct op *op, const char *name, int64_t up_to);

/* Return the seconds until the next try: 1, 2, 4 up to OUTGOING_WAIT_MAX with a fifth more or less
 * by chance, so that many instances do not come at once; or what the server asked for. */
int64_t outgoing_wait(int64_t tries, int64_t asked);

/* Checkpoints that wait, at most: of more the newest alone is posted, since it contains them all.
 */
#define POSTED_WAITING_MAX 100

/* Columns of posted_waiting(). */
enum posted_waiting_column { WAITING_EPOCH, WAITING_SIZE, WAITING_NOTE };

/* Read the checkpoints that were not posted, the newest first, at most one more than
 * POSTED_WAITING_MAX. */
enum az_status posted_waiting(struct op *op, PGresult **ret);

/* Note that a checkpoint was posted; older ones count as posted too. `cosigned`: the signature
 * lines that were answered, or NULL. */
enum az_status posted_write(struct op *op, int64_t epoch, int64_t size, const char *cosigned);

/* Count the rows that were sealed after the row `after` and before the row `before`, where the
 * database has no rows: retention dropped them. */
enum az_status outgoing_passed(struct op *op, int64_t after, int64_t before, int64_t *ret);

#endif
