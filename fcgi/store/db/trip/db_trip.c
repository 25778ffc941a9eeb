/* Round trips: a batch is sent in one pipeline, its results are read in order. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/db/connect/db_hosts.h"
#include "store/db/db.h"
#include "store/db/db_private.h"
#include "trace/trace.h"

/* A server that does not answer for this long counts as lost; none of our statements takes a tenth
 * of it. Milliseconds. */
#define ANSWER_TIMEOUT_MS 10000
/* Most results of a command, and most before that of the sync: the error of a commit, and the end
 * of its command. Without memory libpq may give another one each time it is asked. */
#define COMMAND_LOOKS 4
#define SYNC_LOOKS 4

/* Queue PREPARE (if the connection has not prepared the statement) and the execution of one
 * step. */
static bool
queue_step(struct db *db, struct db_batch *batch, size_t index)
{
    struct db_step *step = &batch->step[index];
    const struct db_params *params = &step->params;
    struct prepared *prepared = db_prepared_find(db, step);
    if (prepared == NULL)
        return false;
    batch->prepared[index] = prepared;
    batch->prepares[index] = !prepared->sent;
    if (!prepared->sent) {
        char *text = db_prepared_text(batch, step, prepared->quiet);
        if (text == NULL || PQsendPrepare(db->conn, prepared->name, text, 0, NULL) != 1)
            return false;
        prepared->sent = true;
    }
    return PQsendQueryPrepared(db->conn, prepared->name, params->count, params->value,
                               params->length, params->format, 0)
           == 1;
}

static bool
send_batch(struct db *db, struct db_batch *batch)
{
    if (db_is_pooled(db) && !db->in_transaction)
        db_batch_guard(batch, db->line != 0);
    if (PQenterPipelineMode(db->conn) != 1
        || ((batch->applies || batch->guards) && !queue_step(db, batch, DB_BATCH_MAX)))
        return false;
    for (size_t i = 0; i < batch->count; i++)
        if (!queue_step(db, batch, i))
            return false;
    db->trips++;
    return PQpipelineSync(db->conn) == 1;
}

/* Call PQgetResult with a limit on the wait. Return NULL and set *ret_lost if the connection is
 * lost or silent. */
static PGresult *
next_result(struct db *db, bool *ret_lost)
{
    while (PQisBusy(db->conn)) {
        struct pollfd fd = {.fd = PQsocket(db->conn), .events = POLLIN};
        if (PQflush(db->conn) == 1)
            fd.events |= POLLOUT;
        int64_t left = db->until_ms == 0 ? ANSWER_TIMEOUT_MS : db->until_ms - clock_monotonic_ms();
        int ready = left > 0 ? poll(&fd, 1, (int) left) : 0;
        if (ready < 0 && errno == EINTR)
            continue; /* a stop signal: finish reading this answer */
        if (ready <= 0 || PQconsumeInput(db->conn) != 1) {
            *ret_lost = true;
            return NULL;
        }
    }
    PGresult *result = PQgetResult(db->conn);
    if (result == NULL && PQstatus(db->conn) != CONNECTION_OK)
        *ret_lost = true;
    return result;
}

/* Read the results of one queued command (prepare or execute); keep the first error, or the last
 * one. */
static PGresult *
collect_command(struct db *db, bool *ret_lost)
{
    PGresult *kept = NULL;
    for (int looks = 0; looks < COMMAND_LOOKS; looks++) {
        PGresult *result = next_result(db, ret_lost);
        if (result == NULL)
            return kept;
        kept = db_result_keep(kept, result);
    }
    *ret_lost = true;
    return kept;
}

/* Errors of the database, and the advice to the operator about each. */
static const struct {
    const char *state; /* SQLSTATE */
    const char *text;  /* after the message of the database */
} remedies[] = {
    {"25006", "; SVC_DATABASE_URL must lead to the primary" }, /* read_only_sql_transaction */
    {"53100", "; make room for PostgreSQL, first for pg_wal"}, /* disk_full */
};

static const char *
remedy_of(const char *state)
{
    for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
        if (strcmp(remedies[i].state, state) == 0)
            return remedies[i].text;
    return "";
}

