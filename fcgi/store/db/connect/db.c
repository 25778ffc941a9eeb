#include "config.h"

#include "store/db/db.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/db/db_private.h"

/* Wait between attempts to connect, doubled up to the maximum, so that clients do not prolong an
 * outage. Milliseconds. */
#define BACKOFF_FIRST_MS 50
#define BACKOFF_MAXIMUM_MS 500
/* Most reads of an idle connection, after which it counts as broken. A last message and the end of
 * the connection take two. */
#define IDLE_LOOKS 8
/* A connection that answered this recently is not checked before the next trip, which saves a
 * system call per request. If it broke since, the trip fails. Milliseconds. */
#define IDLE_MS 1000

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
    db->setting = "SVC_DATABASE_URL";
    db->spare = db_batch_make(db, DB_NO_MEMORY);
    if (db->url == NULL || db->spare == NULL) {
        talloc_free(db);
        return NULL;
    }
    talloc_set_destructor(db, db_destroy);
    return db;
}

struct db *
db_new_beside(TALLOC_CTX *mem, const struct db *other)
{
    struct db *db = db_new(mem, db_session_url(other));
    if (db != NULL) {
        db->setting = db_is_pooled(other) ? "SVC_DATABASE_DIRECT_URL" : other->setting;
        db->as = other->as;
        db->board = other->board;
        db->looks_at_all = other->looks_at_all;
        db->quiet = other->quiet;
        db->quiet_known = other->quiet_known;
    }
    return db;
}

bool
db_enter_session(struct az *az, bool for_good)
{
    struct db *front = az->db;
    if (!db_is_pooled(front))
        return true;
    if (front->beside == NULL)
        front->beside = db_new_beside(front, front);
    if (front->beside == NULL)
        return false;
    az->db = front->beside;
    az->db->front = for_good ? NULL : front;
    if (for_good)
        db_close(front);
    return true;
}

void
db_leave_session(struct az *az)
{
    struct db *front = az->db->front;
    az->db->front = NULL;
    if (front != NULL)
        az->db = front;
}

void
db_close(struct db *db)
{
    if (db->conn != NULL)
        PQfinish(db->conn);
    db->conn = NULL;
    db->in_transaction = false;
    TALLOC_FREE(db->pending);
    db_prepared_drop(db);
}

bool
db_is_open(const struct db *db)
{
    return db->conn != NULL;
}

struct partition_lists **
db_partition_lists(struct db *db)
{
    return &db->partitions;
}

struct aside_locks **
db_aside_locks(struct db *db)
{
    return &db->asides;
}

uint64_t
db_trips(const struct db *db)
{
    return db->trips;
}

bool
db_in_transaction(const struct db *db)
{
    return db->in_transaction;
}

unsigned
db_generation(const struct db *db)
{
    return db->generation;
}

/* Starts of libpq's messages about a connection string, and our own texts for them: the rest of a
 * libpq message quotes the value. */
/* clang-format off */
static const struct url_fault {
    const char *theirs, *ours;
} url_faults[] = {
    {"missing \"=\"",                 "has a word without =; quote a value that contains spaces"},
    {"unterminated quoted string",    "has a quote that is not closed"},
    {"invalid connection option",     "has a keyword that libpq does not know"},
    {"invalid URI query parameter",   "has a parameter after ? that libpq does not know"},
    {"missing key/value separator",   "has a parameter after ? without ="},
    {"extra key/value separator",     "has a parameter after ? with more than one ="},
    {"invalid percent-encoded token", "has a % without two hex digits; write % itself as %25"},
    {"forbidden value %00",           "contains %00"},
    {"end of string reached",         "has a [ without ]"},
    {"IPv6 host address",             "has an empty address in [ ]"},
    {"unexpected character",          "has a character other than : or / after the ] of an address"},
};
/* clang-format on */

