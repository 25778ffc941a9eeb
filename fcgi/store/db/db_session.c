/* What uses the session rather than prepared statements: scripts, transactions of several trips,
 * LISTEN. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

#include "store/db/db.h"
#include "store/db/db_private.h"

static int
result_destroy(PGresult **holder)
{
    PQclear(*holder);
    return 0;
}

enum az_status
db_script(struct op *op, const char *sql)
{
    enum az_status st = db_settle(op);
    if (st == AZ_OK)
        st = db_connect(op);
    if (st != AZ_OK)
        return st;
    PGresult *result = PQexec(op->az->db->conn, sql);
    PGresult **holder = talloc(op->mem, PGresult *);
    *holder = result;
    talloc_set_destructor(holder, result_destroy);
    op->az->db->trips++;
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        return AZ_OK;
    char message[384];
    snprintf(message, sizeof(message), "%s", PQerrorMessage(op->az->db->conn));
    bool lost = PQstatus(op->az->db->conn) != CONNECTION_OK;
    if (lost)
        db_close(op->az->db);
    return op_fail(op, lost ? AZ_UNAVAILABLE : AZ_SERVER_ERROR, NULL, "database: %s", message);
}

enum az_status
db_begin(struct op *op)
{
    enum az_status st = db_script(op, "BEGIN");
    if (st == AZ_OK)
        op->az->db->in_transaction = true;
    return st;
}

enum az_status
db_commit(struct op *op)
{
    enum az_status st = db_script(op, "COMMIT");
    op->az->db->in_transaction = false;
    if (st != AZ_OK)
        db_close(op->az->db);
    return st;
}

void
db_rollback(struct op *op)
{
    struct op quiet = {.mem = op->mem, .az = op->az};
    if (op->az->db->conn == NULL || !op->az->db->in_transaction)
        return;
    if (db_script(&quiet, "ROLLBACK") != AZ_OK)
        db_close(op->az->db);
    op->az->db->in_transaction = false;
}

/* Our own are no news: who waits also writes what others wait for. */
static bool
take_notifications(PGconn *conn)
{
    bool any = false;
    for (PGnotify *note; (note = PQnotifies(conn)) != NULL; PQfreemem(note))
        any = any || note->be_pid != PQbackendPID(conn);
    return any;
}

enum az_status
db_listen(struct op *op, const char *channel)
{
    enum az_status st = db_script(op, talloc_asprintf(op->mem, "LISTEN %s", channel));
    if (st == AZ_OK)
        take_notifications(op->az->db->conn); /* those that came after the last wait */
    return st;
}

enum az_status
db_unlisten(struct op *op)
{
    return db_script(op, "UNLISTEN *");
}

bool
db_wait(struct op *op, int ms)
{
    PGconn *conn = op->az->db->conn;
    if (conn == NULL)
        return false;
    if (take_notifications(conn))
        return true;
    struct pollfd fd = {.fd = PQsocket(conn), .events = POLLIN};
    if (poll(&fd, 1, ms) <= 0)
        return false;
    if (PQconsumeInput(conn) != 1) {
        db_close(op->az->db);
        return false;
    }
    return take_notifications(conn);
}