static void
note_error(struct db_batch *batch, struct db_step *step, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    snprintf(step->sqlstate, sizeof(step->sqlstate), "%s", state != NULL ? state : "XX000");
    if (message == NULL) /* the error is of libpq */
        message = "the result is not whole, for lack of memory";
    if (batch->failed == NULL && PQresultStatus(result) != PGRES_PIPELINE_ABORTED) {
        batch->failed = step;
        snprintf(batch->message, sizeof(batch->message), "%s: %s (SQLSTATE %s)%s", step->stmt->name,
                 message, step->sqlstate, remedy_of(step->sqlstate));
    }
}

static void
collect_step(struct db *db, struct db_batch *batch, size_t index, bool *ret_lost)
{
    struct db_step *step = &batch->step[index];
    if (batch->prepares[index]) {
        PGresult *prepared = collect_command(db, ret_lost);
        if (prepared == NULL || !db_result_ok(prepared))
            db_prepared_refused(batch->prepared[index]);
        if (prepared != NULL && !db_result_ok(prepared))
            note_error(batch, step, prepared);
        *ret_lost = *ret_lost || prepared == NULL;
        PQclear(prepared);
    }
    if (*ret_lost)
        return;
    step->result = collect_command(db, ret_lost);
    *ret_lost = *ret_lost || step->result == NULL;
    if (step->result != NULL && !db_result_is_whole(step->result) && step->sqlstate[0] == '\0')
        note_error(batch, step, step->result);
}

/* Read up to the sync of the pipeline, where the transaction of a batch without BEGIN is committed:
 * what fails there is a failure of its last step. */
static void
collect_sync(struct db *db, struct db_batch *batch, bool *ret_lost)
{
    bool end = false;
    for (int looks = 0; looks < SYNC_LOOKS && !end && !*ret_lost; looks++) {
        PGresult *result = next_result(db, ret_lost);
        end = result != NULL && PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        if (result != NULL && !end && !db_result_ok(result) && batch->count > 0)
            note_error(batch, &batch->step[batch->count - 1], result);
        PQclear(result);
    }
    *ret_lost = *ret_lost || !end;
}

/* End a transaction that failed between BEGIN and COMMIT of a batch. */
static bool
roll_back(struct db *db)
{
    PGresult *result = db_ask(db->conn, "ROLLBACK");
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return done;
}

/* True if all results were read, by the primary of this moment, and a commit, if there was one, is
 * confirmed; false if the connection was lost. */
static bool
collect_batch(struct db *db, struct db_batch *batch)
{
    bool lost = false;
    if (batch->applies || batch->guards)
        collect_step(db, batch, DB_BATCH_MAX, &lost);
    for (size_t i = 0; i < batch->count && !lost; i++)
        collect_step(db, batch, i, &lost);
    if (!lost)
        collect_sync(db, batch, &lost);
    if (!lost)
        lost = PQexitPipelineMode(db->conn) != 1;
    batch->unconfirmed = !lost && db_take_unconfirmed(db);
    batch->fenced = !lost && (!db_guard_holds(db, batch) || db_is_fenced(db));
    lost = lost || batch->unconfirmed || batch->fenced;
    /* The transaction of several trips that failed ends with the session: db_rollback has nothing
     * left to do. */
    if (!lost && PQtransactionStatus(db->conn) == PQTRANS_INERROR
        && (db->in_transaction || !roll_back(db)))
        db_close(db);
    if (lost)
        db_close(db);
    else
        db->heard_ms = clock_monotonic_ms();
    return !lost;
}

bool
db_exchange(struct db *db, struct db_batch *batch)
{
    bool answered = db_prepared_prune(db) && send_batch(db, batch) && collect_batch(db, batch);
    if (!answered)
        db_close(db);
    return answered;
}

/* Return why a batch that was sent has no outcome. */
static const char *
no_outcome(const struct db_batch *batch, const char *otherwise)
{
    return batch->unconfirmed ? DB_UNCONFIRMED : batch->fenced ? DB_FENCED : otherwise;
}

void
db_settle(struct op *op)
{
    struct db *db = op->az->db;
    struct db_batch *batch = db->pending;
    const char *fault = NULL;
    if (batch == NULL)
        return;
    db->pending = NULL;
    bool inside = db->in_transaction, answered = collect_batch(db, batch);
    for (int conflicts = 0;
         answered && batch->failed != NULL && !inside && db_again(db, batch, &conflicts);) {
        db_batch_reset(batch);
        answered = db_exchange(db, batch);
    }
    if (!answered) {
        fault = no_outcome(batch, "connection lost after the answer");
        db->in_transaction = inside; /* db_connect refuses to go on with the transaction */
    } else if (batch->failed != NULL) {
        fault = batch->message;
    }
    if (fault != NULL)
        log_text(AZ_SEV_ERROR, "audit row lost", "%s: database: %s",
                 op->request_id != NULL ? op->request_id : "none", fault);
    talloc_free(batch);
}

