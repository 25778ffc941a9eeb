/* Making the connection: each server of SVC_DATABASE_URL in turn, until one takes writes. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "crypto/random.h"
#include "store/db/connect/db_hosts.h"
#include "store/db/db.h"
#include "store/db/db_private.h"
#include "store/db/keep/locks.h"

/* Longest wait for one server. Seconds. */
#define CONNECT_TIMEOUT "2"
/* Time after which no further server is tried; the next attempt begins with that one. Milliseconds.
 */
#define CONNECT_ALL_MS 5000
/* An `options` in SVC_DATABASE_URL replaces these. A pooler refuses them. */
#define SESSION_OPTIONS                                                                            \
    "-c lock_timeout=" DB_LOCK_TIMEOUT " -c client_connection_check_interval=" DB_CHECK_INTERVAL   \
    " -c client_min_messages=" DB_LEAST_MESSAGE " -c jit=" DB_JIT

#define STANDBYS_ONLY                                                                              \
    "no server that answers takes writes: SVC_DATABASE_URL must name the primary too; or promote " \
    "a standby. Patroni without its store (etcd) makes the primary a standby until that is back"

void
db_use_board(struct db *db, struct db_board *board)
{
    db->board = board;
}

void
db_forget_line(struct db *db)
{
    if (db->board == NULL)
        return;
    atomic_store(&db->board->line, 0);
    atomic_store(&db->board->standby, 0);
    atomic_store(&db->board->standby_told_ms, 0);
}

bool
db_is_fenced(const struct db *db)
{
    return db->board != NULL && db_line_is_old(db->line, atomic_load(&db->board->line));
}

bool
db_url_is_plain(const char *url)
{
    static const char *const schemes[] = {"postgresql://", "postgres://"};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        size_t length = strlen(schemes[i]);
        if (strncmp(url, schemes[i], length) != 0)
            continue;
        const char *at = strchr(url + length, '@'), *slash = strchr(url + length, '/');
        return at == NULL || (strchr(at + 1, '@') == NULL && (slash == NULL || slash > at));
    }
    return true;
}

/* PQconnectdbParams, or PQconnectStartParams. */
typedef PGconn *connect_fn(const char *const *keys, const char *const *values, int expand_dbname);

/* Connect to one server, which sees the account of the process at this moment (peer
 * authentication). `attrs` replaces the target_session_attrs of the connection string, unless NULL.
 */
static PGconn *
connect_with(const struct db *db, const struct db_host *host, const char *attrs, connect_fn *make)
{
    const char *const keys[] = {"connect_timeout",
                                "tcp_user_timeout",
                                "application_name",
                                "options",
                                "client_encoding",
                                "dbname",
                                "target_session_attrs",
                                "host",
                                "hostaddr",
                                "port",
                                NULL};
    const char *const values[] = {CONNECT_TIMEOUT,
                                  "5000",
                                  "authz",
                                  db_is_pooled(db) ? NULL : SESSION_OPTIONS,
                                  "UTF8",
                                  db->url,
                                  attrs,
                                  host != NULL ? host->name : NULL,
                                  host != NULL ? host->address : NULL,
                                  host != NULL ? host->port : NULL,
                                  NULL};
    if (db->as == 0)
        return make(keys, values, 1);
    if (seteuid(db->as) != 0)
        return NULL;
    PGconn *conn = make(keys, values, 1);
    if (seteuid(0) != 0)
        abort(); /* what follows must not run under an account that it does not expect */
    return conn;
}

#define NOT_SHOWN                                                                                  \
    "cannot connect; libpq's reason is not shown because an @ or / in the address may be part of " \
    "a password: write %40 and %2F instead"

const char *
db_connect_fault(const struct db *db)
{
    if (db->conn == NULL)
        return "out of memory";
    if (!db_url_is_plain(db->url))
        return NOT_SHOWN;
    return PQerrorMessage(db->conn);
}

/* Notices of the server are not printed. One matters: a server that is told to end its wait for a
 * synchronous standby reports the commit as done, behind a warning. Its text may be translated, so
 * the function that sent it tells it apart. */
static void
take_notice(void *arg, const PGresult *notice)
{
    struct db *db = arg;
    const char *from = PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION);
    if (from != NULL && strcmp(from, "SyncRepWaitForLSN") == 0)
        db->unconfirmed = true;
}

void
db_add_fault(struct db *db, const char *server, const char *reason)
{
    size_t used = strlen(db->fault), length = strlen(reason);
    while (length > 0 && reason[length - 1] == '\n')
        length--;
    snprintf(db->fault + used, sizeof(db->fault) - used, "%s%s%.*s", used > 0 ? "; " : "", server,
             (int) length, reason);
}

/* Name a server that answered, for a message. */
static const char *
server_name(const struct db *db, char ret[DB_SERVER_SIZE])
{
    if (db_url_is_plain(db->url))
        snprintf(ret, DB_SERVER_SIZE, "%s port %s", PQhost(db->conn), PQport(db->conn));
    else
        snprintf(ret, DB_SERVER_SIZE, "a server of %s", db->setting);
    return ret;
}

static bool
is_on(const PGconn *conn, const char *parameter)
{
    const char *value = PQparameterStatus(conn, parameter);
    return value != NULL && strcmp(value, "on") == 0;
}

/* Refuse a server that takes no writes: *ret_standby. The parameters that a pooler passes on may be
 * another server's, so they do not count there. */
