#include "config.h"

#include "store/people/consents.h"

#include "store/db/db.h"
#include "store/db/keep/partitions.h"

static const struct db_stmt consent_request_insert_stmt = {
    "consent_request_insert",
    "WITH ok AS (SELECT s.id_hash FROM browser_session s, bundle_state b"
    "   WHERE s.id_hash = $2 AND s.expires_at > now() AND $5 = ANY (b.acceptable)),"
    " audit AS (INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    "  SELECT $6::timestamptz, nextval('audit_id_seq'), $7, $8::uuid, $9, $10, $11, $12, $13, $14,"
    "   $15, $16::inet, $17, $18, $19, $20 FROM ok)"
    " INSERT INTO consent_request (id_hash, session, request, expires_at)"
    " SELECT $1, id_hash, $3::jsonb, now() + make_interval(secs => $4::double precision) FROM ok",
    20};

enum consent_request_show_column { SHOW_REQUEST };
static const struct db_stmt consent_request_show_stmt = {
    "consent_request_show",
    "SELECT request FROM consent_request WHERE id_hash = $1 AND session = $2 AND expires_at > "
    "now()",
    2};
enum consent_request_take_column { TAKE_REQUEST };
static const struct db_stmt consent_request_take_stmt = {
    "consent_request_take",
    "DELETE FROM consent_request WHERE id_hash = $1 AND session = $2 AND expires_at > now()"
    " RETURNING request",
    2};

/* clang-format off */
static const struct db_stmt consents_page_stmt = {
    "consents_page",
    "WITH m AS (SELECT o.id FROM consent o JOIN client c ON c.id = o.client"
    "  WHERE ($1::text IS NULL OR o.subject = $1) AND ($2::text IS NULL OR c.client_id = $2)),"
    " p AS (SELECT m.id FROM m ORDER BY m.id DESC LIMIT $3::bigint OFFSET $4::bigint)"
    " SELECT (SELECT count(*) FROM m) AS total,"
    "  (SELECT coalesce(json_agg(json_strip_nulls(json_build_object('id', o.id, 'subjectId', o.subject,"
    "    'clientId', c.client_id, 'redirectHost', o.redirect_host, 'scope', o.scope,"
    "    'resource', o.resource, 'grantedAt', instant_text(o.granted_at))) ORDER BY o.id DESC), '[]')"
    "   FROM p JOIN consent o ON o.id = p.id JOIN client c ON c.id = o.client) AS consents", 4};
/* clang-format on */

static const struct db_stmt consent_delete_stmt = {
    "consent_delete", "DELETE FROM consent WHERE id = $1::bigint RETURNING id", 1};

/* clang-format off */
static const struct field consent_fields[] = {
    {"id",           FIELD_INTEGER, .required = true, .example = "17"},
    {"subjectId",    FIELD_TEXT,    .required = true, .help = "User who consented", .example = "\"alice\""},
    {"clientId",     FIELD_TEXT,    .required = true, .example = "\"shop\""},
    {"redirectHost", FIELD_TEXT,    .required = true, .may_be_empty = true, .help = "Host of the redirect URI that the consent is for", .example = "\"shop.example\""},
    {"scope",        FIELD_TEXT,    .may_be_empty = true, .help = "Scopes of the consent", .example = "\"openid\""},
    {"resource",     FIELD_TEXT,    .may_be_empty = true, .help = "Resource of the consent"},
    {"grantedAt",    FIELD_TEXT,    .required = true, .example = "\"2026-01-31T12:00:00Z\""},
};
/* clang-format on */
const struct field_table consent_view = FIELD_TABLE("Consent", consent_fields, FIELDS_ANSWER);

const struct json_rows consent_rows = {
    .noun = "consent",
    .page = &consents_page_stmt,
    .remove = &consent_delete_stmt,
};

enum az_status
consent_request_insert(struct op *op, const struct consent_request_new *request,
                       const struct audit_entry *audit, bool *ret_stored)
{
    uint32_t day = partition_day(op_now(op));
    enum az_status st = partition_need_day(op, day);
    if (st != AZ_OK)
        return st;
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step =
        db_batch_add_in(batch, &consent_request_insert_stmt, DB_NO_PARTITION, day);
    db_octets(&step->params, request->id_hash, SHA256_OCTETS);
    db_octets(&step->params, request->session, SHA256_OCTETS);
    db_text(&step->params, request->request);
    db_number(&step->params, CONSENT_REQUEST_VALIDITY);
    db_text(&step->params, request->revision);
    db_time(&step->params, op->now_ms);
    audit_bind(&step->params, audit);
    if ((st = db_run(op, batch, false)) == AZ_OK)
        *ret_stored = db_written(step->result) > 0;
    return st;
}

enum az_status
consent_request_get(struct op *op, const unsigned char id_hash[SHA256_OCTETS],
                    const unsigned char session[SHA256_OCTETS], bool take, const char **ret_request)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_octets(&params, id_hash, SHA256_OCTETS);
    db_octets(&params, session, SHA256_OCTETS);
    enum az_status st = db_exec(op, take ? &consent_request_take_stmt : &consent_request_show_stmt,
                                &params, !take, &result);
    if (st == AZ_OK)
        *ret_request = db_get(result, 0, take ? (int) TAKE_REQUEST : (int) SHOW_REQUEST);
    return st;
}
