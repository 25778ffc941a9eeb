/* Private parts of shared commits, for commits.c and commit_later.c. */
#ifndef AZ_STORE_DB_COMMITS_PRIVATE_H
#define AZ_STORE_DB_COMMITS_PRIVATE_H

#include "store/db/commits.h"

struct commits {
    struct commit_seat seat; /* at the board */
    bool leads_later;        /* it writes the rows of LANE_LATER after its answer */
};

/* Write rows that we took, in one commit; ret[i] is how row i ended. AZ_SQL: nothing was written.
 */
enum az_status commit_write(struct op *op, const struct commit_kind *kind, const uint32_t *rows,
                            size_t count, enum commit_state ret[COMMIT_BATCH_MAX]);

#endif
