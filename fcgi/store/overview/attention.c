#include "config.h"

#include "store/overview/attention.h"

#include "managed/status.h"
#include "store/gateway/resources_admin.h"

/* True for a resource whose upstream redirects (managed/status.h). */
#define REDIRECTS "coalesce(starts_with(m.status_reason, '" MANAGED_REDIRECTS "'), false)"

/* clang-format off */
/* Each part gives kind, name, count, detail and a time. A reason is new only if there were decisions before. */
static const struct db_stmt attention_list_stmt = {
    "attention_list",
    "SELECT json_strip_nulls(json_build_object('kind', kind, 'name', name, 'count', n, 'detail', detail, 'at', instant_text(at)))"
    " FROM ((SELECT 0 AS place, 'errors' AS kind, e.at_what AS name, count(*) AS n, e.cause AS detail, min(e.created_at) AS at"
    "   FROM (SELECT a.created_at, concat_ws(': ', coalesce(s.j ->> 'error', a.http_status::text), s.j ->> 'reason') AS cause,"
    "     CASE WHEN a.endpoint LIKE '/gateway/%' THEN coalesce(s.j ->> 'resource', a.endpoint) ELSE a.endpoint END AS at_what"
    "    FROM audit_log a, LATERAL (SELECT a.request_summary::json AS j) s"
    "    WHERE a.outcome = 'error' AND a.endpoint <> '(witness)' AND a.created_at > now() - interval '" ATTENTION_ERROR_HOURS " hours'"
    "    ORDER BY a.id DESC LIMIT " ATTENTION_ERRORS ") e"
    "   GROUP BY 3, 5 ORDER BY 4 DESC, 3, 5 LIMIT " ATTENTION_LISTED ")"
    "  UNION ALL (SELECT -1, 'engines_differ', w.j ->> 'entrypoint', count(*), max(w.j ->> 'revision'), min(a.created_at)"
    "   FROM audit_log a, LATERAL (SELECT a.request_summary::json AS j) w"
    "   WHERE a.outcome = 'error' AND a.endpoint = '(witness)' AND a.created_at > now() - interval '" ATTENTION_ERROR_HOURS " hours'"
    "   GROUP BY 3 ORDER BY 4 DESC, 3 LIMIT " ATTENTION_LISTED ")"
    "  UNION ALL SELECT 0, kind, name, n, detail, first_at FROM recent_trouble"
    "  UNION ALL (SELECT 1, 'tools_waiting', m.name, w.n, NULL, NULL"
    "   FROM managed_resource m, LATERAL (SELECT " RESOURCES_WAITING " AS n) w WHERE m.enabled AND w.n > 0"
    "   ORDER BY m.name LIMIT " ATTENTION_LISTED ")"
    "  UNION ALL (SELECT 2, 'resource_degraded', m.name, NULL, m.status_reason, m.status_changed_at FROM managed_resource m"
    "   WHERE m.enabled AND m.status IN ('degraded', 'error') AND NOT " REDIRECTS " ORDER BY m.status_changed_at, m.name LIMIT " ATTENTION_LISTED ")"
    "  UNION ALL (SELECT 2, 'resource_pending', m.name, NULL, m.status_reason, m.status_changed_at FROM managed_resource m"
    "   WHERE m.enabled AND m.status = 'pending' AND NOT " REDIRECTS " ORDER BY m.status_changed_at, m.name LIMIT " ATTENTION_LISTED ")"
    "  UNION ALL (SELECT 2, 'upstream_redirects', m.name, NULL, m.status_reason, m.status_changed_at FROM managed_resource m"
    "   WHERE m.enabled AND " REDIRECTS " ORDER BY m.status_changed_at, m.name LIMIT " ATTENTION_LISTED ")"
    "  UNION ALL (SELECT 3, 'connections_to_renew', c.resource, count(*), NULL, NULL FROM gateway_connection c"
    "   WHERE c.status = 'reauth_required' GROUP BY c.resource ORDER BY 4 DESC, 3 LIMIT " ATTENTION_LISTED ")"
    "  UNION ALL (SELECT 4, kind, name, NULL, detail, at FROM ending WHERE kind = 'key_ending' ORDER BY at, name LIMIT " ATTENTION_LISTED ")"
    "  UNION ALL (SELECT 4, kind, name, NULL, detail, at FROM ending WHERE kind = 'secret_ending' ORDER BY at, name LIMIT " ATTENTION_LISTED ")"
    "  UNION ALL (SELECT 5, 'reason_new', d.code, sum(d.n)::bigint, NULL, min(d.day)::timestamp AT TIME ZONE 'UTC' FROM denial_count d"
    "   WHERE d.client_id = '' AND d.day >= (now() AT TIME ZONE 'UTC')::date - 1"
    "    AND EXISTS (SELECT 1 FROM audit_count b WHERE b.client_id = '' AND b.decision"
    "     AND b.day BETWEEN (now() AT TIME ZONE 'UTC')::date - 1 - " ATTENTION_REASON_DAYS " AND (now() AT TIME ZONE 'UTC')::date - 2)"
    "    AND NOT EXISTS (SELECT 1 FROM denial_count o WHERE o.client_id = '' AND o.code = d.code"
    "     AND o.day BETWEEN (now() AT TIME ZONE 'UTC')::date - 1 - " ATTENTION_REASON_DAYS " AND (now() AT TIME ZONE 'UTC')::date - 2)"
    "   GROUP BY d.code ORDER BY 4 DESC, 3 LIMIT " ATTENTION_LISTED ")"
    "  UNION ALL (SELECT 6, 'clients_unused', NULL, count(*), NULL, min(coalesce(l.used_at, c.created_at)) FROM client c"
    "   LEFT JOIN client_last l ON l.client_id = c.client_id AND l.used_at >= c.created_at"
    "   WHERE c.registration_type = 'ADMIN' AND c.enabled"
    "    AND coalesce(l.used_at, c.created_at) < now() - make_interval(days => " ATTENTION_UNUSED_DAYS ") HAVING count(*) > 0)"
    "  UNION ALL (SELECT 7, 'redirect_shared', m.name, NULL, NULL, NULL FROM managed_resource m"
    "   WHERE m.enabled AND " RESOURCES_REDIRECT_SHARED " ORDER BY m.name LIMIT " ATTENTION_LISTED ")) a"
    " ORDER BY place, n DESC NULLS LAST, at, name", 0};

