/*
 * Shared commits: rows that the processes of one host write at the same moment go to the database
 * in one trip and one commit (decisions.md "Shared commits"). A request that finds no
 * commit under way writes at once; those that come meanwhile are the next batch.
 */
#ifndef AZ_STORE_DB_COMMITS_H
#define AZ_STORE_DB_COMMITS_H

#include "base/op.h"
#include "store/db/commit_board.h"
#include "store/db/commit_row.h"

/* Most time that a row waits for its turn before its process writes it alone, in milliseconds: far
 * more than a batch takes, far less than a client waits. */
#define COMMIT_TURN_MS 1000
/* Most time that a process waits for a leader that has its row. A leader gives up after the time
 * limit of a statement's answer, which is less. Milliseconds. */
#define COMMIT_ANSWER_MS 12000
/* Interval at which a process that waits looks if its leader lives, in milliseconds. */
#define COMMIT_LOOK_MS 20

/* Return the place of a process at the boards (az->commits); NULL: no memory. `fd` is the mapped
 * file, and both live as long. */
struct commits *commits_new(TALLOC_CTX *mem, struct db *db,
                            struct commit_board boards[COMMIT_BOARDS], int fd);

enum commit_outcome {
    COMMIT_ALONE,   /* nothing was written: write the row alone, then call commit_done */
    COMMIT_STORED,  /* durable */
    COMMIT_NOTHING, /* its conditions do not hold, nothing was written */
    COMMIT_UNSURE,  /* look, after the end of the session, if the row is there */
};

/*
 * Write a row in a shared commit. *ret_session, for COMMIT_UNSURE, is for commit_add_end; 0: the
 * row is not there. One trip.
 */
enum az_status commit_share(struct op *op, const struct commit_kind *kind, uint32_t bucket,
                            uint32_t day, const struct db_params *params, enum commit_outcome *ret,
                            int32_t *ret_session);

/* Let the next batch begin, if this process was to write alone in its turn, or if the lead came to
 * it while it gave up waiting. */
void commit_done(struct op *op);

/* Add a step that waits for the end of a session, so that the steps behind it see what it wrote. */
void commit_add_end(struct db_batch *batch, int32_t session);

/* Leave a row to be written after the answer. False: send it alone; the lead may be ours. */
bool commit_post(struct op *op, const struct commit_kind *kind, uint32_t day,
                 const struct db_params *params);

/* Write the rows that others left meanwhile, if this process has the lead. Call it after the
 * answer. A row that cannot be written is a log line ("audit row lost"). */
void commit_settle(struct op *op, const struct commit_kind *kind);

/* Write the rows that are left, also those of processes that died: on the board of this process, or
 * on all boards if it does not share. */
void commit_flush(struct op *op, const struct commit_kind *kind);

#endif
