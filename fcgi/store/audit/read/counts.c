#include "config.h"

#include "store/audit/read/counts.h"

#include <stdlib.h>

#include "base/settings/settings.h"
#include "store/audit/read/counts_private.h"
#include "store/audit/read/mark.h"

/* Lists read the last 24 hours of each client. Kept longer, they would be as many rows as the log
 * has. */
#define HOURS_OF_CLIENTS "now() - interval '2 days'"

/* Rows up to this id are counted. */
static const struct db_stmt counts_cut_stmt = {"counts_cut", "SELECT up_to FROM audit_cut", 0};

/* Add up the rows after $1, up to $2. Someone else who did it first leaves nothing to do. */
static const struct db_stmt counts_add_stmt = {
    "counts_add",
    "WITH moved AS (UPDATE audit_cut SET up_to = $2::bigint, cut_at = greatest(cut_at,"
    "   $3::timestamptz)"
    "  WHERE up_to = $1::bigint RETURNING 1),"
    " written AS MATERIALIZED (SELECT " COUNTED_COLUMNS "," COUNTED_RESOURCE
    "  , a.created_at, date_trunc('hour', a.created_at, 'UTC') AS hour"
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
    "   DO UPDATE SET n = resource_count.n + excluded.n),"
    " hours AS (INSERT INTO hour_count (client_id, hour, outcome, n)"
    "  SELECT coalesce(client_id, ''), hour, outcome, count(*) FROM written"
    "   WHERE decision AND outcome <> 'rejected'"
    "   GROUP BY GROUPING SETS ((client_id, hour, outcome), (hour, outcome))"
    "   HAVING GROUPING(client_id) = 1 OR (client_id IS NOT NULL AND hour > " HOURS_OF_CLIENTS ")"
    "  ON CONFLICT (client_id, hour, outcome) DO UPDATE SET n = hour_count.n + excluded.n),"
    " used AS (INSERT INTO client_last (client_id, used_at)"
    "  SELECT client_id, max(created_at) FROM written WHERE client_id IS NOT NULL"
    "   AND outcome IN ('allowed', 'denied') AND endpoint NOT LIKE '/admin/%' GROUP BY 1"
    "  ON CONFLICT (client_id) DO UPDATE"
    "   SET used_at = greatest(client_last.used_at, excluded.used_at))"
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

/* After two days, when the counts of single clients are deleted, few counts by hour remain. */
static const struct db_stmt counts_hours_stmt = {
    "counts_hours",
    "WITH l AS (DELETE FROM client_last WHERE used_at < now() - make_interval(days => $2::integer))"
    " DELETE FROM hour_count WHERE hour < " HOURS_OF_CLIENTS
    "  AND (client_id <> '' OR hour < now() - make_interval(days => $1::integer))",
    2};

/* The order of a list of clients goes by this sum. */
static const struct db_stmt counts_day_stmt = {
    "counts_day",
    "UPDATE client_last l SET denied24h = s.n FROM (SELECT c.client_id, coalesce(sum(h.n), "
    "0)::bigint AS n"
    "   FROM client_last c LEFT JOIN hour_count h ON h.client_id = c.client_id AND h.outcome = "
    "'denied'"
    "    AND h.hour > now() - interval '24 hours' GROUP BY 1) s"
    "  WHERE s.client_id = l.client_id AND s.n <> l.denied24h",
    0};

static enum az_status
counts_forget_hours(struct op *op)
{
    struct db_params params = {.count = 0};
    db_number(&params, AUDIT_COUNTS_HOURS_DAYS);
    db_number(&params, AUDIT_COUNTS_DAYS);
    return db_exec(op, &counts_hours_stmt, &params, false, NULL);
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
    struct audit_mark mark;
    const char *cut;
    enum az_status st = db_fetch_text(op, &counts_cut_stmt, NULL, &cut);
    if (st == AZ_OK)
        st = audit_mark_find(op, &mark);
    if (st != AZ_OK)
        return st == AZ_RETRY ? AZ_OK : st;
    int64_t begin = cut != NULL ? strtoll(cut, NULL, 10) : 0;
    *ret_rows = mark.last > begin ? mark.last - begin : 0;
    for (int64_t from = begin, to; st == AZ_OK && from < mark.last && !*op->az->stopping;
         from = to) {
        struct db_params params = {.count = 0};
        bool rest = mark.last - from <= AUDIT_COUNTS_SPAN;
        to = rest ? mark.last : from + AUDIT_COUNTS_SPAN;
        db_number(&params, from);
        db_number(&params, to);
        db_text(&params, rest ? mark.now : NULL); /* until then the old time holds */
        st = db_exec(op, &counts_add_stmt, &params, false, NULL);
    }
    if (st == AZ_OK)
        st = db_exec(op, &counts_day_stmt, NULL, false, NULL);
    if (st == AZ_OK)
        st = counts_forget_hours(op);
    return st == AZ_OK ? counts_forget(op) : st;
}