static bool
takes_writes(struct db *db, bool *ret_standby)
{
    char server[DB_SERVER_SIZE];
    bool told = !db_is_pooled(db);
    *ret_standby = *ret_standby || (told && is_on(db->conn, "in_hot_standby"));
    if (!*ret_standby && !(told && is_on(db->conn, "default_transaction_read_only")))
        return true;
    db_add_fault(db, server_name(db, server),
                 *ret_standby ? " is a standby"
                              : " takes no writes: default_transaction_read_only is on");
    return false;
}

/* Refuse a server that takes no writes, or whose writes do not count because another server has
 * become the primary since. */
static bool
take_server(struct db *db, bool *ret_standby)
{
    char server[DB_SERVER_SIZE], reason[DB_FAULT_SIZE];
    bool pooler;
    *ret_standby = false;
    db->line = 0;
    if (!takes_writes(db, ret_standby))
        return false;
    if (db->board == NULL)
        return true;
    if (!db_line_read(db->conn, &db->line, &pooler, ret_standby)) {
        db_add_fault(db, server_name(db, server), " did not tell its timeline in time");
        return false;
    }
    if (!takes_writes(db, ret_standby))
        return false;
    const char *fault = db_pooler_fault(db, pooler);
    if (fault != NULL) {
        db_add_fault(db, "", fault);
        return false;
    }
    if (db_line_take(db->board, db->line))
        return true;
    snprintf(reason, sizeof(reason),
             " is an old primary (timeline %u, another server has taken writes with %u): stop it "
             "and make it a standby (pg_rewind, patronictl reinit). If it was restored on purpose, "
             "restart authz, or remove the file database of SVC_RUNTIME_DIR if there is no daemon",
             db_line_timeline(db->line), db_line_timeline(atomic_load(&db->board->line)));
    db_add_fault(db, server_name(db, server), reason);
    return false;
}

/* True if pgbouncer refused the options of the session, which PostgreSQL never does. */
static bool
is_pooler(const PGconn *conn)
{
    return conn != NULL && strstr(PQerrorMessage(conn), "unsupported startup parameter") != NULL;
}

/* Connect to one server, NULL: that which libpq chooses. False: its reason is added to db->fault.
 */
static bool
connect_one(struct db *db, const struct db_host *host, bool *ret_standby)
{
    *ret_standby = false;
    /* take_server() decides which server of a list is the right one. */
    db->conn = connect_with(db, host, host != NULL ? "any" : NULL, PQconnectdbParams);
    if (db->conn == NULL || PQstatus(db->conn) != CONNECTION_OK) {
        db_add_fault(db, "", db_connect_fault(db));
        if (is_pooler(db->conn) && !db_is_pooled(db))
            db_add_fault(db, "", db_pooler_fault(db, true));
    } else if (take_server(db, ret_standby)) {
        PQsetNoticeReceiver(db->conn, take_notice, db);
        db->unconfirmed = false;
        return true;
    }
    db_close(db);
    return false;
}

void
db_look_at_all(struct db *db)
{
    db->looks_at_all = db->board != NULL && atomic_load(&db->board->line) == 0;
}

/* Learn the newest timeline of the servers in a list. */
static void
look_at_all(struct db *db, const struct db_hosts *hosts)
{
    int64_t until = clock_monotonic_ms() + CONNECT_ALL_MS;
    bool standby;
    for (size_t i = 0; hosts->count > 1 && i < hosts->count; i++)
        if (clock_monotonic_ms() < until && connect_one(db, &hosts->host[i], &standby)) {
            db_hosts_note(db->board, i, true); /* an older one behind it is refused */
            db_close(db);
        }
    db->looks_at_all = false;
}

bool
db_connect_any(struct db *db)
{
    struct db_hosts *hosts = db_hosts_read(db, db->url);
    if (db->looks_at_all && hosts != NULL)
        look_at_all(db, hosts);
    int64_t until = clock_monotonic_ms() + CONNECT_ALL_MS;
    size_t count = hosts != NULL && hosts->count > 0 ? hosts->count : 1, standbys = 0;
    /* The number on the board is an index into the hosts of direct sessions; poolers have another
     * list. */
    struct db_board *places = db_is_pooled(db) ? NULL : db->board;
    size_t first = hosts != NULL ? db_hosts_first(hosts, places, db->first_host) : 0;
    bool found = false, in_time = true;
    db->fault[0] = '\0';
    db->misplaced = false;
    for (size_t i = 0; i < count && in_time && !found; i++) {
        size_t at = (first + i) % count;
        bool standby;
        in_time = clock_monotonic_ms() < until;
        db->first_host = at;
        if (!in_time)
            break;
        found =
            connect_one(db, hosts != NULL && hosts->count > 0 ? &hosts->host[at] : NULL, &standby);
        standbys += standby;
        db_hosts_note(places, at, found);
    }
    if (standbys > 0 && !found)
        db_add_fault(db, "", STANDBYS_ONLY);
    talloc_free(hosts);
    return found;
}

size_t
db_connect_standby(struct db *db)
{
    struct db_hosts *hosts = db_hosts_read(db, db->url);
    const struct db_host *host = NULL;
    if (hosts != NULL && hosts->count > 0)
        host = &hosts->host[db->first_host++ % hosts->count];
    db->conn = connect_with(db, host, "standby", PQconnectStartParams);
    if (db->conn != NULL)
        PQsetNoticeReceiver(db->conn, take_notice, db);
    size_t servers = host != NULL ? hosts->count : 1;
    talloc_free(hosts);
    return servers;
}
