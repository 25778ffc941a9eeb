#include "config.h"

#include "store/audit/read/governance.h"

#include <string.h>

#include "base/settings/settings.h"
#include "store/audit/read/counts_private.h"
#include "store/db/db.h"

/* The rows that housekeeping has not added up yet ($1, $2: the period; $3: the client). */
#define RECENT                                                                                     \
    "lately AS MATERIALIZED (SELECT r.* FROM (SELECT " COUNTED_COLUMNS                             \
    "  , date_trunc('hour', a.created_at, 'UTC') AS hour"                                          \
    "  FROM audit_log a WHERE " AUDIT_UNCOUNTED "   AND ($3::text IS NULL OR a.client_id = $3)) r" \
    "  WHERE r.decision AND r.outcome <> 'rejected'),"                                             \
    " recent AS (SELECT * FROM lately WHERE day BETWEEN $1::date AND $2::date)"
/* The period of as many days before the one that was asked for, its decisions and its denials. */
#define BEFORE_BEGINS "($1::date - ($2::date - $1::date) - 1)"
#define IN_BEFORE " day BETWEEN " BEFORE_BEGINS " AND $1::date - 1"
#define EARLIER                                                                                    \
    "earlier AS (SELECT outcome, n FROM audit_count WHERE decision AND outcome <> 'rejected'"      \
    "  AND client_id = coalesce($3, '') AND" IN_BEFORE                                             \
    "  UNION ALL SELECT outcome, 1 FROM lately WHERE" IN_BEFORE "),"                               \
    " refused AS MATERIALIZED (SELECT code, day, n FROM denial_count"                              \
    "  WHERE client_id = coalesce($3, '') AND day BETWEEN " BEFORE_BEGINS " AND $2::date"          \
    "  UNION ALL SELECT code, day, 1 FROM lately, " DENIAL_CODES                                   \
    "  WHERE day BETWEEN " BEFORE_BEGINS " AND $2::date)"
/* Decisions by hour, as far back as the numbers are kept. */
#define HOURS                                                                                      \
    "hours AS (SELECT hour, outcome, n FROM hour_count WHERE client_id = coalesce($3, '')"         \
    "  AND hour >= $1::date::timestamp AT TIME ZONE 'UTC'"                                         \
    "  AND hour < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'"                                    \
    "  UNION ALL SELECT hour, outcome, 1 FROM recent)"
/* Decisions of the clients that were asked for: one, or each. The rows of all clients together
 * (client_id '') are more than their sum by the decisions without a client. */
#define DECISIONS                                                                                  \
    "one AS MATERIALIZED (SELECT client_id, day, endpoint, outcome, n FROM audit_count"            \
    "  WHERE decision AND outcome <> 'rejected' AND day BETWEEN $1::date AND $2::date"             \
    "   AND ($3::text IS NULL OR client_id = $3)"                                                  \
    "  UNION ALL SELECT client_id, day, endpoint, outcome, 1 FROM recent"                          \
    "   WHERE client_id IS NOT NULL"                                                               \
    "  UNION ALL SELECT '', day, endpoint, outcome, 1 FROM recent),"                               \
    " d AS MATERIALIZED (SELECT day, endpoint, outcome, n FROM one"                                \
    "  WHERE client_id = coalesce($3, ''))"
/* Numbers of a group of decisions, as columns. */
#define NUMBERS                                                                                    \
    "coalesce(sum(n), 0)::bigint AS total,"                                                        \
    " coalesce(sum(n) FILTER (WHERE outcome = 'allowed'), 0)::bigint AS allowed,"                  \
    " coalesce(sum(n) FILTER (WHERE outcome = 'denied'), 0)::bigint AS denied,"                    \
    " coalesce(sum(n) FILTER (WHERE outcome = 'error'), 0)::bigint AS errors"
/* A number as a percentage of another, with one digit; of nothing it is 0. */
#define PCT "round(coalesce(100.0 * "
#define OF_TOTAL " / nullif(t.total, 0), 0), 1)"
#define OF_DENIED " / nullif(t.denied, 0), 0), 1)"
/* The list of the rows of a query that follows, and the largest of its groups. Ties are in the
 * order of names, so that a report of the same numbers is the same. */
