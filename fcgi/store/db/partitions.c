#include "config.h"

#include "store/db/partitions.h"

#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "base/settings/settings.h"
#include "store/db/db.h"

/* Partitions are made this far ahead. That is longer than any access token lives (86,400 s), so the
 * lists that readers keep are complete. */
#define AHEAD_HOURS 48
/* A token partition is dropped this long after its last expiry: an introspection that started
 * before the expiry has ended by then. */
#define GRACE_HOURS 1
/* Days ahead in which a refresh family can end: it lives for at most a year
 * (base/settings/settings_table.c). */
#define FAMILY_DAYS_MAX 366
/* Refresh tokens are kept for a day after the end of their family: the last access token can live
 * that long, and is revoked through them. */
#define FAMILY_GRACE_DAYS 1
/* Days back in which a live access token can have been issued: it lives for at most a day. */
#define TOKEN_DAYS 2
/* Shortest time between two readings of the lists if a plausible partition is missing.
 * Milliseconds. */
#define RELOAD_MS 1000

enum partition_list_column { LIST_PARENT, LIST_NUMBERS };
static const struct db_stmt partition_list_stmt = {
    "partition_list",
    "SELECT p.relname AS parent, string_agg(substring(c.relname FROM '_p([0-9]+)$'), ' ' ORDER BY "
    "c.relname) AS numbers"
    "  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = "
    "i.inhparent"
    " WHERE p.relname IN ('access_token', 'audit_log', 'refresh_token') AND p.relnamespace = "
    "'public'::regnamespace AND NOT i.inhdetachpending GROUP BY 1",
    0};
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
/* The lock that partition_create takes too, so that what is missing under it stays missing until it
 * is made. to_regclass does not look at the snapshot of the transaction. */
static const struct db_stmt partition_lock_stmt = {
    "partition_lock", "SELECT pg_advisory_xact_lock(1, hashtext($1 || '_p' || $2))", 2};
enum partition_missing_column { MISSING_MISSING };
static const struct db_stmt partition_missing_stmt = {
    "partition_missing", "SELECT to_regclass($1 || '_p' || $2) IS NULL AS missing", 2};
static const struct db_stmt partition_make_stmt = {"partition_make",
                                                   "SELECT partition_create($1, $2::integer)", 2};

/* Sorted partition numbers of one table. */
struct numbers {
    uint32_t *number; /* talloc array */
    size_t count;     /* entries */
};

/* The partitioned tables. */
enum table { TABLE_ACCESS, TABLE_AUDIT, TABLE_REFRESH, TABLES };
static const char *const table_names[TABLES] = {
    [TABLE_ACCESS] = "access_token",
    [TABLE_AUDIT] = "audit_log",
    [TABLE_REFRESH] = "refresh_token",
};

/* The partitions that this process knows to exist. */
struct partition_lists {
    struct numbers of[TABLES]; /* by table */
    unsigned generation;       /* of the connection the lists were read on */
    int64_t read_ms;           /* time of the reading */
};

uint32_t
partition_bucket(int64_t expires_at)
{
    return (uint32_t) ((expires_at - PARTITION_EPOCH) / 3600);
}

uint32_t
partition_day(int64_t time)
{
    return (uint32_t) ((time - PARTITION_EPOCH) / 86400);
}

uint32_t
partition_refresh(uint32_t bucket)
{
    return bucket / 24;
}

static void
partition_read_numbers(TALLOC_CTX *mem, const char *text, struct numbers *ret)
{
    size_t count = 1;
    for (const char *c = text; *c != '\0'; c++)
        count += *c == ' ';
    TALLOC_FREE(ret->number);
    ret->count = 0;
    ret->number = talloc_array(mem, uint32_t, (unsigned) count);
    if (ret->number == NULL)
        return;
    int64_t number;
    const char *end = text + strlen(text);
    for (size_t digits;
         (digits = digits_take(text, (size_t) (end - text), UINT32_MAX, &number)) > 0;
         text += digits + (text[digits] == ' '))
        ret->number[ret->count++] = (uint32_t) number;
}

/* Return the lists of this process, made when first used. */
static enum az_status
partition_get_lists(struct op *op, struct partition_lists **ret)
{
    struct partition_lists **lists = db_partition_lists(op->az->db);
    if (*lists == NULL && (*lists = talloc_zero(op->az->db, struct partition_lists)) == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for the lists of partitions");
    *ret = *lists;
    return AZ_OK;
}

enum az_status
partition_reload(struct op *op)
{
    PGresult *result;
    struct partition_lists *lists;
    enum az_status st = partition_get_lists(op, &lists);
    if (st == AZ_OK)
        st = db_exec(op, &partition_list_stmt, NULL, true, &result);
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; i < TABLES; i++)
        lists->of[i].count = 0;
    for (int row = 0; row < PQntuples(result); row++) {
        const char *numbers = db_get(result, row, LIST_NUMBERS);
        for (size_t i = 0; i < TABLES; i++)
            if (strcmp(db_get(result, row, LIST_PARENT), table_names[i]) == 0)
                partition_read_numbers(lists, numbers != NULL ? numbers : "", &lists->of[i]);
    }
    lists->generation = db_generation(op->az->db);
    lists->read_ms = op->now_ms;
    return AZ_OK;
}

static bool
partition_contains(const struct numbers *list, uint32_t number)
{
    for (size_t i = list->count; i-- > 0;)
        if (list->number[i] == number)
            return true;
    return false;
}

/* Look the number up in the list. Read the list if there is none yet, if it is from an older
 * connection, or if it lacks a plausible number. A list that cannot be read is a failure and not
 * "false": otherwise a revocation would be acknowledged that did not happen. */
