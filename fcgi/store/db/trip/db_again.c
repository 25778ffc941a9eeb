/* Batches that failed without having done anything, and may succeed when they are sent again. */
#include "config.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "store/db/db.h"
#include "store/db/db_private.h"

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
