/* Functions that use the session instead of prepared statements: scripts, transactions of several
 * trips, LISTEN. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json/jsonx.h"
#include "store/db/db.h"
#include "store/db/db_private.h"

/* Interval at which a process looks for news itself where the server refuses notifications, in
 * milliseconds. Each time reads one row by an index. */
#define QUIET_MS 200

/* Its loss leaves unknown what happened. */
static const char commit[] = "COMMIT";

/* Run a script. ret_state is the SQLSTATE of a failure, or "". */
static enum az_status
run_script(struct op *op, const char *sql, char ret_state[6])
{
    ret_state[0] = '\0';
    if (sql == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: " DB_NO_MEMORY);
    db_settle(op);
    enum az_status st = db_connect(op);
    if (st != AZ_OK)
        return st;
    PGresult *result = PQexec(op->az->db->conn, sql);
    ExecStatusType status = PQresultStatus(result);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    snprintf(ret_state, 6, "%s", state != NULL ? state : "");
    PQclear(result);
    op->az->db->trips++;
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        return AZ_OK;
    /* A failure without SQLSTATE comes from libpq. The server's answer was not read to its end: the
     * rest would be taken for the answer to the next statement. */
    bool lost = PQstatus(op->az->db->conn) != CONNECTION_OK || ret_state[0] == '\0';
    char message[512];
    snprintf(message, sizeof(message), "%s%s",
             lost && strcmp(sql, commit) == 0 ? DB_LOST_WRITE ": " : "",
             PQerrorMessage(op->az->db->conn));
    if (lost)
        db_close(op->az->db);
    return op_fail(op, lost || db_is_conflict(ret_state) ? AZ_UNAVAILABLE : AZ_SERVER_ERROR, NULL,
                   "database: %s", message);
}

enum az_status
db_script(struct op *op, const char *sql)
{
    char state[6];
    return run_script(op, sql, state);
}

enum az_status
db_script_or_retry(struct op *op, const char *sql, const char *sqlstate)
{
    char state[6];
    enum az_status st = run_script(op, sql, state);
    if (st == AZ_OK || strcmp(state, sqlstate) != 0)
        return st;
    az_fault_clear(&op->fault);
    return AZ_RETRY;
}

/* Guard a transaction that has just begun, through a pooler. */
static enum az_status
guard_transaction(struct op *op)
{
    static const struct db_stmt begun_stmt = {"begun", "SELECT 1", 0};
    unsigned session = db_generation(op->az->db);
    enum az_status st = db_exec(op, &begun_stmt, NULL, false, NULL);
    if (st == AZ_OK && session == db_generation(op->az->db))
        return AZ_OK;
    db_close(op->az->db);
    return st != AZ_OK ? st
                       : op_fail(op, AZ_UNAVAILABLE, NULL,
                                 "database: connection lost inside a transaction");
}

#define BEGIN "BEGIN ISOLATION LEVEL READ COMMITTED"
#define BEGIN_APPLIES BEGIN "; SET LOCAL synchronous_commit = remote_apply" /* db_batch_apply */

enum az_status
db_begin(struct op *op)
{
    enum az_status st = db_script(op, op->az->standby != NULL ? BEGIN_APPLIES : BEGIN);
    if (st == AZ_OK && db_is_pooled(op->az->db))
        st = guard_transaction(op);
    if (st == AZ_OK)
        op->az->db->in_transaction = true;
    return st;
}

static enum az_status
db_commit(struct op *op)
{
    enum az_status st = db_script(op, commit);
    const char *lost = db_take_unconfirmed(op->az->db) ? DB_UNCONFIRMED
                       : db_is_fenced(op->az->db)      ? DB_FENCED
                                                       : NULL;
    op->az->db->in_transaction = false;
    if (st == AZ_OK && lost != NULL)
        st = op_fail(op, AZ_UNAVAILABLE, NULL, "database: %s", lost);
    if (st != AZ_OK)
        db_close(op->az->db);
    return st;
}

void
db_rollback(struct op *op)
{
    struct op quiet = op_beside(op, op->mem);
    bool open = op->az->db->conn != NULL && op->az->db->in_transaction;
    if (open && db_script(&quiet, "ROLLBACK") != AZ_OK)
        db_close(op->az->db);
    op->az->db->in_transaction = false;
}

enum az_status
db_end(struct op *op, enum az_status st)
{
    if (st == AZ_OK)
        return db_commit(op);
    db_rollback(op);
    return st;
}

enum az_status
db_limit_lock_wait(struct op *op, int ms)
{
    return db_script(op, talloc_asprintf(op->mem, "SET LOCAL lock_timeout = %d", ms));
}

enum az_status
db_limit_silence(struct op *op, int ms)
{
    return db_script(op, talloc_asprintf(op->mem,
                                         "SET idle_session_timeout = %d; SET "
                                         "idle_in_transaction_session_timeout = %d",
                                         ms, ms));
}

enum az_status
db_allow_silence(struct op *op)
{
    return db_script(op, "RESET idle_session_timeout; RESET idle_in_transaction_session_timeout");
}

void
db_break_silence(struct op *op)
{
    struct op quiet = op_beside(op, op->mem);
    db_script(&quiet, "SELECT 1");
}

/* True if another session sent a notification. Ours do not count: the session that waits also
 * notifies others. */
static bool
take_notifications(PGconn *conn)
{
    bool any = false;
    for (PGnotify *note; (note = PQnotifies(conn)) != NULL; PQfreemem(note))
        any = any || note->be_pid != PQbackendPID(conn);
    return any;
}

enum az_status
db_learn_notify(struct op *op)
{
    static const struct db_stmt learn_stmt = {"learn_notify", "SELECT %N('svc_probe', '')", 0};
    struct db *db = op->az->db;
    enum az_status st = db->quiet_known ? AZ_OK : db_exec(op, &learn_stmt, NULL, true, NULL);
    db->quiet_known = db->quiet_known || st == AZ_OK;
    return st;
}

enum az_status
db_listen(struct op *op, const char *channel)
{
    struct db *db = op->az->db;
    struct op own = op_beside(op, op->mem);
    char state[6];
    if (db->quiet)
        return db_connect(op);
    enum az_status st = run_script(&own, talloc_asprintf(op->mem, "LISTEN %s", channel), state);
    if (st == AZ_OK)
        take_notifications(db->conn); /* notifications since the last wait */
    else if (strcmp(state, SQLSTATE_FEATURE_NOT_SUPPORTED) == 0)
        db->quiet = true;
    else
        op->fault = own.fault;
    return db->quiet ? AZ_OK : st;
}

enum az_status
db_unlisten(struct op *op)
{
    return op->az->db->quiet ? AZ_OK : db_script(op, "UNLISTEN *");
}

bool
db_wait(struct op *op, int ms)
{
    PGconn *conn = op->az->db->conn;
    if (conn == NULL)
        return false;
    if (take_notifications(conn))
        return true;
    if (op->az->db->quiet && ms > QUIET_MS)
        ms = QUIET_MS;
    struct pollfd fd = {.fd = PQsocket(conn), .events = POLLIN};
    if (poll(&fd, 1, ms) <= 0)
        return false;
    if (PQconsumeInput(conn) != 1) {
        db_close(op->az->db);
        return false;
    }
    return take_notifications(conn);
}

enum az_status
db_exec(struct op *op, const struct db_stmt *stmt, const struct db_params *params, bool reads_only,
        PGresult **ret_result)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add(batch, stmt);
    if (params != NULL)
        db_params_copy(&step->params, params);
    enum az_status st = db_run(op, batch, reads_only);
    if (st != AZ_OK || ret_result == NULL)
        return st;
    *ret_result = step->result;
    return AZ_OK;
}

