#include "config.h"

#include "store/db/connect/db_standby.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/db/connect/db_hosts.h"
#include "store/db/db_board.h"
#include "store/db/db_private.h"
#include "store/db/keep/locks.h"

/* Interval at which a process asks the writer how far it is: at any moment the last mark or the one
 * before is young enough, and a standby under load has reached one of them. Milliseconds. */
#define MARK_MS 100
/* Longest silence of a server that a connection is being made to. No request waits that long: the
 * one that begins it waits a moment, in which a server nearby takes it. Milliseconds. */
#define CONNECT_MS 2000
#define CONNECT_WAIT_MS 20
/* Time after which a standby that failed is tried again. Milliseconds. */
#define RETRY_MS 1000
/* Least time between two lines of the log about the standby, on a host. Milliseconds. */
#define TELL_MS 1000
#define MARKS 2

/* The position of the writer. */
struct mark {
    int64_t lsn;   /* all that it had committed then is before this place of its log */
    int64_t clock; /* its time of day then, in milliseconds since 1970 */
    int64_t ms;    /* monotonic time just before it was asked; 0: no mark */
};

struct db_standby {
    struct db *db;                     /* the connection */
    PostgresPollingStatusType polling; /* progress of the connection; PGRES_POLLING_OK: connected */
    int64_t moved_ms;                  /* monotonic time at which it last went on */
    size_t servers, failed;            /* servers of the list; those that just failed in turn */
    int64_t again_ms;                  /* monotonic time before which the standby is not asked */
    uint64_t line;                     /* line of the writer of which it is a standby; 0: unknown */
    unsigned generation;               /* the writer's connection that the marks are of */
    struct mark mark[MARKS];           /* the newest first */
    int64_t good_ms;                   /* monotonic time at which it was last not too late */
};

/* The state that was logged last: TOLD_USED, or TOLD_LEFT_OUT with the other bits of the hash of
 * the reason. 0: nothing was logged. */
#define TOLD_USED 1u
#define TOLD_LEFT_OUT 2u

/* The time by which statements of this moment decide what has expired. */
#define CLOCK "floor(extract(epoch FROM now()) * 1000)::bigint AS clock"

enum standby_writer_column { WRITER_LSN, WRITER_CLOCK, WRITER_WAITS };
static const struct db_stmt standby_writer_stmt = {
    "standby_writer",
    "SELECT pg_current_wal_flush_lsn() - '0/0'::pg_lsn AS lsn, " CLOCK
    ", current_setting('synchronous_standby_names') <> '' AS waits",
    0};

/* The control file has the timeline of the last restartpoint, or of what was written to disk since:
 * after a failover it may be late, and then the standby is not used yet, but it is never early. */
enum standby_about_column { ABOUT_CLUSTER, ABOUT_TIMELINE };
static const struct db_stmt standby_about_stmt = {
    "standby_about",
    "SELECT s.system_identifier AS cluster,"
    " greatest(c.timeline_id, r.min_recovery_end_timeline) AS timeline"
    " FROM pg_control_system() s, pg_control_checkpoint() c, pg_control_recovery() r",
    0};

/* Statements after this one see everything that was replayed up to this position. */
enum standby_reached_column { REACHED_LSN, REACHED_CLOCK, REACHED_RECOVERS };
static const struct db_stmt standby_reached_stmt = {
    "standby_reached",
    "SELECT pg_last_wal_replay_lsn() - '0/0'::pg_lsn AS lsn, " CLOCK
    ", pg_is_in_recovery() AS recovers",
    0};

struct db_standby *
db_standby_new(TALLOC_CTX *mem, const char *url)
{
    struct db_standby *standby = talloc_zero(mem, struct db_standby);
    if (standby == NULL)
        return NULL;
    standby->db = db_new(standby, url);
    if (standby->db == NULL) {
        talloc_free(standby);
        return NULL;
    }
    standby->db->setting = "SVC_DATABASE_READ_URL";
    return standby;
}

/* Log a change of the state that all processes of the host share. `why`: the reason why the standby
 * is left out; NULL: it is used. */
