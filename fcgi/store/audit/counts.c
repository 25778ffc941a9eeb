#include "config.h"

#include "store/audit/counts.h"

#include <time.h>

#include "base/clock.h"
#include "base/settings/settings.h"
#include "store/audit/counts_private.h"

/* The last id that was given out. Whoever got an id up to this one holds the lock of
 * counts_writers_stmt, or has committed. */
enum counts_bounds_column { BOUNDS_UP_TO, BOUNDS_LAST, BOUNDS_NOW };
static const struct db_stmt counts_bounds_stmt = {
    "counts_bounds",
    "SELECT c.up_to, CASE WHEN s.is_called THEN s.last_value ELSE 0 END AS last, now() AS now"
    " FROM audit_cut c, audit_id_seq s",
    0};
/* Transactions that may have written an audit row and are not over. A statement locks its partition
 * before it takes an id, and keeps the lock until its transaction has ended; so this needs no lock
 * of its own, and delays no other transaction. */
static const struct db_stmt counts_writers_stmt = {
    "counts_writers",
    "SELECT coalesce(array_agg(DISTINCT l.virtualtransaction), '{}') FROM pg_locks l"
    " JOIN pg_inherits i ON i.inhrelid = l.relation"
    " WHERE i.inhparent = 'audit_log'::regclass AND l.locktype = 'relation'"
    "  AND l.mode = 'RowExclusiveLock' AND l.granted"
    "  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    0};
static const struct db_stmt counts_waiting_stmt = {
    "counts_waiting",
    "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE virtualtransaction = ANY ($1::text[]))", 1};

/* Add up the rows after $1, up to $2. Someone else who did it first leaves nothing to do. */
static const struct db_stmt counts_add_stmt = {
    "counts_add",
    "WITH moved AS (UPDATE audit_cut SET up_to = $2::bigint, cut_at = greatest(cut_at,"
    "   $3::timestamptz)"
    "  WHERE up_to = $1::bigint RETURNING 1),"
    " written AS MATERIALIZED (SELECT " COUNTED_COLUMNS "," COUNTED_RESOURCE
    "  FROM audit_log a WHERE a.id > $1::bigint AND a.id <= $2::bigint"
    "   AND EXISTS (SELECT 1 FROM moved)),"
    " counted AS (INSERT INTO audit_count (client_id, day, endpoint, outcome, decision, n)"
    "  SELECT coalesce(client_id, ''), day, endpoint, outcome, decision, count(*) FROM written"
    "   GROUP BY GROUPING SETS ((client_id, day, endpoint, outcome, decision),"
    "    (day, endpoint, outcome, decision))"
    "   HAVING GROUPING(client_id) = 1 OR client_id IS NOT NULL"
    "  ON CONFLICT (client_id, day, endpoint, outcome, decision)"
    "   DO UPDATE SET n = audit_count.n + excluded.n),"
    " asked AS (INSERT INTO resource_count (client_id, day, resource, n)"
    "  SELECT coalesce(client_id, ''), day, resource, count(*) FROM written"
    "   WHERE resource IS NOT NULL"
    "   GROUP BY GROUPING SETS ((client_id, day, resource), (day, resource))"
    "   HAVING GROUPING(client_id) = 1 OR client_id IS NOT NULL"
    "  ON CONFLICT (client_id, day, resource)"
    "   DO UPDATE SET n = resource_count.n + excluded.n)"
    " INSERT INTO denial_count (client_id, day, code, n)"
    "  SELECT coalesce(client_id, ''), day, code, count(*) FROM written, " DENIAL_CODES
    "   GROUP BY GROUPING SETS ((client_id, day, code), (day, code))"
    "   HAVING GROUPING(client_id) = 1 OR client_id IS NOT NULL"
    "  ON CONFLICT (client_id, day, code) DO UPDATE SET n = denial_count.n + excluded.n",
    3};

static const struct db_stmt counts_forget_stmt = {
    "counts_forget",
    "WITH d AS (DELETE FROM denial_count WHERE day < current_date - $1::integer),"
    " r AS (DELETE FROM resource_count WHERE day < current_date - $1::integer)"
    " DELETE FROM audit_count WHERE day < current_date - $1::integer",
    1};

/* Wait until these transactions are over. AZ_RETRY without a fault: one of them takes too long. */
static enum az_status
counts_await(struct op *op, const char *writers)
{
    static const struct timespec pause = {.tv_nsec = 5000000};
    int64_t until = clock_monotonic_ms() + AUDIT_COUNTS_WAIT_MS;
    for (;;) {
        struct db_params params = {.count = 0};
        PGresult *result;
        db_text(&params, writers);
        enum az_status st = db_exec(op, &counts_waiting_stmt, &params, true, &result);
        if (st != AZ_OK || !db_get_bool(result, 0, 0))
            return st;
        if (clock_monotonic_ms() > until)
            return AZ_RETRY;
        nanosleep(&pause, NULL);
    }
}

/* Ids that can be added up: all rows up to `last` are committed, or never will be. */
struct bounds {
    int64_t from, last;
    const char *now; /* rows after `last` were written after this */
};

static enum az_status
counts_find(struct op *op, struct bounds *ret)
{
    const char *writers;
    PGresult *result;
    enum az_status st = db_exec(op, &counts_bounds_stmt, NULL, true, &result);
    if (st != AZ_OK)
        return st;
    ret->from = db_get_number(result, 0, BOUNDS_UP_TO, 0);
    ret->last = db_get_number(result, 0, BOUNDS_LAST, 0);
    ret->now = db_get(result, 0, BOUNDS_NOW);
    st = db_fetch_text(op, &counts_writers_stmt, NULL, &writers);
    return st == AZ_OK ? counts_await(op, writers) : st;
}

static enum az_status
counts_forget(struct op *op)
{
    struct db_params params = {.count = 0};
    long days = op->az->cfg->audit_retention_days;
    if (days == 0)
        return AZ_OK;
    db_number(&params, days > AUDIT_COUNTS_DAYS ? days : AUDIT_COUNTS_DAYS);
    return db_exec(op, &counts_forget_stmt, &params, false, NULL);
}

enum az_status
audit_counts_add(struct op *op, int64_t *ret_rows)
{
    struct bounds bounds = {.now = NULL};
    enum az_status st = counts_find(op, &bounds);
    if (st == AZ_RETRY)
        return AZ_OK;
    *ret_rows = bounds.last > bounds.from ? bounds.last - bounds.from : 0;
    for (int64_t from = bounds.from, to; st == AZ_OK && from < bounds.last && !*op->az->stopping;
         from = to) {
        struct db_params params = {.count = 0};
        bool rest = bounds.last - from <= AUDIT_COUNTS_SPAN;
        to = rest ? bounds.last : from + AUDIT_COUNTS_SPAN;
        db_number(&params, from);
        db_number(&params, to);
        db_text(&params, rest ? bounds.now : NULL); /* until then the old time holds */
        st = db_exec(op, &counts_add_stmt, &params, false, NULL);
    }
    return st == AZ_OK ? counts_forget(op) : st;
}
