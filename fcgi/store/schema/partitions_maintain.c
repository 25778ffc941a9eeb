#include "config.h"

#include "store/schema/partitions_maintain.h"

#include <string.h>

#include "base/digits.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "store/db/db.h"
#include "store/db/keep/partitions_private.h"
#include "store/schema/roles.h"

/* Partitions are made this far ahead. That is longer than any access token lives (86,400 s), so the
 * lists that readers keep are complete for tokens of hosts whose clock is right. */
#define AHEAD_HOURS 48
/* Difference of the clocks, in milliseconds, from which nothing is dropped: one of the clocks is
 * days wrong, perhaps that of the database, and dropped rows cannot come back. */
#define CLOCK_UNSURE_MS 86400000
/* For how long expired partitions may wait for the owner of the tables before the log tells. */
#define WAIT_HOURS 24

enum partition_leftovers_column { LEFTOVERS_PARENT, LEFTOVERS_CHILD, LEFTOVERS_PENDING };
static const struct db_stmt partition_leftovers_stmt = {
    "partition_leftovers",
    "SELECT substring(c.relname FROM '^(access_token|audit_log|refresh_token)_p[0-9]+$') AS parent,"
    " c.relname AS child,"
    " i.inhrelid IS NOT NULL AS pending FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = "
    "c.oid"
    " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'"
    "   AND c.relname ~ '^(access_token|audit_log|refresh_token)_p[0-9]+$' AND (i.inhrelid IS NULL "
    "OR i.inhdetachpending)",
    0};

/* Numbers come from us and are digits only. DETACH CONCURRENTLY lets running statements finish, so
 * DROP waits for no statement. */
static enum az_status
partition_drop(struct op *op, const char *parent, uint32_t number)
{
    char *name = talloc_asprintf(op->mem, "%s_p%u", parent, (unsigned) number);
    enum az_status st =
        db_script(op, talloc_asprintf(op->mem, "ALTER TABLE %s DETACH PARTITION %s CONCURRENTLY",
                                      parent, name));
    if (st == AZ_OK)
        st = db_script(
            op, talloc_asprintf(
                    op->mem, "SET lock_timeout = '2s'; DROP TABLE %s; RESET lock_timeout", name));
    return st;
}

static enum az_status
partition_make_range(struct op *op, enum table table, uint32_t from, uint32_t to, int *ret_made)
{
    enum az_status st = AZ_OK;
    for (uint32_t number = from; number <= to && st == AZ_OK; number++) {
        bool made = false, there;
        st = partition_has(op, table, number, &there);
        if (st == AZ_OK && !there)
            st = partition_make(op, table, number, &made);
        *ret_made += made;
    }
    return st;
}

static enum az_status
partition_drop_before(struct op *op, enum table table, uint32_t first_kept, int *ret_dropped)
{
    const struct numbers *list = &(*db_partition_lists(op->az->db))->of[table];
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < list->count && st == AZ_OK; i++) {
        if (list->number[i] >= first_kept)
            continue;
        st = partition_drop(op, partition_tables[table], list->number[i]);
        *ret_dropped += st == AZ_OK;
    }
    return st;
}

/* Finish an interrupted drop: a detach that did not end, or a table that was detached but not
 * dropped. Otherwise its rows would stay forever. */
static enum az_status
partition_drop_leftovers(struct op *op, const char *of, uint32_t first_kept, int *ret_dropped)
{
    PGresult *result;
    enum az_status st = db_exec(op, &partition_leftovers_stmt, NULL, true, &result);
    for (int row = 0; st == AZ_OK && row < PQntuples(result); row++) {
        const char *parent = db_get(result, row, LEFTOVERS_PARENT),
                   *child = db_get(result, row, LEFTOVERS_CHILD);
        /* A table that is not due yet was detached by an administrator, who wants to keep it. */
        int64_t number;
        if (strcmp(parent, of) != 0 || !digits_read(child + strlen(of) + 2, UINT32_MAX, &number)
            || number >= first_kept)
            continue;
        if (db_get_bool(result, row, LEFTOVERS_PENDING))
            st = db_script(op,
                           talloc_asprintf(op->mem, "ALTER TABLE %s DETACH PARTITION %s FINALIZE",
                                           parent, child));
        if (st == AZ_OK)
            st = db_script(op, talloc_asprintf(op->mem, "DROP TABLE %s", child));
        *ret_dropped += st == AZ_OK;
    }
    return st;
}

