#include "config.h"

#include "store/db.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/db_private.h"
#include "store/partitions.h"

/* A dead first host of a multi-host address costs each worker this long. Seconds. */
#define CONNECT_TIMEOUT "2"
/* A server that does not answer for so long counts as lost; no statement of ours takes a tenth of
 * it. Milliseconds. */
#define ANSWER_TIMEOUT_MS 10000
/* Wait between attempts to connect, doubled up to the maximum, so that an outage is not made worse.
 * Milliseconds. */
#define BACKOFF_FIRST_MS 50
#define BACKOFF_MAXIMUM_MS 1000
/* Reads of an idle connection before it counts as broken: a last message and the end are two. */
#define IDLE_LOOKS 8
/* Prepared statements of dropped partitions pile up slowly; past this many all are forgotten and
 * made anew. */
#define PREPARED_MAXIMUM 400

static int64_t
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int
db_destroy(struct db *db)
{
    db_close(db);
    return 0;
}

struct db *
db_new(TALLOC_CTX *mem, const char *url)
{
    struct db *db = talloc_zero(mem, struct db);
    if (db == NULL)
        return NULL;
    db->url = talloc_strdup(db, url);
    db->partitions = partition_lists_new(db);
    if (db->url == NULL || db->partitions == NULL) {
        talloc_free(db);
        return NULL;
    }
    talloc_set_destructor(db, db_destroy);
    return db;
}

static void
drop_session(struct db *db)
{
    TALLOC_FREE(db->prepared);
    TALLOC_FREE(db->pending);
    db->prepared_count = 0;
}

void
db_close(struct db *db)
{
    if (db->conn != NULL)
        PQfinish(db->conn);
    db->conn = NULL;
    db->in_transaction = false;
    drop_session(db);
}

PGconn *
db_raw(struct db *db)
{
    return db->conn;
}

struct partition_lists *
db_partition_lists(struct db *db)
{
    return db->partitions;
}

uint64_t
db_trips(const struct db *db)
{
    return db->trips;
}

unsigned
db_generation(const struct db *db)
{
    return db->generation;
}

/*
 * An idle connection whose server went away is readable: find out now, while nothing has been sent
 * yet. A dying server says why first, so what is there is read until the end shows.
 */
static bool
still_alive(struct db *db)
{
    if (db->conn == NULL || PQstatus(db->conn) != CONNECTION_OK)
        return false;
    if (db->pending != NULL)
        return true;
    struct pollfd fd = {.fd = PQsocket(db->conn), .events = POLLIN};
    for (int looks = 0; poll(&fd, 1, 0) != 0; looks++)
        if (looks == IDLE_LOOKS || PQconsumeInput(db->conn) != 1
            || PQstatus(db->conn) != CONNECTION_OK)
            return false;
    return true;
}

enum az_status
db_connect(struct op *op)
{
    struct db *db = op->az->db;
    if (still_alive(db))
        return AZ_OK;
    bool inside = db->in_transaction;
    db_close(db);
    /* The rest of a transaction must never run on another session, without its beginning and its
     * locks. */
    if (inside)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "database: connection lost inside a transaction");
    if (db->backoff_ms != 0 && now_ms() < db->retry_at_ms)
        return op_fail(op, AZ_UNAVAILABLE, NULL,
                       "database: waiting before the next connection attempt");
    const char *const keys[] = {"connect_timeout", "tcp_user_timeout", "application_name",
                                "client_encoding", "dbname",           NULL};
    const char *const values[] = {CONNECT_TIMEOUT, "5000", "authz", "UTF8", db->url, NULL};
    db->conn = PQconnectdbParams(keys, values, 1);
    if (db->conn == NULL || PQstatus(db->conn) != CONNECTION_OK) {
        op_fail(op, AZ_UNAVAILABLE, NULL, "database: %s",
                db->conn != NULL ? PQerrorMessage(db->conn) : "no memory");
        db_close(db);
        db->backoff_ms = db->backoff_ms == 0 ? BACKOFF_FIRST_MS : db->backoff_ms * 2;
        if (db->backoff_ms > BACKOFF_MAXIMUM_MS)
            db->backoff_ms = BACKOFF_MAXIMUM_MS;
        db->retry_at_ms = now_ms() + db->backoff_ms;
        return AZ_UNAVAILABLE;
    }
    db->backoff_ms = 0;
    db->generation++;
    PQsetNoticeProcessor(db->conn, db_quiet, NULL);
    return AZ_OK;
}

