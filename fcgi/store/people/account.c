#include "config.h"

#include "store/people/account.h"

#include "store/db/db.h"

const char *const account_kind_words[] = {"session", "application", "approval", "delegation", NULL};

const char *const account_lists[ACCOUNT_KINDS] = {
    [ACCOUNT_SESSION] = "sessions",
    [ACCOUNT_APPLICATION] = "applications",
    [ACCOUNT_APPROVAL] = "approvals",
    [ACCOUNT_DELEGATION] = "delegations",
};

#define DAY " AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
#define MINUTE " AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')"

/* Families of tokens that still give access. */
#define FAMILY_LIVES "g.revoked_at IS NULL AND g.expires_at > now() AND g.idle_expires_at > now()"
#define REQUEST_LIVES "q.state IN ('pending', 'approved') AND q.expires_at > now()"
#define GIVEN_LIVES "d.revoked_at IS NULL AND (d.expires_at IS NULL OR d.expires_at > now())"

/* The newest entries of a list, as a JSON array. */
#define LIST ", ARRAY(SELECT json_strip_nulls(json_build_object("
#define LISTED " LIMIT $3)"

/* clang-format off */
enum account_read_column { READ_ACCOUNT };
static const struct db_stmt account_read_stmt = {
    "account_read",
    "SELECT json_build_object('sessions'" LIST "'id', b.sid, 'name', p.name, 'other', p.idp_id,"
    "  'since', to_char(b.created_at" MINUTE ", 'until', to_char(b.expires_at" MINUTE ","
    "  'current', b.id_hash = $2)) FROM browser_session b JOIN identity_provider p ON p.id = b.idp"
    "  WHERE b.subject = $1 AND b.expires_at > now() ORDER BY b.created_at DESC, b.sid" LISTED ","
    " 'applications'" LIST "'id', a.client_id, 'name', a.client_name, 'other', a.client_id,"
    "  'scopes', a.scopes, 'since', to_char(a.since" DAY ", 'programs', a.programs))"
    "  FROM (SELECT c.client_id, c.client_name, min(x.since) AS since,"
    "    nullif(max(x.branches), 1)::text AS programs,"
    "    string_agg(DISTINCT nullif(w, ''), ' ') AS scopes"
    "   FROM (SELECT o.client, o.granted_at AS since, o.scope, 1 AS branches"
    "    FROM consent o WHERE o.subject = $1"
    "    UNION ALL SELECT g.client, g.created_at, coalesce(g.granted_scope, g.scope), g.branches"
    "     FROM token_grant g WHERE g.subject = $1 AND " FAMILY_LIVES ") x"
    "   JOIN client c ON c.id = x.client"
    "   LEFT JOIN LATERAL unnest(string_to_array(x.scope, ' ')) w ON true"
    "   GROUP BY c.id) a ORDER BY a.since DESC, a.client_id" LISTED ","
    " 'approvals'" LIST "'id', q.id, 'name', c.client_name, 'other', c.client_id,"
    "  'message', q.binding_message, 'waits', q.state = 'pending',"
    "  'until', to_char(q.expires_at" MINUTE ")) FROM ciba_request q JOIN client c ON c.id = q.client"
    "  WHERE q.subject = $1 AND " REQUEST_LIVES " ORDER BY q.created_at DESC, q.id" LISTED ","
    " 'delegations'" LIST "'id', d.id, 'name', r.name, 'other', d.resource,"
    "  'to', coalesce(d.grantee_subject, c.client_id), 'scopes', array_to_string(d.scopes, ' '),"
    "  'until', to_char(d.expires_at" DAY ")) FROM delegation d"
    "  JOIN uma_resource r ON r.id = d.resource LEFT JOIN client c ON c.id = d.grantee_client"
    "  WHERE d.grantor_subject = $1 AND " GIVEN_LIVES " ORDER BY d.id DESC" LISTED ") AS account",
    3};
/* clang-format on */

static const struct db_stmt account_end_session_stmt = {
    "account_end_session",
    "DELETE FROM browser_session b WHERE b.sid = $2 AND b.subject = $1 RETURNING 1", 2};

static const struct db_stmt account_end_application_stmt = {
    "account_end_application",
    "WITH c AS (SELECT id FROM client WHERE client_id = $2),"
    " forgotten AS (DELETE FROM consent o USING c WHERE o.client = c.id AND o.subject = $1"
    "  RETURNING 1),"
    " revoked AS (UPDATE token_grant g SET revoked_at = now() FROM c"
    "  WHERE g.client = c.id AND g.subject = $1 AND g.revoked_at IS NULL RETURNING 1)"
    " SELECT 1 WHERE EXISTS (SELECT 1 FROM forgotten) OR EXISTS (SELECT 1 FROM revoked)",
    2};

/* An approval that is withdrawn counts as denied, so that the application learns it. */
static const struct db_stmt account_end_approval_stmt = {
    "account_end_approval",
    "UPDATE ciba_request q SET state = 'denied' WHERE q.id::text = $2 AND q.subject = $1"
    " AND " REQUEST_LIVES " RETURNING 1",
    2};

static const struct db_stmt account_end_delegation_stmt = {
    "account_end_delegation",
    "UPDATE delegation d SET revoked_at = now(), updated_at = now() WHERE d.id::text = $2"
    " AND d.grantor_subject = $1 AND " GIVEN_LIVES " RETURNING 1",
    2};

static const struct db_stmt *const account_ends[ACCOUNT_KINDS] = {
    [ACCOUNT_SESSION] = &account_end_session_stmt,
    [ACCOUNT_APPLICATION] = &account_end_application_stmt,
    [ACCOUNT_APPROVAL] = &account_end_approval_stmt,
    [ACCOUNT_DELEGATION] = &account_end_delegation_stmt,
};

enum az_status
account_read(struct op *op, const struct session *session, json_t **ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, session->subject);
    db_octets(&params, session->id_hash, SHA256_OCTETS);
    db_number(&params, ACCOUNT_LISTED_MAX);
    enum az_status st = db_exec(op, &account_read_stmt, &params, true, &result);
    return st == AZ_OK ? db_read_json(op, result, 0, READ_ACCOUNT, ret) : st;
}

enum az_status
account_end(struct op *op, const struct session *session, enum account_kind kind, const char *id,
            bool *ret_ended)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, session->subject);
    db_text(&params, id);
    enum az_status st = db_exec(op, account_ends[kind], &params, false, &result);
    if (st == AZ_OK)
        *ret_ended = PQntuples(result) > 0;
    return st;
}
