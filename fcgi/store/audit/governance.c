#include "config.h"

#include "store/audit/governance.h"

#include "store/audit/counts_private.h"
#include "store/db/db.h"

/* The rows that housekeeping has not added up yet ($1, $2: the period; $3: the client). */
#define RECENT                                                                                     \
    "recent AS MATERIALIZED (SELECT r.* FROM (SELECT " COUNTED_COLUMNS                             \
    "  FROM audit_log a WHERE " AUDIT_UNCOUNTED "   AND ($3::text IS NULL OR a.client_id = $3)) r" \
    "  WHERE r.decision AND r.outcome <> 'rejected' AND r.day BETWEEN $1::date AND $2::date)"
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
    " agents AS (SELECT client_id, sum(n)::bigint AS decisions FROM one WHERE client_id <> ''" LARGEST "),"
    " routes AS (SELECT endpoint, sum(n)::bigint AS decisions FROM d" LARGEST "),"
    " reasons AS (SELECT code, sum(n)::bigint AS count FROM ("
    " SELECT code, n FROM denial_count WHERE day BETWEEN $1::date AND $2::date"
    " AND client_id = coalesce($3, '')"
    " UNION ALL SELECT code, 1 FROM recent, " DENIAL_CODES ") r" LARGEST ")"
    " SELECT jsonb_strip_nulls(to_jsonb(i) || jsonb_build_object('periodStart', $1::date, 'periodEnd', $2::date,"
    " 'totalDecisions', total, 'allowed', allowed, 'denied', denied, 'errors', errors,"
    " 'allowedPct', " PCT "allowed" OF_TOTAL ", 'deniedPct', " PCT "denied" OF_TOTAL ","
    " 'errorsPct', " PCT "errors" OF_TOTAL ","
    " 'activeAgentCount', (SELECT count(DISTINCT client_id) FROM one WHERE client_id <> ''),"
    " 'trendLabels', " TREND "begins" OF_TREND ", 'trendAllowed', " TREND "allowed" OF_TREND ","
    " 'trendDenied', " TREND "denied" OF_TREND ", 'trendErrors', " TREND "errors" OF_TREND ","
    " 'byClient', " LIST "a.client_id AS \"clientId\", c.client_name AS \"clientName\", decisions,"
    " " PCT "decisions" OF_TOTAL " AS pct FROM agents a LEFT JOIN client c USING (client_id), totals t"
    " ORDER BY decisions DESC, 1) x),"
    " 'byEndpoint', " LIST "endpoint, decisions, " PCT "decisions" OF_TOTAL " AS pct"
    " FROM routes, totals t ORDER BY decisions DESC, 1) x),"
    " 'denialReasons', " LIST "code AS reason, count, " PCT "count" OF_DENIED " AS pct"
    " FROM reasons, totals t ORDER BY count DESC, 1) x),"
    " 'clients', " LIST "client_id AS \"clientId\", client_name AS \"clientName\","
    " client_type AS \"clientType\", registration_type AS \"registrationType\""
    " FROM client JOIN agents USING (client_id) ORDER BY 1) x)))"
    " FROM totals t, governance_inventory i",
    5};
/* clang-format on */

enum az_status
governance_report(struct op *op, const struct governance_period *period, const char **ret)
{
    struct db_params params = {.count = 0};
    db_text(&params, period->from);
    db_text(&params, period->to);
    db_text(&params, period->client_id);
    db_number(&params, period->days > GOVERNANCE_DAILY_MAX ? 7 : 1);
    db_number(&params, GOVERNANCE_LIST_MAX);
    return db_fetch_text(op, &governance_report_stmt, &params, ret);
}
