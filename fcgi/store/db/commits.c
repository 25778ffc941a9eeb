#include "config.h"

#include "store/db/commits.h"

#include <string.h>

#include "base/clock.h"
#include "store/db/commits_private.h"
#include "store/db/locks.h"
#include "trace/trace.h"

struct commits *
commits_new(TALLOC_CTX *mem, struct db *db, struct commit_board boards[COMMIT_BOARDS], int fd)
{
    struct commits *commits = talloc_zero(mem, struct commits);
    if (commits == NULL)
        return NULL;
    commits->seat = (struct commit_seat){
        .boards = boards, .count = COMMIT_BOARDS, .board = boards, .fd = fd, .slot = COMMIT_SLOTS};
    db_mark_sessions(db);
    return commits;
}

void
commit_add_end(struct db_batch *batch, int32_t session)
{
    lock_add(batch, LOCK_SESSION, &session, sizeof(session));
}

enum az_status
commit_write(struct op *op, const struct commit_kind *kind, const uint32_t *rows, size_t count,
             enum commit_state ret[COMMIT_BATCH_MAX])
{
    struct commit_row *all = op->az->commits->seat.board->row;
    struct db_step *step[COMMIT_BATCH_MAX];
    struct db_batch *batch = db_batch_new(op);
    bool readable = true;
    db_batch_adds(batch);
    for (size_t i = 0; i < count; i++) {
        const struct commit_row *row = &all[rows[i]];
        ret[i] = ROW_ALONE;
        step[i] = db_batch_add_in(batch, kind->one, row->bucket, row->day);
        readable = commit_row_read(row, kind, &step[i]->params) && readable;
    }
    if (!readable)
        return AZ_SQL;
    /* The last audit row may show that the connection is lost: tag the session that writes. */
    db_settle(op);
    enum az_status st = db_connect(op);
    if (st == AZ_OK && db_session(op->az->db) == 0)
        return AZ_SQL; /* no other process could learn that the session has ended */
    for (size_t i = 0; i < count && st == AZ_OK; i++)
        all[rows[i]].tag = db_session(op->az->db);
    atomic_thread_fence(memory_order_seq_cst);
    if (st == AZ_OK)
        st = db_try(op, batch, false);
    bool busy = db_batch_failed_with(batch, SQLSTATE_LOCK_NOT_AVAILABLE);
    bool unproved = db_batch_unconfirmed(batch);
    for (size_t i = 0; i < count && st != AZ_SQL; i++)
        ret[i] = st == AZ_OK ? db_written(step[i]->result) > 0 ? ROW_STORED : ROW_NOTHING
                 : busy      ? ROW_BUSY
                 : unproved  ? ROW_UNPROVED
                             : ROW_UNSURE;
    return st;
}

/* Write the batch of which we are the leader: our row is the first. */
static enum az_status
lead_batch(struct op *op, const struct commit_kind *kind, const uint32_t *rows, size_t count,
           enum commit_outcome *ret)
{
    struct commit_seat *seat = &op->az->commits->seat;
    enum commit_state state[COMMIT_BATCH_MAX];
    enum az_status st = commit_write(op, kind, rows, count, state);
    commit_done(op);
    for (size_t i = 1; i < count; i++)
        commit_settle_row(seat, rows[i], state[i]);
    commit_turn(seat, rows[0], ROW_TAKEN, ROW_FREE);
    *ret = state[0] == ROW_STORED    ? COMMIT_STORED
           : state[0] == ROW_NOTHING ? COMMIT_NOTHING
                                     : COMMIT_ALONE;
    return st == AZ_SQL ? AZ_OK : st;
}

static enum az_status
lead(struct op *op, const struct commit_kind *kind, uint32_t row, enum commit_outcome *ret)
{
    struct commit_seat *seat = &op->az->commits->seat;
    uint32_t rows[COMMIT_BATCH_MAX];
    size_t count = commit_take(seat, LANE_NOW, row, rows);
    if (count > 1)
        return lead_batch(op, kind, rows, count, ret);
    commit_turn(seat, row, ROW_TAKEN, ROW_FREE);
    *ret = COMMIT_ALONE;
    return AZ_OK;
}

void
commit_done(struct op *op)
{
    struct commits *commits = op->az->commits;
    if (commits != NULL && commit_leads(&commits->seat, LANE_NOW))
        commit_release(&commits->seat, LANE_NOW);
}