static void
tell(struct op *op, const char *why)
{
    struct db_board *board = op->az->db->board;
    uint32_t state =
        why == NULL ? TOLD_USED : (uint32_t) lock_number(why, strlen(why)) | TOLD_LEFT_OUT;
    if (board == NULL || atomic_load(&board->standby) == state)
        return;
    int64_t now = clock_monotonic_ms(), last = atomic_load(&board->standby_told_ms);
    bool recent = last != 0 && now >= last && now - last < TELL_MS;
    if (recent || !atomic_compare_exchange_strong(&board->standby_told_ms, &last, now))
        return;
    atomic_store(&board->standby, state);
    if (why == NULL)
        log_text(AZ_SEV_INFO, "standby answers",
                 "introspection and access decisions read at SVC_DATABASE_READ_URL");
    else
        log_text(AZ_SEV_WARN, "standby left out", "SVC_DATABASE_READ_URL: %s; the writer answers",
                 why);
}

/* Leave the standby out for some time. */
static void
leave_out(struct op *op, int64_t ms, const char *why)
{
    op->az->standby->again_ms = clock_monotonic_ms() + ms;
    tell(op, why);
}

/* Continue a connection attempt, and wait for it at most until that time. */
static void
poll_connection(struct db_standby *standby, int64_t until)
{
    PGconn *conn = standby->db->conn;
    if (conn == NULL || PQstatus(conn) == CONNECTION_BAD)
        standby->polling = PGRES_POLLING_FAILED;
    while (standby->polling == PGRES_POLLING_READING || standby->polling == PGRES_POLLING_WRITING) {
        int64_t left = until - clock_monotonic_ms();
        struct pollfd fd = {.fd = PQsocket(conn),
                            .events = standby->polling == PGRES_POLLING_READING ? POLLIN : POLLOUT};
        if (poll(&fd, 1, left > 0 ? (int) left : 0) <= 0)
            return;
        standby->polling = PQconnectPoll(conn);
        standby->moved_ms = clock_monotonic_ms();
    }
}

/* True if there is a connection. If not, one is begun, or goes on; a server that is no standby is
 * passed over. */
static bool
connect_standby(struct op *op, struct db_standby *standby)
{
    struct db *db = standby->db;
    while (db->conn == NULL || standby->polling != PGRES_POLLING_OK) {
        int64_t until = 0;
        if (db->conn == NULL) {
            if (standby->failed == 0)
                db->fault[0] = '\0';
            standby->servers = db_connect_standby(db);
            standby->polling = PGRES_POLLING_WRITING;
            standby->line = 0;
            standby->moved_ms = clock_monotonic_ms();
            until = standby->moved_ms + CONNECT_WAIT_MS;
        }
        poll_connection(standby, until);
        bool failed = standby->polling == PGRES_POLLING_FAILED;
        bool late = clock_monotonic_ms() - standby->moved_ms > CONNECT_MS;
        if (standby->polling != PGRES_POLLING_OK && !failed && !late)
            return false;
        if (standby->polling == PGRES_POLLING_OK)
            break;
        db_add_fault(db, "", failed ? db_connect_fault(db) : "a server does not answer");
        db_close(db);
        if (++standby->failed >= standby->servers) {
            standby->failed = 0;
            leave_out(op, RETRY_MS, db->fault);
            return false;
        }
    }
    standby->failed = 0;
    return true;
}

/* Ask the writer how far it is, unless that is known of a moment ago. */
static bool
take_mark(struct op *op, struct db_standby *standby)
{
    struct db *writer = op->az->db;
    int64_t now = clock_monotonic_ms();
    if (standby->generation == db_generation(writer) && now - standby->mark[0].ms < MARK_MS)
        return true;
    struct op quiet = op_beside(op, op->mem);
    struct db_batch *batch = db_batch_new(&quiet);
    const struct db_step *step = db_batch_add(batch, &standby_writer_stmt);
    db_batch_adds(batch);
    /* Once: a writer that is silent is asked again by the lookup itself. */
    if (db_run(&quiet, batch, false) != AZ_OK)
        return false;
    const PGresult *result = step->result;
    bool same = standby->generation == db_generation(writer);
    standby->mark[1] = same ? standby->mark[0] : (struct mark){.ms = 0};
    standby->mark[0] = (struct mark){.lsn = db_get_number(result, 0, WRITER_LSN, INT64_MAX),
                                     .clock = db_get_number(result, 0, WRITER_CLOCK, INT64_MAX),
                                     .ms = now};
    standby->generation = db_generation(writer);
    if (db_get_bool(result, 0, WRITER_WAITS))
        return true;
    standby->mark[0].ms = 0;
    leave_out(op, MARK_MS,
              "synchronous_standby_names of the writer is empty, so a revocation would not wait "
              "until the standby has it");
    return false;
}