/* True if the clocks of host and database agree so far that what is past can be dropped. */
static bool
partition_is_sure(const struct op *op)
{
    int64_t ahead = (*db_partition_lists(op->az->db))->ahead_ms;
    return ahead < CLOCK_UNSURE_MS && ahead > -CLOCK_UNSURE_MS;
}

/* The service under a role that does not own the tables drops nothing. Log that nobody else does.
 */
static void
partition_await_owner(const struct op *op, uint32_t first_kept)
{
    const struct numbers *list = &(*db_partition_lists(op->az->db))->of[TABLE_ACCESS];
    for (size_t i = 0; i < list->count; i++)
        if ((uint64_t) list->number[i] + WAIT_HOURS < first_kept) {
            log_text(AZ_SEV_WARN, "partitions are not dropped",
                     "the role of SVC_DATABASE_URL does not own the tables: run authzctl maintain "
                     "as their owner every day (doc/upgrade.md, Two roles)");
            return;
        }
}

enum az_status
partition_maintain(struct op *op, bool drop_audit, int *ret_made, int *ret_dropped)
{
    uint32_t kept = 0;
    int64_t now;
    bool owns = false;
    enum az_status st = partition_reload(op); /* the clock as it is now */
    if (st == AZ_OK)
        st = partition_time(op, &now);
    /* If the clock were lost, all partitions would seem to be in the past. */
    if (st == AZ_OK && now < PARTITION_EPOCH + GRACE_HOURS * 3600)
        st = op_fail(
            op, AZ_UNAVAILABLE, NULL,
            "the clock of the database is before 2026: set it by NTP (chronyc tracking); no "
            "partition is made or dropped");
    if (st == AZ_OK && drop_audit)
        st = partition_first_kept_day(op, &kept);
    if (st == AZ_OK)
        st = roles_owns(op, &owns);
    if (st != AZ_OK)
        return st;
    uint32_t hour = partition_bucket(now), today = partition_day(now);
    uint32_t family = partition_day(now + op->az->cfg->refresh_family_validity);
    /* First and last partition to be made, and the first that is kept; 0 keeps all. */
    const struct {
        uint32_t from, to, first_kept;
    } plan[TABLES] = {
        [TABLE_ACCESS] = {hour,   hour + AHEAD_HOURS,        hour - GRACE_HOURS    },
        [TABLE_AUDIT] = {today,  today + AHEAD_HOURS / 24,  kept                  },
        [TABLE_REFRESH] = {family, family + AHEAD_HOURS / 24,
                          today > FAMILY_GRACE_DAYS ? today - FAMILY_GRACE_DAYS : 0},
    };
    for (size_t i = 0; i < TABLES && st == AZ_OK; i++)
        st = partition_make_range(op, i, plan[i].from, plan[i].to, ret_made);
    if (st == AZ_OK)
        st = partition_reload(op);
    if (st == AZ_OK && !owns)
        partition_await_owner(op, plan[TABLE_ACCESS].first_kept);
    for (size_t i = 0; i < TABLES && st == AZ_OK && owns && partition_is_sure(op); i++) {
        st = partition_drop_before(op, i, plan[i].first_kept, ret_dropped);
        if (st == AZ_OK)
            st = partition_drop_leftovers(op, partition_tables[i], plan[i].first_kept, ret_dropped);
    }
    return st == AZ_OK ? partition_reload(op) : st;
}