#define LIST "(SELECT coalesce(json_agg(x), '[]') FROM (SELECT "
#define LARGEST " GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $5"
/* The denials and errors of such a group. */
#define REFUSED                                                                                    \
    " coalesce(sum(n) FILTER (WHERE outcome = 'denied'), 0)::bigint AS denied,"                    \
    " coalesce(sum(n) FILTER (WHERE outcome = 'error'), 0)::bigint AS errors"
#define TREND "(SELECT json_agg("
#define OF_TREND " ORDER BY begins) FROM trend)"

/* clang-format off */
static const struct db_stmt governance_report_stmt = {
    "governance_report",
    "WITH " RECENT ", " DECISIONS ","
    " totals AS (SELECT " NUMBERS " FROM d),"
    " points AS (SELECT g::date AS begins, least(g::date + $4::integer - 1, $2::date) AS ends"
    " FROM generate_series($1::date::timestamp, $2::date::timestamp,"
    " make_interval(days => $4::integer)) g),"
    " trend AS (SELECT p.begins, " NUMBERS " FROM points p"
    " LEFT JOIN d ON d.day BETWEEN p.begins AND p.ends GROUP BY 1),"
    " agents AS (SELECT client_id, sum(n)::bigint AS decisions," REFUSED " FROM one WHERE client_id <> ''" LARGEST "),"
    " routes AS (SELECT endpoint, sum(n)::bigint AS decisions," REFUSED " FROM d" LARGEST ")"
    " SELECT jsonb_strip_nulls(to_jsonb(i) || jsonb_build_object('periodStart', $1::date, 'periodEnd', $2::date,"
    " 'totalDecisions', total, 'allowed', allowed, 'denied', denied, 'errors', errors,"
    " 'allowedPct', " PCT "allowed" OF_TOTAL ", 'deniedPct', " PCT "denied" OF_TOTAL ","
    " 'errorsPct', " PCT "errors" OF_TOTAL ","
    " 'activeAgentCount', (SELECT count(DISTINCT client_id) FROM one WHERE client_id <> ''),"
    " 'trendLabels', " TREND "begins" OF_TREND ", 'trendAllowed', " TREND "allowed" OF_TREND ","
    " 'trendDenied', " TREND "denied" OF_TREND ", 'trendErrors', " TREND "errors" OF_TREND ","
    " 'byClient', " LIST "a.client_id AS \"clientId\", c.client_name AS \"clientName\", decisions, a.denied, a.errors,"
    " " PCT "a.decisions" OF_TOTAL " AS pct FROM agents a LEFT JOIN client c USING (client_id), totals t"
    " ORDER BY decisions DESC, 1) x),"
    " 'byEndpoint', " LIST "endpoint, decisions, r.denied, r.errors, " PCT "decisions" OF_TOTAL " AS pct"
    " FROM routes r, totals t ORDER BY decisions DESC, 1) x),"
    " 'clients', " LIST "client_id AS \"clientId\", client_name AS \"clientName\","
    " client_type AS \"clientType\", registration_type AS \"registrationType\""
    " FROM client JOIN agents USING (client_id) ORDER BY 1) x)))"
    " FROM totals t, governance_inventory i",
    5};