static enum az_status
partition_has(struct op *op, enum table table, uint32_t number, bool plausible, bool *ret)
{
    struct partition_lists *lists;
    enum az_status st = partition_get_lists(op, &lists);
    if (st != AZ_OK)
        return st;
    bool known = lists->generation != 0 && lists->generation == db_generation(op->az->db);
    /* A partition that cannot hold a live row may still be in the list, or be dropped at any
     * moment. */
    const struct numbers *list = &lists->of[table];
    *ret = plausible && known && partition_contains(list, number);
    if (*ret || !plausible || (known && op->now_ms - lists->read_ms < RELOAD_MS))
        return AZ_OK;
    st = partition_reload(op);
    if (st == AZ_OK)
        *ret = partition_contains(list, number);
    return st;
}

enum az_status
partition_has_bucket(struct op *op, uint32_t bucket, bool *ret)
{
    uint32_t now = partition_bucket(op_now(op));
    return partition_has(op, TABLE_ACCESS, bucket,
                         bucket + GRACE_HOURS >= now && bucket <= now + AHEAD_HOURS, ret);
}

enum az_status
partition_has_day(struct op *op, uint32_t day, bool *ret)
{
    uint32_t now = partition_day(op_now(op));
    return partition_has(op, TABLE_AUDIT, day,
                         day + TOKEN_DAYS >= now && day <= now + AHEAD_HOURS / 24, ret);
}

enum az_status
partition_has_refresh(struct op *op, uint32_t number, bool *ret)
{
    uint32_t now = partition_day(op_now(op));
    return partition_has(op, TABLE_REFRESH, number,
                         number + FAMILY_GRACE_DAYS >= now && number <= now + FAMILY_DAYS_MAX, ret);
}

enum az_status
partition_need_day(struct op *op, uint32_t day)
{
    bool there;
    enum az_status st = partition_has_day(op, day, &there);
    return st == AZ_OK && !there ? partition_make_day(op, day) : st;
}

enum az_status
partition_days(struct op *op, uint32_t **ret, size_t *ret_count)
{
    enum az_status st = partition_reload(op);
    if (st != AZ_OK)
        return st;
    const struct numbers *list = &(*db_partition_lists(op->az->db))->of[TABLE_AUDIT];
    *ret = talloc_array(op->mem, uint32_t, (unsigned) list->count + 1);
    if (*ret == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for the list of days");
    memcpy(*ret, list->number, list->count * sizeof(**ret));
    *ret_count = list->count;
    return AZ_OK;
}

/* *ret_made: this process made it. */
static enum az_status
partition_make(struct op *op, enum table table, uint32_t number, bool *ret_made)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step[] = {db_batch_add(batch, &partition_lock_stmt),
                              db_batch_add(batch, &partition_missing_stmt),
                              db_batch_add(batch, &partition_make_stmt)};
    for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
        db_text(&step[i]->params, table_names[table]);
        db_number(&step[i]->params, number);
    }
    /* A session that asked for the table before another process made it may not have learned of it
     * when it gets the lock: its look still finds none. */
    enum az_status st = db_run_or_retry(op, batch, false, SQLSTATE_DUPLICATE_TABLE);
    *ret_made = st == AZ_OK && db_get_bool(step[1]->result, 0, MISSING_MISSING);
    return st == AZ_OK || st == AZ_RETRY ? partition_reload(op) : st;
}

enum az_status
partition_make_bucket(struct op *op, uint32_t bucket)
{
    bool made;
    return partition_make(op, TABLE_ACCESS, bucket, &made);
}

enum az_status
partition_make_day(struct op *op, uint32_t day)
{
    bool made;
    return partition_make(op, TABLE_AUDIT, day, &made);
}

enum az_status
partition_make_refresh(struct op *op, uint32_t number)
{
    bool made;
    return partition_make(op, TABLE_REFRESH, number, &made);
}

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
        st = partition_has(op, table, number, true, &there);
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
        st = partition_drop(op, table_names[table], list->number[i]);
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

uint32_t
partition_first_kept_day(const struct op *op)
{
    uint32_t today = partition_day(op_now(op)), kept = (uint32_t) op->az->cfg->audit_retention_days;
    return kept > 0 && today > kept ? today - kept : 0;
}

enum az_status
partition_maintain(struct op *op, bool drop_audit, int *ret_made, int *ret_dropped)
{
    uint32_t hour = partition_bucket(op_now(op)), today = partition_day(op_now(op));
    const struct settings *cfg = op->az->cfg;
    uint32_t family = partition_day(op_now(op) + cfg->refresh_family_validity);
    /* First and last partition to be made, and the first that is kept; 0 keeps all. */
    const struct {
        uint32_t from, to, first_kept;
    } plan[TABLES] = {
        [TABLE_ACCESS] = {hour,   hour + AHEAD_HOURS,        hour - GRACE_HOURS    },
        [TABLE_AUDIT] = {today,  today + AHEAD_HOURS / 24,
                          drop_audit ? partition_first_kept_day(op) : 0            },
        [TABLE_REFRESH] = {family, family + AHEAD_HOURS / 24,
                          today > FAMILY_GRACE_DAYS ? today - FAMILY_GRACE_DAYS : 0},
    };
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < TABLES && st == AZ_OK; i++)
        st = partition_make_range(op, i, plan[i].from, plan[i].to, ret_made);
    if (st == AZ_OK)
        st = partition_reload(op);
    for (size_t i = 0; i < TABLES && st == AZ_OK; i++) {
        st = partition_drop_before(op, i, plan[i].first_kept, ret_dropped);
        if (st == AZ_OK)
            st = partition_drop_leftovers(op, table_names[i], plan[i].first_kept, ret_dropped);
    }
    return st == AZ_OK ? partition_reload(op) : st;
}
