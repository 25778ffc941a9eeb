/* The statements this connection has prepared, found by statement and partitions. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "store/db/db.h"
#include "store/db/db_private.h"

/* Most prepared statements of a connection. Those of dropped partitions pile up slowly; past this
 * number all are forgotten and prepared again. */
#define PREPARED_MAXIMUM 400

/* Rows of statements are static, so their addresses tell them apart. */
static size_t
prepared_slot(const struct db_step *step)
{
    uintptr_t hash = (uintptr_t) step->stmt / sizeof(void *);
    return (hash ^ step->bucket * 31 ^ step->day * 17 ^ step->refresh * 13) % DB_PREPARED_SLOTS;
}

/* Write "name:bucket:day", with ":refresh" if the statement names such a partition; a part that it
 * does not name is empty. */
static void
prepared_name(const struct db_step *step, char ret[DB_NAME_SIZE])
{
    char bucket[12] = "", day[12] = "", refresh[13] = "";
    if (step->bucket != DB_NO_PARTITION)
        snprintf(bucket, sizeof(bucket), "%u", (unsigned) step->bucket);
    if (step->day != DB_NO_PARTITION)
        snprintf(day, sizeof(day), "%u", (unsigned) step->day);
    if (step->refresh != DB_NO_PARTITION)
        snprintf(refresh, sizeof(refresh), ":%u", (unsigned) step->refresh);
    snprintf(ret, DB_NAME_SIZE, "%s:%s:%s%s", step->stmt->name, bucket, day, refresh);
}

struct prepared *
db_prepared_find(struct db *db, const struct db_step *step)
{
    struct prepared **slot = &db->table[prepared_slot(step)];
    for (; *slot != NULL; slot = &(*slot)->next)
        if ((*slot)->stmt == step->stmt && (*slot)->bucket == step->bucket
            && (*slot)->day == step->day && (*slot)->refresh == step->refresh)
            return *slot;
    if (db->prepared == NULL && (db->prepared = talloc_new(db)) == NULL)
        return NULL;
    struct prepared *entry = talloc(db->prepared, struct prepared);
    if (entry == NULL)
        return NULL;
    *entry = (struct prepared){.stmt = step->stmt,
                               .bucket = step->bucket,
                               .day = step->day,
                               .refresh = step->refresh,
                               .quiet = db->quiet};
    prepared_name(step, entry->name);
    db->prepared_count++;
    return *slot = entry;
}

/* Give the statement another name, because this one is taken. */
void
db_prepared_refused(struct prepared *prepared)
{
    size_t length = strcspn(prepared->name, "~");
    snprintf(prepared->name + length, DB_NAME_SIZE - length, "~%u", ++prepared->again);
    prepared->sent = false;
}

/* Prepare a statement without its notification from now on. False: the statement has no
 * notification. */
static bool
db_prepared_silence(struct prepared *prepared)
{
    if (prepared->quiet || strstr(prepared->stmt->text, "%N") == NULL)
        return false;
    db_prepared_refused(prepared); /* the server still has the previous text under this name */
    prepared->quiet = true;
    return true;
}

char *
db_prepared_text(TALLOC_CTX *mem, const struct db_step *step, bool quiet)
{
    char *text = talloc_strdup(mem, "");
    for (const char *c = step->stmt->text; *c != '\0' && text != NULL;) {
        size_t plain = strcspn(c, "%");
        text = talloc_strndup_append_buffer(text, c, plain);
        c += plain;
        if (text == NULL)
            break; /* talloc would begin a text of its own */
        if (c[0] == '%' && (c[1] == 'P' || c[1] == 'D' || c[1] == 'R')) {
            uint32_t number = c[1] == 'P' ? step->bucket : c[1] == 'D' ? step->day : step->refresh;
            text = talloc_asprintf_append_buffer(text, "%u", (unsigned) number);
            c += 2;
        } else if (c[0] == '%' && c[1] == 'N') {
            text = talloc_strdup_append_buffer(text, quiet ? "concat" : "pg_notify");
            c += 2;
        } else if (c[0] == '%') {
            text = talloc_strndup_append_buffer(text, c++, 1);
        }
    }
    return text;
}

void
db_prepared_drop(struct db *db)
{
    TALLOC_FREE(db->prepared);
    memset(db->table, 0, sizeof(db->table));
    db->prepared_count = 0;
}

bool
db_prepared_is_full(const struct db *db)
{
    return db->prepared_count > PREPARED_MAXIMUM;
}

bool
db_prepared_prune(struct db *db)
{
    if (!db_prepared_is_full(db) || db_is_pooled(db))
        return true; /* a new connection to a pooler forgets them */
    PGresult *result = PQexec(db->conn, "DEALLOCATE ALL");
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    if (done)
        db_prepared_drop(db);
    PQclear(result);
    return done;
}

/* Wait before the next attempt, which grows with their number and differs between processes, so
 * that two that met do not meet again. Milliseconds. */
#define PAUSE_STEP_MS 2
#define PAUSE_SPREAD_MS 5

/* serialization_failure and deadlock_detected. */
#define SERIALIZATION_FAILURE "40001"
#define DEADLOCK_DETECTED "40P01"

bool
db_is_conflict(const char *sqlstate)
{
    return strcmp(sqlstate, SERIALIZATION_FAILURE) == 0 || strcmp(sqlstate, DEADLOCK_DETECTED) == 0;
}

/* True if the batch committed a transaction before the step that failed. */
static bool
part_is_done(const struct db_batch *batch)
{
    for (const struct db_step *step = batch->step; step != batch->failed; step++)
        if (strcmp(step->stmt->text, "COMMIT") == 0)
            return true;
    return false;
}

/* True if the server refuses notifications and a statement has one: the handle sends none from now
 * on, and those who wait look by themselves. */
static bool
fall_quiet(struct db *db, const struct db_batch *batch)
{
    bool any = false;
    if (db->conn == NULL || strcmp(batch->failed->sqlstate, SQLSTATE_FEATURE_NOT_SUPPORTED) != 0)
        return false;
    for (size_t i = 0; i < batch->count; i++)
        any = db_prepared_silence(batch->prepared[i]) || any;
    if (any && !db->quiet)
        log_text(AZ_SEV_INFO, "notifications refused",
                 "the server refuses NOTIFY: waiting processes look for news by themselves");
    db->quiet = db->quiet || any;
    return any;
}

bool
db_again(struct db *db, const struct db_batch *batch, int *conflicts)
{
    if (fall_quiet(db, batch))
        return true;
    if (!db_is_conflict(batch->failed->sqlstate) || part_is_done(batch)
        || *conflicts == DB_CONFLICTS_MAX)
        return false;
    ++*conflicts;
    long ms = *conflicts * PAUSE_STEP_MS + (getpid() + *conflicts) % PAUSE_SPREAD_MS;
    nanosleep(&(struct timespec){0, ms * 1000000L}, NULL);
    return true;
}
