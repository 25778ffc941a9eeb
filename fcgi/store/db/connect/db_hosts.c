#include "config.h"

#include "store/db/connect/db_hosts.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/network.h"
#include "store/db/db.h"
#include "store/db/db_private.h"
#include "store/db/keep/locks.h"

/* Time limit of an answer on a new connection: a server that froze behind its greeting must not
 * keep the process. Milliseconds. */
#define ASK_MS 2000

/* Split a list of the connection string; return the number of its words, 0 if one is empty or there
 * are too many. */
static size_t
split(TALLOC_CTX *mem, const char *list, const char *word[DB_HOSTS_MAX])
{
    size_t count = 0;
    for (const char *at = list; at != NULL; count++) {
        size_t length = strcspn(at, ",");
        if (length == 0 || count == DB_HOSTS_MAX)
            return 0;
        word[count] = talloc_strndup(mem, at, length);
        if (word[count] == NULL)
            return 0;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return count;
}

static const char *
value_of(const PQconninfoOption *options, const char *keyword)
{
    for (const PQconninfoOption *row = options; row != NULL && row->keyword != NULL; row++)
        if (strcmp(row->keyword, keyword) == 0 && row->val != NULL && *row->val != '\0')
            return row->val;
    return NULL;
}

struct db_hosts *
db_hosts_read(TALLOC_CTX *mem, const char *url)
{
    struct db_hosts *hosts = talloc_zero(mem, struct db_hosts);
    PQconninfoOption *options = hosts != NULL ? PQconninfoParse(url, NULL) : NULL;
    const char *list[] = {value_of(options, "host"), value_of(options, "hostaddr"),
                          value_of(options, "port")};
    const char *word[3][DB_HOSTS_MAX] = {{NULL}};
    size_t count[3];
    for (int i = 0; i < 3; i++)
        count[i] = split(hosts, list[i], word[i]);
    PQconninfoFree(options);
    size_t servers = list[0] != NULL ? count[0] : count[1];
    /* A list that libpq would refuse is left to it, for its message. */
    bool whole = (list[1] == NULL || count[1] == servers)
                 && (list[2] == NULL || count[2] == servers || count[2] == 1);
    for (size_t i = 0; whole && i < servers; i++)
        hosts->host[i] = (struct db_host){word[0][i], word[1][i], word[2][count[2] == 1 ? 0 : i]};
    if (hosts != NULL && whole)
        hosts->count = servers;
    return hosts;
}

/* True for a name or address of another machine, and not of a socket of this one. */
static bool
is_far(const char *host)
{
    return host != NULL && *host != '\0' && *host != '/' && *host != '@'
           && strcasecmp(host, "localhost") != 0 && !network_is_loopback(host);
}

/* Return a value of the connection string, or of the variable that libpq reads in its place. */
static const char *
value_or(TALLOC_CTX *mem, const PQconninfoOption *options, const char *keyword,
         const char *variable)
{
    const char *value = value_of(options, keyword), *other = getenv(variable);
    return value != NULL                     ? talloc_strdup(mem, value)
           : other != NULL && *other != '\0' ? other
                                             : NULL;
}

bool
db_url_is_exposed(TALLOC_CTX *mem, const char *url, struct db_exposure *ret)
{
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    const char *mode = value_or(mem, options, "sslmode", "PGSSLMODE");
    const char *gss = value_or(mem, options, "gssencmode", "PGGSSENCMODE");
    const char *host = value_or(mem, options, "hostaddr", "PGHOSTADDR");
    if (host == NULL)
        host = value_or(mem, options, "host", "PGHOST");
    PQconninfoFree(options);
    *ret = (struct db_exposure){NULL, mode != NULL ? mode : "prefer"};
    while (host != NULL && ret->host == NULL) {
        size_t length = strcspn(host, ",");
        const char *one = talloc_strndup(mem, host, length);
        ret->host = is_far(one) ? one : NULL;
        host = host[length] == ',' ? host + length + 1 : NULL;
    }
    if (ret->host != NULL && !db_url_is_plain(url))
        ret->host = "another machine";
    return ret->host != NULL && strncmp(ret->mode, "verify-", 7) != 0
           && (gss == NULL || strcmp(gss, "require") != 0);
}

/* The parts that say where a server is; without one of them libpq takes the same for both. */
static const char *const place_keywords[] = {"host", "hostaddr", "port", NULL};

bool
db_is_same_server(const char *url, const char *other)
{
    PQconninfoOption *a = PQconninfoParse(url, NULL), *b = PQconninfoParse(other, NULL);
    bool same = a != NULL && b != NULL;
    for (const char *const *keyword = place_keywords; *keyword != NULL && same; keyword++) {
        const char *one = value_of(a, *keyword), *two = value_of(b, *keyword);
        same = one == NULL || two == NULL ? one == two
                                          : strcmp(one, two) == 0 && strchr(one, ',') == NULL;
    }
    PQconninfoFree(a);
    PQconninfoFree(b);
    return same;
}

size_t
db_hosts_first(const struct db_hosts *hosts, struct db_board *board, size_t otherwise)
{
    uint32_t known = board != NULL ? atomic_load(&board->host) : 0;
    if (known > 0 && known <= hosts->count)
        return known - 1;
    return otherwise < hosts->count ? otherwise : 0;
}

void
db_hosts_note(struct db_board *board, size_t host, bool good)
{
    uint32_t known = (uint32_t) host + 1;
    if (board == NULL)
        return;
    if (good)
        atomic_store(&board->host, known);
    else
        atomic_compare_exchange_strong(&board->host, &known, 0);
}

/* A line is a hash of the cluster's identifier in the upper half, and the timeline in the lower. */
uint64_t
db_line_make(const char *cluster, unsigned long timeline)
{
    return (uint64_t) (uint32_t) lock_number(cluster, strlen(cluster)) << 32 | (uint32_t) timeline;
}

/* Return the line of the same cluster with another timeline. */
static uint64_t
db_line_of(uint64_t line, unsigned long timeline)
{
    return line >> 32 << 32 | (uint32_t) timeline;
}

unsigned
db_line_timeline(uint64_t line)
{
    return (unsigned) (line & UINT32_MAX);
}

bool
db_line_is_old(uint64_t line, uint64_t newest)
{
    return line != 0 && line >> 32 == newest >> 32 && line < newest;
}

bool
db_line_take(struct db_board *board, uint64_t line)
{
    uint64_t newest = atomic_load(&board->line);
    while (line != 0 && newest != line) {
        if (db_line_is_old(line, newest))
            return false;
        if (atomic_compare_exchange_weak(&board->line, &newest, line))
            break;
    }
    return true;
}

/* Return the first error of what was sent, or its last result; NULL if no result came in time. */
static PGresult *
ask_result(PGconn *conn)
{
    int64_t until = clock_monotonic_ms() + ASK_MS;
    PGresult *kept = NULL;
    while (clock_monotonic_ms() < until) {
        int64_t left = until - clock_monotonic_ms();
        if (PQisBusy(conn)) {
            struct pollfd fd = {.fd = PQsocket(conn), .events = POLLIN};
            int ready = left > 0 ? poll(&fd, 1, (int) left) : 0;
            if (ready < 0 && errno == EINTR)
                continue; /* a stop signal: the connection is still made */
            if (ready <= 0 || PQconsumeInput(conn) != 1)
                break;
            continue;
        }
        PGresult *result = PQgetResult(conn);
        if (result == NULL)
            return kept;
        kept = db_result_keep(kept, result);
    }
    PQclear(kept);
    return NULL;
}

PGresult *
db_ask(PGconn *conn, const char *sql)
{
    return PQsendQuery(conn, sql) == 1 ? ask_result(conn) : NULL;
}

/* Prepare a statement without parameters on a new connection under a name, and run it by that; in
 * other words as db_ask. */
static PGresult *
db_ask_prepared(PGconn *conn, const char *name, const char *sql)
{
    PGresult *result = PQsendPrepare(conn, name, sql, 0, NULL) == 1 ? ask_result(conn) : NULL;
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        return result;
    PQclear(result);
    return PQsendQueryPrepared(conn, name, 0, NULL, NULL, NULL, 0) == 1 ? ask_result(conn) : NULL;
}

/* The server's process shows a pooler, which gives its clients numbers of its own. The timeline is
 * the one that the server writes now; the control file may have the timeline of the last
 * checkpoint. */
enum line_member { LINE_PROCESS, LINE_STANDBY, LINE_CLUSTER, LINE_TIMELINE };
#define PROCESS_SQL "SELECT pg_backend_pid(), pg_is_in_recovery()"
static const char line_sql[] =
    PROCESS_SQL ", system_identifier, CASE WHEN NOT pg_is_in_recovery() THEN "
                "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END FROM pg_control_system()";

bool
db_line_read(PGconn *conn, uint64_t *ret, bool *ret_pooler, bool *ret_standby)
{
    PGresult *result = db_ask(conn, line_sql);
    const char *cluster = NULL, *timeline = NULL;
    if (PQresultStatus(result) == PGRES_TUPLES_OK) {
        cluster = db_get(result, 0, LINE_CLUSTER);
        timeline = db_get(result, 0, LINE_TIMELINE);
    } else if (PQresultErrorField(result, PG_DIAG_SQLSTATE) != NULL) { /* it has no such function */
        PQclear(result);
        result = db_ask(conn, PROCESS_SQL);
    }
    bool told = db_result_is_whole(result) || PQresultErrorField(result, PG_DIAG_SQLSTATE) != NULL;
    int64_t process = db_get_number(result, 0, LINE_PROCESS, 0);
    *ret_standby = db_get_bool(result, 0, LINE_STANDBY);
    *ret_pooler = process != 0 && process != PQbackendPID(conn);
    *ret = cluster != NULL && timeline != NULL ? db_line_make(cluster, strtoul(timeline, NULL, 16))
                                               : 0;
    PQclear(result);
    return told;
}

/* ---- a pooler before the database (SVC_DATABASE_DIRECT_URL): each transaction may run on another
 * session, of another server, and what needs a session goes past it ---- */

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
