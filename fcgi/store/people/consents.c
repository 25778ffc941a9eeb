#include "config.h"

#include "store/people/consents.h"

#include "store/db/db.h"

static const struct db_stmt consent_request_insert_stmt = {
    "consent_request_insert",
    "INSERT INTO consent_request (id_hash, session, request, expires_at)"
    " SELECT $1, id_hash, $3::jsonb, now() + make_interval(secs => $4::double precision)"
    " FROM browser_session WHERE id_hash = $2 AND expires_at > now()",
    4};

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

static const struct db_stmt consent_list_stmt = {
    "consent_list",
    "SELECT json_strip_nulls(json_build_object('id', o.id, 'subjectId', o.subject,"
    "  'clientId', c.client_id, 'redirectHost', o.redirect_host, 'scope', o.scope,"
    "  'resource', o.resource, 'grantedAt', o.granted_at)) AS consent"
    " FROM consent o JOIN client c ON c.id = o.client"
    " WHERE ($1::text IS NULL OR o.subject = $1) AND ($2::text IS NULL OR c.client_id = $2)"
    " ORDER BY o.id DESC LIMIT 1000",
    2};

static const struct db_stmt consent_delete_stmt = {
    "consent_delete", "DELETE FROM consent WHERE id = $1::bigint RETURNING id", 1};

const struct json_rows consent_rows = {
    .noun = "consent",
    .list = &consent_list_stmt,
    .remove = &consent_delete_stmt,
};

enum az_status
consent_request_insert(struct op *op, const unsigned char id_hash[SHA256_OCTETS],
                       const unsigned char session[SHA256_OCTETS], const char *request)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_octets(&params, id_hash, SHA256_OCTETS);
    db_octets(&params, session, SHA256_OCTETS);
    db_text(&params, request);
    db_number(&params, CONSENT_REQUEST_VALIDITY);
    enum az_status st = db_exec(op, &consent_request_insert_stmt, &params, false, &result);
    if (st == AZ_OK && db_written(result) == 0)
        return op_fail(op, AZ_LOGIN_REQUIRED, NULL, "the session has ended");
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