/* Run a batch at the standby, at most for as long as its answer counts. False: there is no such
 * answer. */
static bool
ask_standby(struct op *op, struct db_standby *standby, struct db_batch *batch)
{
    if (db_batch_fault(batch) != NULL)
        return false;
    standby->db->until_ms = standby->mark[0].ms + DB_STANDBY_LAG_MS;
    if (!db_exchange(standby->db, batch))
        leave_out(op, RETRY_MS, "the server went away, or did not answer within 250 ms");
    else if (batch->failed == NULL)
        return true;
    /* Another error, as a conflict with what is replayed, is of this statement alone. */
    else if (strncmp(batch->failed->sqlstate, "57P", 3) == 0)
        db_close(standby->db);
    return false;
}

/* True if the server is a standby of the writer: of the same cluster, on the same timeline. */
static bool
prove(struct op *op, struct db_standby *standby)
{
    uint64_t line = op->az->db->line;
    if (line != 0 && standby->line == line)
        return true;
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add(batch, &standby_about_stmt);
    if (!ask_standby(op, standby, batch))
        return false;
    const char *cluster = db_get(step->result, 0, ABOUT_CLUSTER);
    int64_t timeline = db_get_number(step->result, 0, ABOUT_TIMELINE, 0);
    uint64_t theirs = cluster != NULL ? db_line_make(cluster, (unsigned long) timeline) : 0;
    if (line != 0 && theirs == line) {
        standby->line = line;
        standby->good_ms = clock_monotonic_ms();
        return true;
    }
    leave_out(op, RETRY_MS,
              line == 0                    ? "the writer does not tell its timeline"
              : theirs >> 32 != line >> 32 ? "the server is not of the cluster of SVC_DATABASE_URL"
                                           : "the server is not yet on the timeline of the writer");
    return false;
}

bool
db_standby_begin(struct op *op, struct db_batch *batch)
{
    struct db_standby *standby = op->az->standby;
    if (standby == NULL || clock_monotonic_ms() < standby->again_ms || db_in_transaction(op->az->db)
        || !connect_standby(op, standby) || !take_mark(op, standby) || !prove(op, standby))
        return false;
    db_batch_add(batch, &standby_reached_stmt);
    return true;
}

/* True if the server may say what is live: it is still a standby, and by its clock no token lives
 * longer than by the writer's clock. */
static bool
may_judge(struct op *op, struct db_standby *standby, const PGresult *reached)
{
    if (!db_get_bool(reached, 0, REACHED_RECOVERS)) {
        db_close(standby->db);
        leave_out(op, RETRY_MS, "the server is no standby, for it was promoted");
        return false;
    }
    /* The mark was taken before, so only a clock that is late shows an earlier time. */
    int64_t clock = db_get_number(reached, 0, REACHED_CLOCK, 0);
    if (clock >= standby->mark[0].clock - DB_STANDBY_LAG_MS)
        return true;
    leave_out(op, RETRY_MS,
              "the clock of the standby is more than 250 ms behind that of the writer");
    return false;
}

bool
db_standby_run(struct op *op, struct db_batch *batch)
{
    struct db_standby *standby = op->az->standby;
    if (!ask_standby(op, standby, batch) || db_is_fenced(op->az->db))
        return false;
    const PGresult *reached = batch->step[0].result;
    int64_t now = clock_monotonic_ms(), lsn = db_get_number(reached, 0, REACHED_LSN, 0);
    if (!may_judge(op, standby, reached))
        return false;
    for (size_t i = 0; i < MARKS; i++) {
        const struct mark *mark = &standby->mark[i];
        if (mark->ms == 0 || lsn < mark->lsn || now - mark->ms > DB_STANDBY_LAG_MS)
            continue;
        standby->good_ms = now;
        tell(op, NULL);
        return true;
    }
    if (now - standby->good_ms > DB_STANDBY_LAG_MS)
        leave_out(op, MARK_MS, "the standby is more than 250 ms behind the writer");
    return false;
}
