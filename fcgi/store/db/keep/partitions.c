#include "config.h"

#include "store/db/keep/partitions.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/digits.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "store/db/db.h"
#include "store/db/keep/partitions_private.h"

/* Days back in which a live access token can have been issued: it lives for at most a day. */
#define TOKEN_DAYS 2
/* Shortest time between two readings of the lists for what does not exist. Milliseconds. */
#define RELOAD_MS 1000
/* Longest time for which the clock of the database is reckoned from the last reading, where nothing
 * is refused by it: it may be set meanwhile. Milliseconds. */
#define CLOCK_MS 60000
/* Difference between the clocks of host and database that the log tells: tokens that this host
 * issues live so much longer or shorter (performance.md R12). Milliseconds. */
#define CLOCK_APART_MS 120000

/* One row per table, so that the clock is told where there is no partition yet. */
enum partition_list_column { LIST_PARENT, LIST_NUMBERS, LIST_CLOCK };
static const struct db_stmt partition_list_stmt = {
    "partition_list",
    "SELECT w.parent, string_agg(substring(c.relname FROM '_p([0-9]+)$'), ' ' ORDER BY "
    "c.relname) AS numbers, floor(extract(epoch FROM now()) * 1000)::bigint AS clock"
    "  FROM unnest(ARRAY['access_token', 'audit_log', 'refresh_token']) AS w (parent)"
    "  LEFT JOIN pg_class p ON p.relname = w.parent AND p.relnamespace = 'public'::regnamespace"
    "  LEFT JOIN pg_inherits i ON i.inhparent = p.oid AND NOT i.inhdetachpending"
    "  LEFT JOIN pg_class c ON c.oid = i.inhrelid GROUP BY 1",
    0};
/* True if the partition $2 of the table $1 is attached. */
#define PARTITION_THERE                                                                            \
    "EXISTS (SELECT 1 FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid AND NOT "           \
    "i.inhdetachpending WHERE c.relname = $1 || '_p' || $2 AND c.relnamespace = "                  \
    "'public'::regnamespace)"
enum partition_there_column { THERE_THERE };
static const struct db_stmt partition_there_stmt = {"partition_there",
                                                    "SELECT " PARTITION_THERE " AS there", 2};
/* The lock that partition_create takes too, so that what is missing under it stays missing until it
 * is made. The snapshot of a serializable transaction is older than the lock, and so may be what
 * the session knows of names: only what neither finds is missing. */
static const struct db_stmt partition_lock_stmt = {
    "partition_lock", "SELECT pg_advisory_xact_lock(1, hashtext($1 || '_p' || $2))", 2};
enum partition_missing_column { MISSING_MISSING };
static const struct db_stmt partition_missing_stmt = {
    "partition_missing",
    "SELECT to_regclass($1 || '_p' || $2) IS NULL AND NOT " PARTITION_THERE " AS missing", 2};
static const struct db_stmt partition_make_stmt = {"partition_make",
                                                   "SELECT partition_create($1, $2::integer)", 2};

