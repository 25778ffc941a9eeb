#include "config.h"

#include "store/clients/clients_admin.h"

#include <string.h>

#include "store/db/db.h"

#define DTO "json_strip_nulls(row_to_json(d))"
#define CLIENT_TAKEN "A client or a subject has this name already"

/* clang-format off */
static const struct db_stmt clients_list_stmt = {
    "clients_list",
    "SELECT " DTO " AS dto FROM client_dto d ORDER BY d.id", 0};
static const struct db_stmt client_dto_fetch_stmt = {
    "client_dto_fetch",
    "SELECT " DTO " AS dto FROM client_dto d WHERE d.\"clientId\" = $1", 1};
enum client_state_fetch_column {
    STATE_CLIENT_TYPE, STATE_REGISTRATION_TYPE, STATE_HAS_SECRET, STATE_STATEMENT
};
static const struct db_stmt client_state_fetch_stmt = {
    "client_state_fetch",
    "SELECT client_type, registration_type, secret_sealed IS NOT NULL AS has_secret,"
    " software_statement::text AS statement"
    " FROM client WHERE client_id = $1", 1};

/*
 * The values come by name out of one JSON object: no list of parameters that could get out of step
 * with the columns.
 */
static const struct db_stmt client_insert_stmt = {
    "client_insert",
    "INSERT INTO client (client_id, client_name, client_type, client_uri, logo_uri, enabled,"
    "  redirect_uris, post_logout_redirect_uris, jwks, jwks_uri, auth_method, registration_type,"
    "  secret_sealed, software_statement, software_statement_json, issued_statement)"
    " SELECT $1, r.client_name, r.client_type, r.client_uri, r.logo_uri, coalesce(r.enabled, true),"
    "  coalesce(r.redirect_uris, '{}'), coalesce(r.post_logout_redirect_uris, '{}'), r.jwks,"
    "  r.jwks_uri, r.auth_method, 'ADMIN', $3::bytea, r.software_statement,"
    "  r.software_statement_json, $4"
    " FROM json_populate_record(NULL::client, $2::json) r"
    " WHERE NOT EXISTS (SELECT 1 FROM subject WHERE subject = $1)"
    " ON CONFLICT (client_id) DO NOTHING RETURNING id", 4};
static const struct db_stmt client_replace_stmt = {
    "client_replace",
    "UPDATE client c SET (client_name, client_type, client_uri, logo_uri, enabled,"
    "  redirect_uris, post_logout_redirect_uris, jwks, jwks_uri, auth_method,"
    "  software_statement, software_statement_json, issued_statement,"
    "  secret_sealed, previous_secret_sealed, previous_secret_expires_at)"
    " = (SELECT r.client_name, r.client_type, r.client_uri, r.logo_uri,"
    "  coalesce(r.enabled, c.enabled), coalesce(r.redirect_uris, '{}'),"
    "  coalesce(r.post_logout_redirect_uris, '{}'), r.jwks, r.jwks_uri, r.auth_method,"
    "  CASE WHEN c.registration_type = 'STATEMENT' THEN c.software_statement"
    "   ELSE r.software_statement END,"
    "  CASE WHEN c.registration_type = 'STATEMENT' THEN c.software_statement_json"
    "   ELSE r.software_statement_json END, $4,"
    "  CASE WHEN r.client_type = 'confidential' THEN coalesce($3::bytea, c.secret_sealed) END,"
    "  CASE WHEN r.client_type = 'confidential' AND $3::bytea IS NULL"
    "   THEN c.previous_secret_sealed END,"
    "  CASE WHEN r.client_type = 'confidential' AND $3::bytea IS NULL"
    "   THEN c.previous_secret_expires_at END"
    " FROM json_populate_record(NULL::client, $2::json) r)"
    " WHERE c.client_id = $1 RETURNING c.id", 4};
static const struct db_stmt client_delete_stmt = {
    "client_delete", "DELETE FROM client WHERE client_id = $1 RETURNING id", 1};

