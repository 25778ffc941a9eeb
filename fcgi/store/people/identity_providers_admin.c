#include "config.h"

#include "store/people/identity_providers_admin.h"

#include "store/db/db.h"

#define DTO "json_strip_nulls(row_to_json(d))"

/* clang-format off */
enum identity_provider_dto_list_column { LIST_LIST };
static const struct db_stmt list_stmt = {
    "identity_provider_dto_list",
    "SELECT '[' || coalesce(string_agg(" DTO "::text, ',' ORDER BY d.id), '') || ']' AS list"
    " FROM identity_provider_dto d", 0};
enum identity_provider_dto_fetch_column { ROW_DTO };
static const struct db_stmt dto_stmt = {
    "identity_provider_dto_fetch",
    "SELECT " DTO " AS dto FROM identity_provider_dto d WHERE d.\"idpId\" = $1", 1};

/* The values come by name out of one JSON object, as those of a client do. */
static const struct db_stmt insert_stmt = {
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
static const struct db_stmt replace_stmt = {
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
static const struct db_stmt delete_stmt = {
    "identity_provider_delete", "DELETE FROM identity_provider WHERE idp_id = $1 RETURNING id", 1};

/*
 * A sequence moves before what it counts is committed. Who reads it in between, with the rows as
 * they were, would take them for the newest for ever; so it moves once more afterwards.
 */
static const struct db_stmt moved_stmt = {
    "identity_provider_moved", "SELECT nextval('identity_provider_version_seq')", 0};
/* clang-format on */

enum az_status
identity_providers_list(struct op *op, const char **ret_array)
{
    PGresult *result;
    enum az_status st = db_exec(op, &list_stmt, NULL, true, &result);
    if (st == AZ_OK)
        *ret_array = db_get(result, 0, LIST_LIST);
    return st;
}

enum az_status
identity_provider_dto_fetch(struct op *op, const char *idp_id, const char **ret_dto)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, idp_id);
    enum az_status st = db_exec(op, &dto_stmt, &params, true, &result);
    if (st == AZ_OK)
        *ret_dto = db_get(result, 0, ROW_DTO);
    return st;
}

static enum az_status
taken(struct op *op)
{
    return op_fail(op, AZ_CONFLICT, "There is an identity provider with this idpId or issuer",
                   NULL);
}

/* The write and the reading of what came of it, in one trip and one transaction. *ret_dto NULL: no
 * row was written. */
static enum az_status
write_row(struct op *op, const struct db_stmt *stmt, const struct identity_provider_row *row,
          const char **ret_dto)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *write = db_batch_add(batch, stmt), *read = db_batch_add(batch, &dto_stmt);
    if (write == NULL || read == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "no memory");
    db_text(&write->params, row->idp_id);
    db_text(&write->params, row->columns);
    if (row->sealed != NULL)
        db_octets(&write->params, row->sealed, row->sealed_length);
    else
        db_text(&write->params, NULL);
    db_text(&read->params, row->idp_id);
    enum az_status st = db_try(op, batch, false);
    if (st == AZ_INVALID && db_batch_failed_with(batch, "23505"))
        return taken(op);
    if (st == AZ_INVALID)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "database: %s", db_batch_message(batch));
    if (st != AZ_OK)
        return st;
    const char *dto = PQntuples(write->result) == 1 ? db_get(read->result, 0, ROW_DTO) : NULL;
    if (dto != NULL)
        st = db_exec(op, &moved_stmt, NULL, false, NULL);
    if (st == AZ_OK)
        *ret_dto = dto;
    return st;
}

enum az_status
identity_provider_insert(struct op *op, const struct identity_provider_row *row,
                         const char **ret_dto)
{
    const char *dto = NULL;
    enum az_status st = write_row(op, &insert_stmt, row, &dto);
    if (st == AZ_OK && dto == NULL)
        return taken(op);
    if (st == AZ_OK)
        *ret_dto = dto;
    return st;
}

enum az_status
identity_provider_replace(struct op *op, const struct identity_provider_row *row,
                          const char **ret_dto)
{
    return write_row(op, &replace_stmt, row, ret_dto);
}

enum az_status
identity_provider_delete(struct op *op, const char *idp_id)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, idp_id);
    enum az_status st = db_exec(op, &delete_stmt, &params, false, &result);
    if (st == AZ_OK && PQntuples(result) == 0)
        return op_fail(op, AZ_NOT_FOUND, NULL, "no such identity provider");
    return st == AZ_OK ? db_exec(op, &moved_stmt, NULL, false, NULL) : st;
}
