/* A pooler before the database (SVC_DATABASE_DIRECT_URL): each transaction may run on another
 * session, of another server, and what needs a session goes past it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "store/db/connect/db_hosts.h"
#include "store/db/db.h"
#include "store/db/db_private.h"

/* A server that knows this name got the statement as we sent it, and another transaction finds it
 * on another session, or not at all. */
#define PROBE "authz_probe"
static const char probe_sql[] =
    "SELECT EXISTS (SELECT 1 FROM pg_prepared_statements WHERE name = '" PROBE "')";

#define POOLER                                                                                     \
    "the address leads to a pooler such as pgbouncer, through which locks of sessions and LISTEN " \
    "do not work: name PostgreSQL itself in SVC_DATABASE_DIRECT_URL"
#define DIRECT                                                                                     \
    "SVC_DATABASE_DIRECT_URL leads to a pooler such as pgbouncer, too: name PostgreSQL itself "    \
    "there"
static const char forgets[] =
    "SVC_DATABASE_URL leads to a pooler that does not keep prepared statements: use pgbouncer "
    "1.21 or newer with pool_mode = transaction and max_prepared_statements above 0 (500)";

bool
db_use_pooler(struct db *db, const char *direct)
{
    db->direct = talloc_strdup(db, direct);
    return db->direct != NULL;
}

bool
db_is_pooled(const struct db *db)
{
    return db->direct != NULL;
}

bool
db_is_misplaced(const struct db *db)
{
    return db->misplaced || (db->beside != NULL && db->beside->misplaced);
}

const char *
db_session_url(const struct db *db)
{
    return db->direct != NULL ? db->direct : db->url;
}

/* True if the server refused a statement because its name is not there, or is there already. */
static bool
is_name_refused(const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state != NULL && (strcmp(state, "26000") == 0 || strcmp(state, "42P05") == 0);
}

/* Return the fault of a pooler by which a statement that was prepared is not there in the next
 * transaction, on whatever session; NULL: it is. A lost connection, or no answer, says nothing of
 * the pooler: its server may have ended. */
static const char *
find_statement_fault(PGconn *conn)
{
    PGresult *result = db_ask_prepared(conn, PROBE, probe_sql);
    bool told = PQresultStatus(result) == PGRES_TUPLES_OK;
    const char *fault = NULL;
    if (told ? db_get_bool(result, 0, 0) : is_name_refused(result))
        fault = forgets;
    else if (!told)
        fault = "the server behind the pooler does not answer";
    PQclear(result);
    if (fault != NULL) /* leave the session to its next user as it was */
        PQclear(db_ask(conn, "DEALLOCATE " PROBE));
    return fault;
}

const char *
db_pooler_fault(struct db *db, bool pooler)
{
    const char *fault = NULL;
    if (pooler && !db_is_pooled(db))
        fault = strcmp(db->setting, "SVC_DATABASE_DIRECT_URL") == 0 ? DIRECT : POOLER;
    else if (pooler)
        fault = find_statement_fault(db->conn);
    db->misplaced = db->misplaced || (fault != NULL && (!db_is_pooled(db) || fault == forgets));
    return fault;
}

bool
db_guard_holds(struct db *db, const struct db_batch *batch)
{
    const struct db_step *guard = &batch->step[DB_BATCH_MAX];
    if (!batch->guards || guard->sqlstate[0] != '\0')
        return true;
    const char *timeline = db_get(guard->result, 0, 0);
    if (timeline == NULL)
        return false;
    if (db->line == 0)
        return true;
    db->line = db_line_of(db->line, strtoul(timeline, NULL, 16));
    return db->board == NULL || db_line_take(db->board, db->line);
}
