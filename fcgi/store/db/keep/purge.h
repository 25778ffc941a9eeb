/* Deleting many rows, for housekeeping. */
#ifndef AZ_STORE_DB_KEEP_PURGE_H
#define AZ_STORE_DB_KEEP_PURGE_H

#include <stdint.h>

#include "store/db/db.h"

/* Rows per statement. The rows of a day may end in the same hour: one transaction for all of them
 * would keep requests waiting and hold back replication. */
#define DB_PURGE_BATCH 500

/*
 * Delete rows by a statement whose $1 is the size of a batch and whose $2, if `number` is not 0, is
 * that number. Run it until it finds less than a batch, or the process stops. *removed (or NULL)
 * grows by the rows that were deleted.
 */
enum az_status db_purge(struct op *op, const struct db_stmt *stmt, int64_t number,
                        int64_t *removed);

#endif