/* SQLSTATE lock_not_available. The statement has waited already; do not wait again. */
#define LOCK_NOT_AVAILABLE "55P03"

/* True for SQLSTATEs of an outage: shutdown, too many connections, lost connection, read-only
 * standby, lock not available in time. */
static bool
state_is_outage(const char *state)
{
    return strncmp(state, "08", 2) == 0 || strncmp(state, "57P", 3) == 0
           || strncmp(state, "53", 2) == 0 || strcmp(state, "25006") == 0
           || strcmp(state, LOCK_NOT_AVAILABLE) == 0;
}

/* Return the name of the batch's first statement that is not BEGIN and the like. */
static const char *
batch_name(const struct db_batch *batch)
{
    size_t at = 0;
    while (at + 1 < batch->count && batch->step[at].stmt->params == 0)
        at++;
    return batch->count > 0 ? batch->step[at].stmt->name : NULL;
}

/* Exchange a batch, as a span of the request. */
static bool
exchange_traced(struct op *op, struct db_batch *batch)
{
    int span = trace_open(op->az->tracer, TRACE_SQL);
    bool answered = db_exchange(op->az->db, batch);
    trace_close(op->az->tracer, span,
                &(struct trace_facts){.name = batch_name(batch),
                                      .number = (int) batch->count,
                                      .failed = !answered || batch->failed != NULL});
    return answered;
}

enum az_status
db_try(struct op *op, struct db_batch *batch, bool reads_only)
{
    struct db *db = op->az->db;
    const char *fault = db_batch_fault(batch);
    if (fault != NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: %s", fault);
    db_settle(op);
    bool inside = db->in_transaction;
    bool applies = !reads_only && !inside && !batch->adds && op->az->standby != NULL;
    for (int losses = 0, conflicts = 0;; db_batch_reset(batch)) {
        if (applies)
            db_batch_apply(batch);
        enum az_status st = db_connect(op);
        if (st != AZ_OK)
            return st;
        bool answered = exchange_traced(op, batch);
        if (answered && batch->failed == NULL)
            return AZ_OK;
        if (answered && !state_is_outage(batch->failed->sqlstate)) {
            if (inside || !db_again(db, batch, &conflicts))
                return AZ_SQL;
            continue;
        }
        db_close(db);
        bool again = reads_only && losses++ == 0 && !inside;
        if (!again || (answered && strcmp(batch->failed->sqlstate, LOCK_NOT_AVAILABLE) == 0))
            return op_fail(op, AZ_UNAVAILABLE, NULL, "database: %s",
                           answered ? batch->message
                                    : no_outcome(batch, reads_only ? DB_LOST : DB_LOST_WRITE));
    }
}

enum az_status
db_batch_fail(struct op *op, const struct db_batch *batch)
{
    bool conflict = batch->failed != NULL && db_is_conflict(batch->failed->sqlstate);
    return op_fail(op, conflict ? AZ_UNAVAILABLE : AZ_SERVER_ERROR, NULL, "database: %s",
                   batch->message);
}

enum az_status
db_run_or_retry(struct op *op, struct db_batch *batch, bool reads_only, const char *sqlstate)
{
    enum az_status st = db_try(op, batch, reads_only);
    if (st != AZ_SQL)
        return st;
    if (sqlstate != NULL && db_batch_failed_with(batch, sqlstate))
        return AZ_RETRY;
    return db_batch_fail(op, batch);
}

enum az_status
db_run(struct op *op, struct db_batch *batch, bool reads_only)
{
    return db_run_or_retry(op, batch, reads_only, NULL);
}

enum az_status
db_send(struct op *op, struct db_batch *batch)
{
    struct db *db = op->az->db;
    const char *fault = db_batch_fault(batch);
    if (fault != NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: %s", fault);
    db_settle(op);
    enum az_status st = db_connect(op);
    if (st != AZ_OK)
        return st;
    if (!send_batch(db, batch)) {
        db_close(db);
        return op_fail(op, AZ_UNAVAILABLE, NULL, "database: " DB_LOST);
    }
    db->pending = talloc_steal(db, batch);
    return AZ_OK;
}