enum az_status
db_fetch_text(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
              const char **ret)
{
    PGresult *result;
    enum az_status st = db_exec(op, stmt, params, true, &result);
    if (st == AZ_OK)
        *ret = db_get(result, 0, 0);
    return st;
}

enum az_status
db_fetch_list(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
              const char **ret)
{
    PGresult *result;
    enum az_status st = db_exec(op, stmt, params, true, &result);
    if (st != AZ_OK)
        return st;
    size_t length = sizeof("[]");
    for (int row = 0; row < PQntuples(result); row++)
        length += (size_t) PQgetlength(result, row, 0) + 1;
    char *text = talloc_array(op->mem, char, (unsigned) length), *at = text;
    if (text == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: out of memory for a list");
    *at++ = '[';
    for (int row = 0; row < PQntuples(result); row++) {
        if (row > 0)
            *at++ = ',';
        at = stpcpy(at, PQgetvalue(result, row, 0));
    }
    strcpy(at, "]");
    *ret = text;
    return AZ_OK;
}

enum az_status
db_fetch_array(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
               json_t **ret)
{
    const char *text;
    enum az_status st = db_fetch_list(op, stmt, params, &text);
    if (st != AZ_OK)
        return st;
    if (jsonx_parse(op->mem, text, strlen(text), DB_JSON_DEPTH_MAX, ret, NULL) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: the list of %s cannot be read",
                       stmt->name);
    return AZ_OK;
}

enum az_status
db_write_read(struct op *op, const struct db_stmt *write, const struct db_params *params,
              const struct db_stmt *read, const char *taken, PGresult **ret)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *first = db_batch_add(batch, write), *second = db_batch_add(batch, read);
    db_params_copy(&first->params, params);
    db_text(&second->params, params->value[0]);
    enum az_status st = db_run_or_retry(op, batch, false, SQLSTATE_UNIQUE_VIOLATION);
    if (st == AZ_RETRY)
        return op_fail(op, AZ_CONFLICT, taken, NULL);
    if (st == AZ_OK)
        *ret = PQntuples(first->result) == 1 ? second->result : NULL;
    return st;
}