/* Prepared names of this connection, found by a short hash. */
static struct prepared **
prepared_slot(struct db *db, const char *name)
{
    uint32_t hash = 5381;
    for (const char *c = name; *c != '\0'; c++)
        hash = hash * 33 ^ (unsigned char) *c;
    struct prepared **slot = &db->table[hash % DB_PREPARED_SLOTS];
    while (*slot != NULL && strcmp((*slot)->name, name) != 0)
        slot = &(*slot)->next;
    return slot;
}

static bool
is_prepared(struct db *db, const char *name)
{
    return db->prepared != NULL && *prepared_slot(db, name) != NULL;
}

static void
remember_prepared(struct db *db, const char *name)
{
    if (db->prepared == NULL) {
        db->prepared = talloc_new(db);
        memset(db->table, 0, sizeof(db->table));
    }
    struct prepared **slot = prepared_slot(db, name);
    struct prepared *entry = *slot == NULL ? talloc_zero(db->prepared, struct prepared) : NULL;
    if (entry == NULL)
        return;
    entry->name = talloc_strdup(entry, name);
    *slot = entry;
    db->prepared_count++;
}

static char *
fill_text(TALLOC_CTX *mem, const struct db_step *step)
{
    char *text = talloc_strdup(mem, "");
    for (const char *c = step->stmt->text; *c != '\0' && text != NULL;) {
        size_t plain = strcspn(c, "%");
        text = talloc_strndup_append_buffer(text, c, plain);
        c += plain;
        if (c[0] == '%' && (c[1] == 'P' || c[1] == 'D')) {
            text = talloc_strdup_append_buffer(text, c[1] == 'P' ? step->partition : step->day);
            c += 2;
        } else if (c[0] == '%') {
            text = talloc_strndup_append_buffer(text, c++, 1);
        }
    }
    return text;
}

/* Queues PREPARE (when the connection has not seen the statement) and the execution of one step. */
static bool
queue_step(struct db *db, struct db_batch *batch, struct db_step *step, size_t index)
{
    struct db_params *params = &step->params;
    snprintf(batch->name[index], sizeof(batch->name[index]), "%s:%s:%s", step->stmt->name,
             step->partition != NULL ? step->partition : "", step->day != NULL ? step->day : "");
    batch->prepares[index] = !is_prepared(db, batch->name[index]);
    for (size_t i = 0; i < index; i++)
        if (batch->prepares[i] && strcmp(batch->name[i], batch->name[index]) == 0)
            batch->prepares[index] = false;
    if (batch->prepares[index]) {
        char *text = fill_text(batch, step);
        if (text == NULL || PQsendPrepare(db->conn, batch->name[index], text, 0, NULL) != 1)
            return false;
    }
    return PQsendQueryPrepared(db->conn, batch->name[index], params->count, params->value,
                               params->length, params->format, 0)
           == 1;
}

static bool
send_batch(struct db *db, struct db_batch *batch)
{
    if (PQenterPipelineMode(db->conn) != 1)
        return false;
    for (size_t i = 0; i < batch->count; i++)
        if (!queue_step(db, batch, &batch->step[i], i))
            return false;
    db->trips++;
    return PQpipelineSync(db->conn) == 1;
}

/* PQgetResult with a bound on the wait. NULL with *ret_lost set when the connection is gone or
 * silent. */