const char *
db_url_fault(const char *url)
{
    char *theirs = NULL;
    const char *ours = "is not a connection string or URI that libpq understands";
    PQconninfoOption *options = PQconninfoParse(url, &theirs);
    /* Without memory the text is not judged: connecting will fail. */
    if (options != NULL || theirs == NULL || strncmp(theirs, "out of memory", 13) == 0)
        ours = NULL;
    for (size_t i = 0; theirs != NULL && i < sizeof(url_faults) / sizeof(url_faults[0]); i++)
        if (strncmp(theirs, url_faults[i].theirs, strlen(url_faults[i].theirs)) == 0)
            ours = url_faults[i].ours;
    PQconninfoFree(options);
    PQfreemem(theirs);
    return ours;
}

/* True if a connection string names no user, so that libpq takes the name of the account. */
static bool
url_takes_account(const char *url)
{
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    const char *user = getenv("PGUSER");
    bool named = options == NULL || (user != NULL && *user != '\0');
    for (PQconninfoOption *row = options; row != NULL && row->keyword != NULL; row++)
        named =
            named || (strcmp(row->keyword, "user") == 0 && row->val != NULL && *row->val != '\0');
    PQconninfoFree(options);
    return !named;
}

void
db_connect_as(struct db *db, uid_t account)
{
    if (geteuid() == 0 && url_takes_account(db->url))
        db->as = account;
}

/* Check an idle connection before anything is sent on it: it is readable if the server went away. A
 * server that shuts down sends a message first, so read until the end of the connection shows. */
static bool
still_alive(struct db *db)
{
    if (db->conn == NULL || PQstatus(db->conn) != CONNECTION_OK || db_is_fenced(db))
        return false;
    if (db_is_pooled(db) && db_prepared_is_full(db) && db->pending == NULL && !db->in_transaction)
        return false;
    if (db->pending != NULL || clock_monotonic_ms() - db->heard_ms < IDLE_MS)
        return true;
    struct pollfd fd = {.fd = PQsocket(db->conn), .events = POLLIN};
    for (int looks = 0; poll(&fd, 1, 0) != 0; looks++)
        if (looks == IDLE_LOOKS || PQconsumeInput(db->conn) != 1
            || PQstatus(db->conn) != CONNECTION_OK)
            return false;
    return true;
}

bool
db_take_unconfirmed(struct db *db)
{
    bool unconfirmed = db->unconfirmed;
    db->unconfirmed = false;
    return unconfirmed;
}

enum az_status
db_connect(struct op *op)
{
    struct db *db = op->az->db;
    if (still_alive(db))
        return AZ_OK;
    bool inside = db->in_transaction;
    db_close(db);
    /* The rest of a transaction must not run on another session, without the statements and the
     * locks before it. */
    if (inside)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "database: connection lost inside a transaction");
    /* The cause of the last attempt, not that we wait: a process that serves one request, as under
     * CGI, has no other line or answer that would name it. */
    if (db->backoff_ms != 0 && clock_monotonic_ms() < db->retry_at_ms)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "database: %s", db->fault);
    const char *fault = db_url_fault(db->url);
    if (fault != NULL)
        return op_fail(op, AZ_CONFLICT, NULL, "%s: %s; write it as postgresql://USER@HOST/DATABASE",
                       db->setting, fault);
    if (!db_connect_any(db)) {
        op_fail(op, AZ_UNAVAILABLE, NULL, "database: %s", db->fault);
        db->backoff_ms = db->backoff_ms == 0 ? BACKOFF_FIRST_MS : db->backoff_ms * 2;
        if (db->backoff_ms > BACKOFF_MAXIMUM_MS)
            db->backoff_ms = BACKOFF_MAXIMUM_MS;
        db->retry_at_ms = clock_monotonic_ms() + db->backoff_ms;
        return AZ_UNAVAILABLE;
    }
    db->backoff_ms = 0;
    db->generation++;
    db->heard_ms = clock_monotonic_ms();
    return AZ_OK;
}
