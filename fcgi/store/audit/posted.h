/* Checkpoints that are posted to SVC_AUDIT_CHECKPOINT_URL. */
#ifndef AZ_STORE_AUDIT_POSTED_H
#define AZ_STORE_AUDIT_POSTED_H

#include "store/db/db.h"

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

#endif