static PGresult *
next_result(struct db *db, bool *ret_lost)
{
    while (PQisBusy(db->conn)) {
        struct pollfd fd = {.fd = PQsocket(db->conn), .events = POLLIN};
        if (PQflush(db->conn) == 1)
            fd.events |= POLLOUT;
        int ready = poll(&fd, 1, ANSWER_TIMEOUT_MS);
        if (ready < 0 && errno == EINTR)
            continue; /* a stop signal: the answer in hand is still wanted */
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

/* Reads the results of one queued command (prepare or execute); the last one that carries rows or
 * an error is kept. */
static PGresult *
collect_command(struct db *db, bool *ret_lost)
{
    PGresult *kept = NULL;
    for (;;) {
        PGresult *result = next_result(db, ret_lost);
        if (result == NULL)
            return kept;
        if (kept != NULL)
            PQclear(kept);
        kept = result;
    }
}

static bool
result_ok(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

static void
note_error(struct db_batch *batch, struct db_step *step, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    snprintf(step->sqlstate, sizeof(step->sqlstate), "%s", state != NULL ? state : "XX000");
    if (batch->failed == NULL && PQresultStatus(result) != PGRES_PIPELINE_ABORTED) {
        batch->failed = step;
        snprintf(batch->message, sizeof(batch->message), "%s: %s (SQLSTATE %s)", step->stmt->name,
                 message != NULL ? message : "no message", step->sqlstate);
    }
}

static void
collect_step(struct db *db, struct db_batch *batch, size_t index, bool *ret_lost)
{
    struct db_step *step = &batch->step[index];
    if (batch->prepares[index]) {
        PGresult *prepared = collect_command(db, ret_lost);
        if (prepared != NULL && result_ok(prepared))
            remember_prepared(db, batch->name[index]);
        else if (prepared != NULL)
            note_error(batch, step, prepared);
        PQclear(prepared);
    }
    if (*ret_lost)
        return;
    step->result = collect_command(db, ret_lost);
    if (step->result != NULL && !result_ok(step->result) && step->sqlstate[0] == '\0')
        note_error(batch, step, step->result);
}

/* True when every result was read; false when the connection was lost on the way. */
static bool
collect_batch(struct db *db, struct db_batch *batch)
{
    bool lost = false;
    for (size_t i = 0; i < batch->count && !lost; i++)
        collect_step(db, batch, i, &lost);
    if (!lost)
        PQclear(next_result(db, &lost)); /* the pipeline's sync */
    if (!lost)
        lost = PQexitPipelineMode(db->conn) != 1;
    /* A statement that failed between BEGIN and COMMIT leaves a dead transaction: start afresh. */
    if (!lost && PQtransactionStatus(db->conn) == PQTRANS_INERROR)
        db_close(db);
    if (lost)
        db_close(db);
    return !lost;
}

enum az_status
db_settle(struct op *op)
{
    struct db *db = op->az->db;
    if (db->pending == NULL)
        return AZ_OK;
    struct db_batch *batch = talloc_steal(op->mem, db->pending);
    db->pending = NULL;
    if (!collect_batch(db, batch))
        return op_fail(op, AZ_UNAVAILABLE, NULL, "database: connection lost after the answer");
    if (batch->failed != NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: %s", batch->message);
    return AZ_OK;
}

/* SQLSTATEs that say "not now": shutdown, too many connections, lost connection, read-only standby.
 */
static bool
state_is_outage(const char *state)
{
    return strncmp(state, "08", 2) == 0 || strncmp(state, "57P", 3) == 0
           || strncmp(state, "53", 2) == 0 || strcmp(state, "25006") == 0;
}

static void
forget_prepared(struct op *op)
{
    static const struct db_stmt forget = {"deallocate_all", "DEALLOCATE ALL", 0};
    PGresult *result = PQexec(op->az->db->conn, forget.text);
    PQclear(result);
    TALLOC_FREE(op->az->db->prepared);
    op->az->db->prepared_count = 0;
}

enum az_status
db_try(struct op *op, struct db_batch *batch, bool reads_only)
{
    struct db *db = op->az->db;
    enum az_status st = db_settle(op);
    if (st != AZ_OK)
        az_fault_clear(&op->fault);
    bool inside = db->in_transaction;
    for (int attempt = 0; attempt < 2; attempt++) {
        if ((st = db_connect(op)) != AZ_OK)
            return st;
        if (db->prepared_count > PREPARED_MAXIMUM)
            forget_prepared(op);
        bool answered = send_batch(db, batch) && collect_batch(db, batch);
        if (answered && batch->failed == NULL)
            return AZ_OK;
        bool outage = !answered || state_is_outage(batch->failed->sqlstate);
        if (!outage)
            return AZ_INVALID;
        db_close(db);
        if (!reads_only || attempt == 1 || inside)
            return op_fail(op, AZ_UNAVAILABLE, NULL, "database: %s",
                           answered ? batch->message : "connection lost");
        db_batch_reset(batch);
    }
    return AZ_UNAVAILABLE;
}

enum az_status
db_run(struct op *op, struct db_batch *batch, bool reads_only)
{
    enum az_status st = db_try(op, batch, reads_only);
    if (st == AZ_INVALID)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: %s", batch->message);
    return st;
}

enum az_status
db_send(struct op *op, struct db_batch *batch)
{
    struct db *db = op->az->db;
    enum az_status st = db_settle(op);
    if (st == AZ_OK)
        st = db_connect(op);
    if (st != AZ_OK)
        return st;
    if (!send_batch(db, batch)) {
        db_close(db);
        return op_fail(op, AZ_UNAVAILABLE, NULL, "database: connection lost");
    }
    db->pending = talloc_steal(db, batch);
    return AZ_OK;
}