/* Reasons, hours and the period before; $5 entries of the lists of reasons. */
static const struct db_stmt governance_times_stmt = {
    "governance_times",
    "WITH " RECENT ", " EARLIER ", " HOURS ","
    " totals AS (SELECT coalesce(sum(n), 0) AS denied FROM (SELECT n FROM audit_count WHERE decision"
    " AND outcome = 'denied' AND client_id = coalesce($3, '') AND day BETWEEN $1::date AND $2::date"
    " UNION ALL SELECT 1 FROM recent WHERE outcome = 'denied') x),"
    " points AS (SELECT g::date AS begins, least(g::date + $4::integer - 1, $2::date) AS ends"
    " FROM generate_series($1::date::timestamp, $2::date::timestamp,"
    " make_interval(days => $4::integer)) g),"
    " reasons AS (SELECT code, sum(n) FILTER (WHERE day >= $1::date)::bigint AS count,"
    " coalesce(sum(n) FILTER (WHERE day < $1::date), 0)::bigint AS before FROM refused GROUP BY 1"
    " HAVING count(*) FILTER (WHERE day >= $1::date) > 0 ORDER BY 2 DESC, 1 LIMIT $5),"
    " daily AS (SELECT r.code, p.begins, sum(r.n)::bigint AS n FROM refused r"
    " JOIN points p ON r.day BETWEEN p.begins AND p.ends GROUP BY 1, 2),"
    " before AS (SELECT " NUMBERS " FROM earlier)"
    " SELECT json_build_object("
    " 'denialReasons', " LIST "code AS reason, count, before, " PCT "count" OF_DENIED " AS pct"
    " FROM reasons, totals t ORDER BY count DESC, 1) x),"
    " 'reasonTrend', " LIST "r.code AS reason, (SELECT json_agg(coalesce(q.n, 0) ORDER BY p.begins) FROM points p"
    " LEFT JOIN daily q ON q.code = r.code AND q.begins = p.begins) AS counts FROM reasons r ORDER BY r.count DESC, 1) x),"
    " 'byHour', " LIST "to_char(hour" DB_TIME " AS hour, " NUMBERS " FROM hours GROUP BY hours.hour ORDER BY hours.hour) x),"
    " 'before', (SELECT json_build_object('periodStart', " BEFORE_BEGINS ", 'periodEnd', $1::date - 1,"
    " 'totalDecisions', total, 'allowed', allowed, 'denied', denied, 'errors', errors) FROM before))",
    5};

/* The managed resources, with the decisions about requests to them. */
static const struct db_stmt governance_resources_stmt = {
    "governance_resources",
    "WITH recent AS MATERIALIZED (SELECT a.client_id, (a.created_at AT TIME ZONE 'UTC')::date AS day,"
    COUNTED_RESOURCE " FROM audit_log a WHERE " AUDIT_UNCOUNTED " AND ($3::text IS NULL OR a.client_id = $3)),"
    " asked AS (SELECT resource, sum(n)::bigint AS decisions FROM ("
    " SELECT resource, n FROM resource_count WHERE day BETWEEN $1::date AND $2::date"
    " AND client_id = coalesce($3, '')"
    " UNION ALL SELECT resource, 1 FROM recent WHERE resource IS NOT NULL"
    " AND day BETWEEN $1::date AND $2::date) r GROUP BY 1)"
    " SELECT " LIST "coalesce(m.document ->> 'displayName', m.name) AS name, $5::text"
    " || CASE m.upstream_type WHEN 'MCP' THEN '/gateway/mcp/' ELSE '/gateway/' END || m.name AS \"resourceIndicator\","
    " coalesce(a.decisions, 0) AS \"decisionCount\""
    " FROM managed_resource m LEFT JOIN asked a ON a.resource = m.name"
    " ORDER BY 3 DESC, m.name LIMIT $4) x)",
    5};
/* clang-format on */

enum az_status
governance_report(struct op *op, const struct governance_period *period, const char **ret)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *report = db_batch_add(batch, &governance_report_stmt),
                   *times = db_batch_add(batch, &governance_times_stmt),
                   *resources = db_batch_add(batch, &governance_resources_stmt);
    struct db_params *params[] = {&report->params, &times->params, &resources->params};
    for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
        db_text(params[i], period->from);
        db_text(params[i], period->to);
        db_text(params[i], period->client_id);
    }
    for (size_t i = 0; i < 2; i++) {
        db_number(params[i], period->days > GOVERNANCE_DAILY_MAX ? 7 : 1);
        db_number(params[i], GOVERNANCE_LIST_MAX);
    }
    db_number(&resources->params, GOVERNANCE_LIST_MAX);
    db_text(&resources->params, op->az->cfg->oidc_issuer);
    enum az_status st = db_run(op, batch, true);
    if (st != AZ_OK)
        return st;
    /* Two objects and a list, as the texts that they are. */
    const char *text = db_get(report->result, 0, 0), *more = db_get(times->result, 0, 0),
               *list = db_get(resources->result, 0, 0);
    *ret = text != NULL && more != NULL && list != NULL ? talloc_asprintf(
               op->mem, "%.*s,\"resources\":%s,%s", (int) strlen(text) - 1, text, list, more + 1)
                                                        : NULL;
    return *ret != NULL ? AZ_OK : op_no_memory(op);
}