const char *const partition_tables[TABLES] = {
    [TABLE_ACCESS] = "access_token",
    [TABLE_AUDIT] = "audit_log",
    [TABLE_REFRESH] = "refresh_token",
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

/* False without memory: an empty list would say that there is nothing to revoke. */
static bool
partition_read_numbers(TALLOC_CTX *mem, const char *text, struct numbers *ret)
{
    size_t count = 1;
    for (const char *c = text; *c != '\0'; c++)
        count += *c == ' ';
    TALLOC_FREE(ret->number);
    ret->count = 0;
    ret->number = talloc_array(mem, uint32_t, (unsigned) count);
    if (ret->number == NULL)
        return false;
    int64_t number;
    const char *end = text + strlen(text);
    for (size_t digits;
         (digits = digits_take(text, (size_t) (end - text), UINT32_MAX, &number)) > 0;
         text += digits + (text[digits] == ' '))
        ret->number[ret->count++] = (uint32_t) number;
    return true;
}

/* Return the lists of this process, made when first used. */
static enum az_status
partition_get_lists(struct op *op, struct partition_lists **ret)
{
    struct partition_lists **lists = db_partition_lists(op->az->db);
    if (*lists == NULL && (*lists = talloc_zero(op->az->db, struct partition_lists)) == NULL)
        return op_no_memory(op);
    *ret = *lists;
    return AZ_OK;
}

/* Log once that the clock of the host differs from the clock of the database, which decides what
 * has expired. */
static void
partition_compare_clocks(struct partition_lists *lists)
{
    int64_t ahead = lists->ahead_ms = clock_realtime_ms() - lists->clock_ms;
    bool apart = ahead > CLOCK_APART_MS || ahead < -CLOCK_APART_MS;
    if (apart && !lists->apart)
        log_text(AZ_SEV_WARN, "clock is wrong",
                 "the clock of this host is %lld s %s that of the database, by which tokens "
                 "expire: set both by NTP (chronyc tracking); from a day on nothing is dropped",
                 (long long) (ahead < 0 ? -ahead : ahead) / 1000,
                 ahead < 0 ? "behind" : "ahead of");
    lists->apart = apart;
}

enum az_status
partition_reload(struct op *op)
{
    int64_t asked_ms = clock_monotonic_ms();
    PGresult *result;
    struct partition_lists *lists;
    enum az_status st = partition_get_lists(op, &lists);
    if (st == AZ_OK)
        st = db_exec(op, &partition_list_stmt, NULL, true, &result);
    if (st != AZ_OK)
        return st;
    lists->generation = 0; /* until all of them are read */
    if (PQntuples(result) != TABLES)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the lists of partitions are incomplete");
    for (size_t i = 0; i < TABLES; i++)
        lists->of[i].count = 0;
    for (int row = 0; row < PQntuples(result); row++) {
        const char *numbers = db_get(result, row, LIST_NUMBERS);
        for (size_t i = 0; i < TABLES; i++)
            if (strcmp(db_get(result, row, LIST_PARENT), partition_tables[i]) == 0
                && !partition_read_numbers(lists, numbers != NULL ? numbers : "", &lists->of[i]))
                return op_no_memory(op);
    }
    lists->generation = db_generation(op->az->db);
    lists->read_ms = asked_ms;
    lists->clock_ms = db_get_number(result, 0, LIST_CLOCK, 0);
    partition_compare_clocks(lists);
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

/* True if the lists are of this connection, and were read less than so many milliseconds ago. */
static bool
partition_is_known(const struct op *op, const struct partition_lists *lists, int64_t ms)
{
    return lists->generation != 0 && lists->generation == db_generation(op->az->db)
           && clock_monotonic_ms() - lists->read_ms < ms;
}

/* Return the lists, read again if they are older, in milliseconds. */
static enum az_status
partition_know(struct op *op, int64_t ms, struct partition_lists **ret)
{
    enum az_status st = partition_get_lists(op, ret);
    return st == AZ_OK && !partition_is_known(op, *ret, ms) ? partition_reload(op) : st;
}

/* Return the time of day of the database, in seconds, reckoned from the last reading. */
static int64_t
partition_clock(const struct partition_lists *lists)
{
    return (lists->clock_ms + clock_monotonic_ms() - lists->read_ms) / 1000;
}

enum az_status
partition_time(struct op *op, int64_t *ret)
{
    struct partition_lists *lists;
    enum az_status st = partition_know(op, CLOCK_MS, &lists);
    if (st == AZ_OK)
        *ret = partition_clock(lists);
    return st;
}

/* For how long after its number's time a partition of a table can hold a live row. */
static const struct {
    uint32_t (*of)(int64_t time);
    uint32_t grace; /* hours or days */
} lives[TABLES] = {
    [TABLE_ACCESS] = {partition_bucket, GRACE_HOURS      },
    [TABLE_AUDIT] = {partition_day,    TOKEN_DAYS       },
    [TABLE_REFRESH] = {partition_day,    FAMILY_GRACE_DAYS},
};

static bool
partition_is_past(const struct partition_lists *lists, enum table table, uint32_t number)
{
    return (uint64_t) number + lives[table].grace < lives[table].of(partition_clock(lists));
}

/* Read the lists again, which lack a number that can hold a live row. If that was done a moment
 * ago, ask for this partition first: another process may have made it since, and forged numbers
 * must not cost a reading each. */
static enum az_status
partition_look(struct op *op, enum table table, uint32_t number,
               const struct partition_lists *lists)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    if (!partition_is_known(op, lists, RELOAD_MS))
        return partition_reload(op);
    db_text(&params, partition_tables[table]);
    db_number(&params, number);
    enum az_status st = db_exec(op, &partition_there_stmt, &params, true, &result);
    return st == AZ_OK && db_get_bool(result, 0, THERE_THERE) ? partition_reload(op) : st;
}

/*
 * Look the number up in the list. Read the list if it lacks a number that can hold a live row, and
 * before a number is taken for one of the past: the clock of the database may have been wrong at
 * the last reading, or be that of another server behind a pooler. One that is in the list is never
 * taken so by a reckoned clock; there are few, until housekeeping drops them. Another one is, by a
 * reading of RELOAD_MS ago, because forged numbers must not cost a reading each. A list that cannot
 * be read is a failure and not "false": otherwise a revocation would be acknowledged that did not
 * happen.
 */
enum az_status
partition_has(struct op *op, enum table table, uint32_t number, bool *ret)
{
    struct partition_lists *lists;
    enum az_status st = partition_know(op, INT64_MAX, &lists);
    if (st == AZ_OK && partition_is_past(lists, table, number))
        st = partition_know(op, partition_contains(&lists->of[table], number) ? 0 : RELOAD_MS,
                            &lists);
    *ret = false;
    /* A partition that cannot hold a live row may still be in the list, or be dropped at any
     * moment. */
    if (st != AZ_OK || partition_is_past(lists, table, number))
        return st;
    if (!partition_contains(&lists->of[table], number))
        st = partition_look(op, table, number, lists);
    if (st == AZ_OK)
        *ret = partition_contains(&lists->of[table], number);
    return st;
}

enum az_status
partition_has_bucket(struct op *op, uint32_t bucket, bool *ret)
{
    return partition_has(op, TABLE_ACCESS, bucket, ret);
}

enum az_status
partition_has_day(struct op *op, uint32_t day, bool *ret)
{
    return partition_has(op, TABLE_AUDIT, day, ret);
}

enum az_status
partition_has_refresh(struct op *op, uint32_t number, bool *ret)
{
    return partition_has(op, TABLE_REFRESH, number, ret);
}

enum az_status
partition_need_day(struct op *op, uint32_t day)
{
    struct partition_lists *lists;
    /* Days of the past too: a host whose clock is slow writes there. */
    enum az_status st = partition_know(op, INT64_MAX, &lists);
    return st == AZ_OK && !partition_contains(&lists->of[TABLE_AUDIT], day)
               ? partition_make_day(op, day)
               : st;
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
        return op_no_memory(op);
    memcpy(*ret, list->number, list->count * sizeof(**ret));
    *ret_count = list->count;
    return AZ_OK;
}

enum az_status
partition_make(struct op *op, enum table table, uint32_t number, bool *ret_made)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step[] = {db_batch_add(batch, &partition_lock_stmt),
                              db_batch_add(batch, &partition_missing_stmt),
                              db_batch_add(batch, &partition_make_stmt)};
    for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
        db_text(&step[i]->params, partition_tables[table]);
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

enum az_status
partition_first_kept_day(struct op *op, uint32_t *ret)
{
    uint32_t kept = (uint32_t) op->az->cfg->audit_retention_days;
    int64_t now;
    enum az_status st = partition_time(op, &now);
    if (st == AZ_OK)
        *ret = kept > 0 && partition_day(now) > kept ? partition_day(now) - kept : 0;
    return st;
}