/* Read how a leader ended with our row, and free it. */
static enum az_status
follow_end(struct op *op, uint32_t row, enum commit_state state, enum commit_outcome *ret,
           int32_t *ret_session)
{
    struct commit_seat *seat = &op->az->commits->seat;
    *ret = state == ROW_STORED    ? COMMIT_STORED
           : state == ROW_NOTHING ? COMMIT_NOTHING
           : state == ROW_UNSURE  ? COMMIT_UNSURE
                                  : COMMIT_ALONE;
    *ret_session = seat->board->row[row].tag;
    commit_turn(seat, row, state, ROW_FREE);
    if (state != ROW_ALONE)
        db_count_trip(op->az->db);
    if (state == ROW_BUSY)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "database: a lock was not available in time");
    if (state == ROW_UNPROVED)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "database: %s", DB_UNCONFIRMED);
    return AZ_OK;
}

/* Wait a little for a row that waits or is in the hands of a leader. True: the wait is over, and
 * *ret_st says how. */
static bool
follow(struct op *op, uint32_t row, enum commit_state state, int64_t since, enum az_status *ret_st)
{
    struct commit_seat *seat = &op->az->commits->seat;
    uint32_t leader;
    int64_t waited = clock_monotonic_ms() - since;
    *ret_st = AZ_OK;
    /* The process that was passing the lead to us died before it did. */
    if (state == ROW_CHOSEN && waited > COMMIT_LOOK_MS)
        commit_turn(seat, row, ROW_CHOSEN, ROW_WAITING);
    if (state == ROW_WAITING && waited > COMMIT_TURN_MS
        && commit_turn(seat, row, ROW_WAITING, ROW_FREE))
        return true;
    if (waited > COMMIT_LOOK_MS && commit_state_of(seat, row, &leader) == ROW_TAKEN) {
        if (!commit_slot_lives(seat, leader)) {
            commit_turn(seat, row, ROW_TAKEN, ROW_UNSURE);
            /* Its other rows look after themselves; the lead that it left has to be passed on. */
            if (commit_lead(seat, LANE_NOW, true))
                commit_release(seat, LANE_NOW);
            return false;
        }
        if (waited > COMMIT_ANSWER_MS && commit_turn(seat, row, ROW_TAKEN, ROW_ABANDONED)) {
            *ret_st = op_fail(op, AZ_UNAVAILABLE, NULL,
                              "database: the process that writes for others does not answer");
            return true;
        }
    }
    /* Between ROW_CHOSEN and the lead are two instructions of another process. */
    commit_wait(seat, row, state, state == ROW_CHOSEN ? 1 : COMMIT_LOOK_MS);
    return false;
}

static enum az_status
lead_or_follow(struct op *op, const struct commit_kind *kind, uint32_t row,
               enum commit_outcome *ret, int32_t *ret_session)
{
    struct commit_seat *seat = &op->az->commits->seat;
    int64_t since = clock_monotonic_ms(), chosen = 0;
    for (bool dying = false;; dying = clock_monotonic_ms() - since > COMMIT_LOOK_MS) {
        uint32_t leader;
        enum az_status st;
        enum commit_state state = commit_state_of(seat, row, &leader);
        if (state != ROW_WAITING && state != ROW_CHOSEN && state != ROW_TAKEN)
            return follow_end(op, row, state, ret, ret_session);
        if (state != ROW_TAKEN && commit_lead_with(seat, row, state, dying))
            return lead(op, kind, row, ret);
        if (state == ROW_CHOSEN && chosen == 0)
            chosen = clock_monotonic_ms();
        if (follow(op, row, state, state == ROW_CHOSEN ? chosen : since, &st))
            return st;
    }
}

enum az_status
commit_share(struct op *op, const struct commit_kind *kind, uint32_t bucket, uint32_t day,
             const struct db_params *params, enum commit_outcome *ret, int32_t *ret_session)
{
    struct commits *commits = op->az->commits;
    *ret = COMMIT_ALONE;
    *ret_session = 0;
    if (commits == NULL || db_in_transaction(op->az->db) || !commit_claim(&commits->seat))
        return AZ_OK;
    uint32_t row = commit_free_row(&commits->seat, LANE_NOW);
    if (row == COMMIT_BOARD_ROWS
        || !commit_row_write(&commits->seat.board->row[row], kind, bucket, day, params))
        return AZ_OK;
    commit_publish(&commits->seat, row);
    int span = trace_open(op->az->tracer, TRACE_SQL); /* the trip may be another process's */
    enum az_status st = lead_or_follow(op, kind, row, ret, ret_session);
    trace_close(op->az->tracer, span,
                &(struct trace_facts){.name = "commit_share", .failed = st != AZ_OK});
    return st;
}
