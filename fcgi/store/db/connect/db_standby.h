/*
 * Reads at a standby (SVC_DATABASE_READ_URL), for questions whose answer may be 250 ms old. A
 * standby is asked only while it is known to have all that the writer had committed no longer ago,
 * and while the writer waits for a synchronous standby: what may not be seen any more is committed
 * with remote_apply (db_batch_apply). Whatever is wrong with the standby costs a trip and never a
 * request: the caller then asks the writer (performance.md 3.7).
 */
#ifndef AZ_STORE_DB_CONNECT_DB_STANDBY_H
#define AZ_STORE_DB_CONNECT_DB_STANDBY_H

#include "store/db/db.h"

/* Age of the oldest commit of the writer that the answer of a standby may lack, in milliseconds. A
 * revocation waits for the synchronous standby; one that is not, or no longer, may be this late. */
#define DB_STANDBY_LAG_MS 250

/* Make the handle of the standbys of a connection string; NULL: no memory. */
struct db_standby *db_standby_new(TALLOC_CTX *mem, const char *url);

/* True if a standby can be asked: the batch, which is new, then begins with a statement about it.
 * A connection is made in the background of the requests, so that none waits for it. */
bool db_standby_begin(struct op *op, struct db_batch *batch);

/* Run the batch at the standby. False: the standby gave no answer that counts; ask the writer with
 * a new batch. */
bool db_standby_run(struct op *op, struct db_batch *batch);

#endif
