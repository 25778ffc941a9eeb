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
    " coalesce(sum(n) FILTER (WHERE outcome = 'error'), 0)::bigint AS error"
#define OF_TOTAL " / nullif(total, 0), 0), 1)"
/* The list of the rows of a query that follows, of the largest entries. Ties are in the order of
 * names, so that a report of the same numbers is the same. */
#define LIST "(SELECT coalesce(json_agg(x), '[]') FROM (SELECT "
#define LARGEST " GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $5) x)"

static const struct db_stmt governance_report_stmt = {
    "governance_report",
    "WITH " RECENT ", " DECISIONS ","
    " totals AS (SELECT " NUMBERS " FROM d),"
    " points AS (SELECT g::date AS begins, least(g::date + $4::integer - 1, $2::date) AS ends"
    "  FROM generate_series($1::date::timestamp, $2::date::timestamp,"
    "   make_interval(days => $4::integer)) g),"
    " trend AS (SELECT p.begins, " NUMBERS " FROM points p"
    "  LEFT JOIN d ON d.day BETWEEN p.begins AND p.ends GROUP BY 1)"
    " SELECT json_strip_nulls(json_build_object("
    "  'from', $1::date, 'to', $2::date, 'clientId', $3::text,"
    "  'total', total, 'allowed', allowed, 'denied', denied, 'error', error,"
    "  'allowedPct', round(coalesce(100.0 * allowed" OF_TOTAL ","
    "  'deniedPct', round(coalesce(100.0 * denied" OF_TOTAL ","
    "  'errorPct', round(coalesce(100.0 * error" OF_TOTAL ","
    "  'trend', (SELECT json_build_object('dates', json_agg(begins ORDER BY begins),"
    "    'allowed', json_agg(allowed ORDER BY begins), 'denied', json_agg(denied ORDER BY begins),"
    "    'error', json_agg(error ORDER BY begins)) FROM trend),"
    "  'byClient', " LIST "client_id AS \"clientId\", " NUMBERS
    "    FROM one WHERE client_id <> ''" LARGEST ","
    "  'byEndpoint', " LIST "endpoint, " NUMBERS " FROM d" LARGEST ","
    "  'denialReasons', " LIST "code, sum(n)::bigint AS count FROM ("
    "    SELECT code, n FROM denial_count WHERE day BETWEEN $1::date AND $2::date"
    "     AND client_id = coalesce($3, '')"
    "    UNION ALL SELECT code, 1 FROM recent, " DENIAL_CODES ") r" LARGEST ","
    "  'activeAgentCount', (SELECT count(DISTINCT client_id) FROM one WHERE client_id <> ''),"
    "  'protectedResourceCount', 0,"
    "  'recentPolicyChanges', " LIST "id, \"createdAt\", revision, \"triggerSource\","
    "    \"triggeredBy\", \"ruleCount\" FROM bundle_audit_dto ORDER BY id DESC LIMIT $6) x)))"
    " FROM totals",
    6};

enum az_status
governance_report(struct op *op, const struct governance_period *period, const char **ret)
{
    struct db_params params = {.count = 0};
    db_text(&params, period->from);
    db_text(&params, period->to);
    db_text(&params, period->client_id);
    db_number(&params, period->days > GOVERNANCE_DAILY_MAX ? 7 : 1);
    db_number(&params, GOVERNANCE_LIST_MAX);
    db_number(&params, GOVERNANCE_CHANGES_MAX);
    return db_fetch_text(op, &governance_report_stmt, &params, ret);
}