/* The secret that was good until now lives on as the previous one until $3, or is dropped. */
enum client_rotate_secret_column { ROTATE_CLIENT_TYPE, ROTATE_DONE, ROTATE_UNTIL };
static const struct db_stmt client_rotate_secret_stmt = {
    "client_rotate_secret",
    "WITH k AS (SELECT client_type FROM client WHERE client_id = $1),"
    " u AS (UPDATE client SET secret_sealed = $2,"
    "  previous_secret_sealed = CASE WHEN $3::timestamptz IS NOT NULL THEN secret_sealed END,"
    "  previous_secret_expires_at ="
    "   CASE WHEN secret_sealed IS NOT NULL THEN $3::timestamptz END"
    "  WHERE client_id = $1 AND client_type = 'confidential'"
    "  RETURNING previous_secret_expires_at AS until)"
    " SELECT k.client_type, (SELECT count(*) FROM u) AS done,"
    "  (SELECT to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') FROM u) AS until"
    " FROM k", 3};
/* clang-format on */

enum az_status
clients_list(struct op *op, const char **ret_array)
{
    return db_fetch_list(op, &clients_list_stmt, NULL, ret_array);
}

/* Runs a statement whose one parameter is the client_id. */
static enum az_status
run_by_id(struct op *op, const struct db_stmt *stmt, const char *client_id, bool reads_only,
          PGresult **ret)
{
    struct db_params params = {.count = 0};
    db_text(&params, client_id);
    return db_exec(op, stmt, &params, reads_only, ret);
}

enum az_status
client_dto_fetch(struct op *op, const char *client_id, const char **ret_dto)
{
    struct db_params params = {.count = 0};
    db_text(&params, client_id);
    return db_fetch_text(op, &client_dto_fetch_stmt, &params, ret_dto);
}

enum az_status
client_state_fetch(struct op *op, const char *client_id, struct client_state *ret)
{
    PGresult *result;
    enum az_status st = run_by_id(op, &client_state_fetch_stmt, client_id, true, &result);
    if (st != AZ_OK)
        return st;
    ret->found = PQntuples(result) == 1;
    ret->type = db_get(result, 0, STATE_CLIENT_TYPE);
    ret->registration = db_get(result, 0, STATE_REGISTRATION_TYPE);
    ret->has_secret = db_get_bool(result, 0, STATE_HAS_SECRET);
    ret->statement = db_get(result, 0, STATE_STATEMENT);
    return AZ_OK;
}

/* *ret_dto is NULL if no row was written. */
static enum az_status
write_client(struct op *op, const struct db_stmt *stmt, const struct client_row *row,
             const char **ret_dto)
{
    struct db_params params = {.count = 0};
    db_text(&params, row->client_id);
    db_text(&params, row->columns);
    db_octets(&params, row->sealed, row->sealed_length);
    db_text(&params, row->issued_statement);
    return db_write_read(op, stmt, &params, &client_dto_fetch_stmt, CLIENT_TAKEN, ret_dto);
}

enum az_status
client_insert(struct op *op, const struct client_row *row, const char **ret_dto)
{
    const char *dto = NULL;
    enum az_status st = write_client(op, &client_insert_stmt, row, &dto);
    if (st == AZ_OK && dto == NULL)
        return op_fail(op, AZ_CONFLICT, CLIENT_TAKEN, NULL);
    if (st == AZ_OK)
        *ret_dto = dto;
    return st;
}

enum az_status
client_replace(struct op *op, const struct client_row *row, const char **ret_dto)
{
    return write_client(op, &client_replace_stmt, row, ret_dto);
}

enum az_status
client_delete(struct op *op, const char *client_id)
{
    PGresult *result;
    enum az_status st = run_by_id(op, &client_delete_stmt, client_id, false, &result);
    if (st == AZ_OK && PQntuples(result) == 0)
        return op_fail(op, AZ_NOT_FOUND, NULL, "no such client");
    return st;
}

enum az_status
client_rotate_secret(struct op *op, const char *client_id, const struct client_rotation *rotation,
                     const char **ret_previous_until)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, client_id);
    db_octets(&params, rotation->sealed, rotation->sealed_length);
    if (rotation->previous_until_ms > 0)
        db_time(&params, rotation->previous_until_ms);
    else
        db_text(&params, NULL);
    enum az_status st = db_exec(op, &client_rotate_secret_stmt, &params, false, &result);
    if (st != AZ_OK)
        return st;
    if (PQntuples(result) == 0)
        return op_fail(op, AZ_NOT_FOUND, NULL, "no such client");
    if (db_get_number(result, 0, ROTATE_DONE, 0) == 0)
        return op_fail(op, AZ_INVALID_FIELDS, "A public client has no secret", NULL);
    *ret_previous_until = db_get(result, 0, ROTATE_UNTIL);
    return AZ_OK;
}
