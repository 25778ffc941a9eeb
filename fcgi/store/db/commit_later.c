/* Rows that are written after the answers of their requests. */
#include "config.h"

#include <limits.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/db/commits.h"
#include "store/db/commits_private.h"

/* A leader writes within this time; after it, look if the leader lives. Milliseconds. */
#define LEADER_LATE_MS 50
/* Most batches of commit_flush: other processes may leave rows all the time. */
#define FLUSH_BATCHES 256
/* Parameter of a row that is the request's id. */
#define PARAM_REQUEST_ID 1

bool
commit_post(struct op *op, const struct commit_kind *kind, uint32_t day,
            const struct db_params *params)
{
    struct commits *commits = op->az->commits;
    if (commits == NULL || db_in_transaction(op->az->db) || !commit_claim(&commits->seat))
        return false;
    struct commit_seat *seat = &commits->seat;
    if (commits->leads_later || commit_lead(seat, LANE_LATER, false)) {
        commits->leads_later = true;
        return false;
    }
    uint32_t row = commit_free_row(seat, LANE_LATER);
    if (row == COMMIT_BOARD_ROWS
        || !commit_row_write(&seat->board->row[row], kind, DB_NO_PARTITION, day, params))
        return false;
    commit_publish(seat, row);
    db_count_trip(op->az->db);
    /* A leader that gave the lead back a moment ago did not see the row. */
    bool late =
        clock_monotonic_ms() - atomic_load(&seat->board->since_ms[LANE_LATER]) > LEADER_LATE_MS;
    commits->leads_later = commit_lead(seat, LANE_LATER, late);
    return true;
}

static void
row_lost(const struct commit_kind *kind, const struct commit_row *row, const char *why)
{
    struct db_params params;
    const char *id = commit_row_read(row, kind, &params) ? params.value[PARAM_REQUEST_ID] : NULL;
    log_text(AZ_SEV_ERROR, "audit row lost", "%s: %s", id != NULL ? id : "none", why);
}

/* Write one row by a statement of its own. `unsure`: the session of its tag may have written it. */
static enum az_status
write_one(struct op *op, const struct commit_kind *kind, const struct commit_row *row, bool unsure)
{
    struct db_batch *batch = db_batch_new(op);
    db_batch_adds(batch);
    if (unsure)
        db_batch_begin(batch);
    if (unsure && row->tag != 0)
        commit_add_end(batch, row->tag);
    struct db_step *step =
        db_batch_add_in(batch, unsure ? kind->missing : kind->one, DB_NO_PARTITION, row->day);
    if (!commit_row_read(row, kind, &step->params))
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the row cannot be read");
    if (unsure)
        db_batch_commit(batch);
    return db_run(op, batch, false);
}

static void
settle_one(struct op *op, const struct commit_kind *kind, uint32_t row, bool unsure)
{
    struct commit_seat *seat = &op->az->commits->seat;
    struct op own = op_beside(op, op->mem);
    /* Kind 0: the leader that died had written the row, and was wiping it. */
    bool done = seat->board->row[row].kind == 0;
    enum az_status st = done ? AZ_OK : write_one(&own, kind, &seat->board->row[row], unsure);
    if (st != AZ_OK)
        row_lost(kind, &seat->board->row[row], own.fault.detail);
    commit_settle_row(seat, row, ROW_STORED);
}

/* Write a batch that we took. */
static void
settle_batch(struct op *op, const struct commit_kind *kind, const uint32_t *rows, size_t count)
{
    struct commit_seat *seat = &op->az->commits->seat;
    struct op own = op_beside(op, talloc_new(op->mem));
    enum commit_state state[COMMIT_BATCH_MAX];
    enum az_status st = count > 1 ? commit_write(&own, kind, rows, count, state) : AZ_SQL;
    /* Without a connection the rows are tried once more: the first of them connects again. */
    for (size_t i = 0; i < count; i++)
        if (st == AZ_OK)
            commit_settle_row(seat, rows[i], ROW_STORED);
        else
            settle_one(&own, kind, rows[i], st != AZ_SQL);
    talloc_free(own.mem);
}

/* Lead LANE_LATER until no row waits, or for so many batches. */
static void
lead_later(struct op *op, const struct commit_kind *kind, int batches)
{
    struct commits *commits = op->az->commits;
    struct commit_seat *seat = &commits->seat;
    uint32_t rows[COMMIT_BATCH_MAX];
    size_t count;
    do {
        while ((count = commit_take_left(seat, rows)) > 0)
            for (size_t i = 0; i < count; i++)
                settle_one(op, kind, rows[i], true);
        while (batches-- > 0
               && (count = commit_take(seat, LANE_LATER, COMMIT_BOARD_ROWS, rows)) > 0) {
            settle_batch(op, kind, rows, count);
            commit_lead(seat, LANE_LATER, false); /* notes that this leader is alive */
        }
        commit_release(seat, LANE_LATER);
        /* A row that came before the release waits for a leader. */
    } while (batches > 0 && commit_later_waits(seat) && commit_lead(seat, LANE_LATER, false));
    commits->leads_later = false;
}

void
commit_settle(struct op *op, const struct commit_kind *kind)
{
    struct commits *commits = op->az->commits;
    if (commits != NULL && commits->leads_later)
        lead_later(op, kind, *op->az->stopping ? 1 : INT_MAX);
}

void
commit_flush(struct op *op, const struct commit_kind *kind)
{
    struct commits *commits = op->az->commits;
    if (commits == NULL)
        return;
    struct commit_seat *seat = &commits->seat;
    bool shares = commit_claimed(seat);
    for (uint32_t i = 0; i < seat->count; i++) {
        if ((shares ? &seat->boards[i] == seat->board : commit_claim_on(seat, i))
            && commit_later_waits(seat) && commit_lead(seat, LANE_LATER, true))
            lead_later(op, kind, FLUSH_BATCHES);
        if (!shares) /* a worker that begins claims a slot where the boards have room */
            commit_leave(seat);
    }
}