static const char *const attention_kinds[] = {"not_ready", "engines_differ", "errors", "provider_fault", "secret_ending", "tools_waiting", "resource_degraded", "resource_pending", "connections_to_renew",
                                              "key_ending", "reason_new", "clients_unused", "redirect_shared", "upstream_redirects",
                                              "sign_ins_shared", NULL};
static const char *const attention_statuses[] = {"DOWN", "DEGRADED", NULL};
static const struct field attention_fields[] = {
    {"kind",   FIELD_TEXT,    .required = true, .words = attention_kinds, .example = "\"tools_waiting\""},
    {"name",   FIELD_TEXT,    .help = "Check of readiness that fails on the instance that answers, managed resource, identity provider, endpoint (with a slash in front), entrypoint of policy that the embedded engine decided otherwise than OPA, label of an admin key, client_id, or code of a reason; absent: the entry is about all clients", .example = "\"github\""},
    {"count",  FIELD_INTEGER, .help = "Differences, errors, tools, connections, denials, sign-ins or clients", .example = "2"},
    {"status", FIELD_TEXT,    .words = attention_statuses, .help = "Of a check: what its failure means for the instance"},
    {"detail", FIELD_TEXT,    .help = "Reason of the failure, revision of the policy, cause of the errors, code of the fault, reason of the status, or role of the key"},
    {"at",     FIELD_TEXT,    .help = "Since when; of differences and errors the first of the last 24 hours; of a key and of a secret its end; of a reason its first day; of clients the longest time without a request"},
};
/* clang-format on */
const struct field_table attention_view = FIELD_TABLE("Attention", attention_fields, FIELDS_ANSWER);

const struct json_rows attention_rows = {.noun = "entry", .list = &attention_list_stmt};
