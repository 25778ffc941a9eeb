#include "config.h"

#include "store/people/identity_providers_admin.h"

#include "store/db/db.h"

#define DTO "json_strip_nulls(row_to_json(d))"
#define PROVIDER_TAKEN "An identity provider has this idpId or issuer already"

/* clang-format off */
static const struct db_stmt identity_provider_dto_list_stmt = {
    "identity_provider_dto_list",
    "SELECT " DTO " AS dto FROM identity_provider_dto d ORDER BY d.id", 0};
static const struct db_stmt identity_provider_dto_fetch_stmt = {
    "identity_provider_dto_fetch",
    "SELECT " DTO " AS dto FROM identity_provider_dto d WHERE d.\"idpId\" = $1", 1};

/* The values come by name out of one JSON object, as those of a client do. */
static const struct db_stmt identity_provider_insert_stmt = {
    "identity_provider_insert",
    "INSERT INTO identity_provider (idp_id, name, issuer, client_id, secret_sealed,"
    "  authorization_endpoint, token_endpoint, userinfo_endpoint, jwks_uri,"
    "  backchannel_notification_endpoint, scopes, authorize_params, enabled)"
    " SELECT $1, r.name, r.issuer, r.client_id, $3::bytea,"
    "  r.authorization_endpoint, r.token_endpoint, r.userinfo_endpoint, r.jwks_uri,"
    "  r.backchannel_notification_endpoint, r.scopes, r.authorize_params,"
    "  coalesce(r.enabled, true)"
    " FROM json_populate_record(NULL::identity_provider, $2::json) r"
    " ON CONFLICT DO NOTHING RETURNING id", 3};
/* `was` is the row as it was: statements of one WITH see the same snapshot. */
static const struct db_stmt identity_provider_replace_stmt = {
    "identity_provider_replace",
    "WITH was AS (SELECT id, issuer FROM identity_provider WHERE idp_id = $1 FOR UPDATE),"
    " u AS (UPDATE identity_provider p SET (name, issuer, client_id, secret_sealed,"
    "  authorization_endpoint, token_endpoint, userinfo_endpoint, jwks_uri,"
    "  backchannel_notification_endpoint, scopes, authorize_params, enabled)"
    " = (SELECT r.name, r.issuer, r.client_id, coalesce($3::bytea, p.secret_sealed),"
    "  r.authorization_endpoint, r.token_endpoint, r.userinfo_endpoint, r.jwks_uri,"
    "  r.backchannel_notification_endpoint, r.scopes, r.authorize_params,"
    "  coalesce(r.enabled, p.enabled)"
    "  FROM json_populate_record(NULL::identity_provider, $2::json) r)"
    "  FROM was WHERE p.id = was.id RETURNING p.id, p.enabled, p.issuer = was.issuer AS same),"
    " ended AS (DELETE FROM browser_session s USING u"
    "  WHERE s.idp = u.id AND NOT (u.enabled AND u.same) RETURNING s.idp)"
    " SELECT u.id, (SELECT count(*) FROM ended) FROM u", 3};
static const struct db_stmt identity_provider_delete_stmt = {
    "identity_provider_delete", "DELETE FROM identity_provider WHERE idp_id = $1 RETURNING id", 1};

/*
 * A sequence moves before what it counts is committed. Who reads it in between, with the rows as
 * they were, would take them for the newest for ever; so it moves once more afterwards.
 */
static const struct db_stmt identity_provider_moved_stmt = {
    "identity_provider_moved", "SELECT nextval('identity_provider_version_seq')", 0};
/* clang-format on */

enum az_status
identity_providers_list(struct op *op, const char **ret_array)
{
    return db_fetch_list(op, &identity_provider_dto_list_stmt, NULL, ret_array);
}

enum az_status
identity_provider_dto_fetch(struct op *op, const char *idp_id, const char **ret_dto)
{
    struct db_params params = {.count = 0};
    db_text(&params, idp_id);
    return db_fetch_text(op, &identity_provider_dto_fetch_stmt, &params, ret_dto);
}

/* *ret_dto is NULL if no row was written. */
static enum az_status
write_provider(struct op *op, const struct db_stmt *stmt, const struct identity_provider_row *row,
               const char **ret_dto)
{
    const char *dto = NULL;
    struct db_params params = {.count = 0};
    db_text(&params, row->idp_id);
    db_text(&params, row->columns);
    db_octets(&params, row->sealed, row->sealed_length);
    enum az_status st =
        db_write_read(op, stmt, &params, &identity_provider_dto_fetch_stmt, PROVIDER_TAKEN, &dto);
    if (st == AZ_OK && dto != NULL)
        st = db_exec(op, &identity_provider_moved_stmt, NULL, false, NULL);
    if (st == AZ_OK)
        *ret_dto = dto;
    return st;
}

enum az_status
identity_provider_insert(struct op *op, const struct identity_provider_row *row,
                         const char **ret_dto)
{
    const char *dto = NULL;
    enum az_status st = write_provider(op, &identity_provider_insert_stmt, row, &dto);
    if (st == AZ_OK && dto == NULL)
        return op_fail(op, AZ_CONFLICT, PROVIDER_TAKEN, NULL);
    if (st == AZ_OK)
        *ret_dto = dto;
    return st;
}

enum az_status
identity_provider_replace(struct op *op, const struct identity_provider_row *row,
                          const char **ret_dto)
{
    return write_provider(op, &identity_provider_replace_stmt, row, ret_dto);
}

enum az_status
identity_provider_delete(struct op *op, const char *idp_id)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, idp_id);
    enum az_status st = db_exec(op, &identity_provider_delete_stmt, &params, false, &result);
    if (st == AZ_OK && PQntuples(result) == 0)
        return op_fail(op, AZ_NOT_FOUND, NULL, "no such identity provider");
    return st == AZ_OK ? db_exec(op, &identity_provider_moved_stmt, NULL, false, NULL) : st;
}
