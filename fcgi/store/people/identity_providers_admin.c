#include "config.h"

#include "store/people/identity_providers_admin.h"

#include "store/db/db.h"

/* A provider as it is shown: of its secret nothing but that there is one; and its faults of the
 * last day. */
#define SHOWN                                                                                      \
    "json_strip_nulls((left(row_to_json(d)::text, -1) || ',\"clientSecretSet\":'"                  \
    " || (o.secret_sealed IS NOT NULL)::text || ',\"faults\":' || coalesce((SELECT json_agg("      \
    "json_build_object('code', f.code, 'firstAt', instant_text(f.first_at), 'lastAt',"             \
    " instant_text(f.last_at), 'count', f.n) ORDER BY f.code)::text FROM recent_fault f"           \
    " WHERE f.idp = o.id), 'null') || '}')::json)"
#define SHOWN_FROM "identity_provider_dto d JOIN identity_provider o ON o.id = d.id"

/* clang-format off */
static const struct db_stmt identity_providers_admin_list_stmt = {
    "identity_provider_dto_list", "SELECT " SHOWN " AS dto FROM " SHOWN_FROM " ORDER BY d.id", 0};
enum identity_provider_dto_fetch_column { SHOWN_DTO, SHOWN_VERSION };
static const struct db_stmt identity_providers_admin_fetch_stmt = {
    "identity_provider_dto_fetch",
    "SELECT " SHOWN " AS dto, o.version FROM " SHOWN_FROM " WHERE d.\"idpId\" = $1", 1};

/* The values come by name from one JSON object. Joining with || lets the members on the right win. */
static const struct db_stmt identity_providers_admin_insert_stmt = {
    "identity_provider_insert",
    "INSERT INTO identity_provider (" IDENTITY_PROVIDERS_ADMIN_COLUMNS ", secret_exp, idp_id,"
    "  secret_sealed)"
    " SELECT " IDENTITY_PROVIDERS_ADMIN_COLUMNS ", secret_exp, $1, $3::bytea"
    " FROM jsonb_populate_record(NULL::identity_provider,"
    "  '{\"enabled\": true, \"list_claims\": [\"groups\", \"roles\"]}' || $2::jsonb)"
    " ON CONFLICT DO NOTHING RETURNING id", 3};
/* `was` is the row before the update: statements of one WITH see the same snapshot. */
static const struct db_stmt identity_providers_admin_replace_stmt = {
    "identity_provider_replace",
    "WITH was AS (SELECT id, issuer, scopes FROM identity_provider WHERE idp_id = $1"
    "  AND ($4::bigint IS NULL OR version = $4::bigint) FOR UPDATE),"
    " u AS (UPDATE identity_provider p SET (" IDENTITY_PROVIDERS_ADMIN_COLUMNS ", secret_exp,"
    "  secret_sealed)"
    " = (SELECT " IDENTITY_PROVIDERS_ADMIN_COLUMNS ","
    "  CASE WHEN $3::bytea IS NULL THEN p.secret_exp ELSE secret_exp END,"
    "  coalesce($3::bytea, p.secret_sealed)"
    "  FROM jsonb_populate_record(NULL::identity_provider,"
    "   jsonb_build_object('enabled', p.enabled, 'list_claims', p.list_claims) || $2::jsonb))"
    "  FROM was WHERE p.id = was.id RETURNING p.id, p.enabled, p.issuer = was.issuer AS same,"
    "   p.userinfo IS NOT DISTINCT FROM 'off' OR p.scopes IS DISTINCT FROM was.scopes AS other),"
    " begun AS (DELETE FROM provider_userinfo x USING u"
    "  WHERE x.idp = u.id AND (u.other OR NOT u.same)),"
    " ended AS (DELETE FROM browser_session s USING u"
    "  WHERE s.idp = u.id AND NOT (u.enabled AND u.same) RETURNING s.idp)"
    " SELECT u.id, (SELECT count(*) FROM ended) FROM u", 4};
static const struct db_stmt identity_providers_admin_delete_stmt = {
    "identity_provider_delete", "DELETE FROM identity_provider"
    " WHERE idp_id = $1 AND ($2::bigint IS NULL OR version = $2::bigint) RETURNING id", 2};

enum identity_provider_stored_column { STORED_VERSION, STORED_HAS_SECRET, STORED_ADDRESSES };
static const struct db_stmt identity_provider_stored_stmt = {
    "identity_provider_stored",
    "SELECT version, secret_sealed IS NOT NULL AS has_secret,"
    " json_build_object('issuer', issuer, 'discoveryUrl', discovery_url,"
    "  'tokenEndpoint', token_endpoint) AS addresses"
    " FROM identity_provider WHERE idp_id = $1", 1};

/*
 * A sequence moves before the rows it counts are committed. A process that read it in between
 * would take the old rows for the newest from then on, so it moves once more after the commit.
 */
static const struct db_stmt identity_providers_admin_moved_stmt = {
    "identity_provider_moved", "SELECT nextval('identity_provider_version_seq')", 0};

/* The sequence moves with the row, as it does for a change of a provider: processes remember both. */
enum home_issuer_set_column { SET_ISSUER, SET_NEXTVAL };
static const struct db_stmt home_issuer_set_stmt = {
    "home_issuer_set",
    "WITH h AS (INSERT INTO home_issuer (issuer) SELECT issuer FROM identity_provider WHERE idp_id = $1 AND enabled"
    "  ON CONFLICT (one) DO UPDATE SET issuer = excluded.issuer RETURNING issuer)"
    " SELECT issuer, nextval('identity_provider_version_seq') FROM h", 1};
enum home_issuer_people_column { PEOPLE_COUNT };
static const struct db_stmt home_issuer_people_stmt = {
    "home_issuer_people", "SELECT count(*) FROM subject WHERE issuer = $1 AND subject = upstream_sub", 1};
/* clang-format on */

const struct json_rows identity_providers_admin_rows = {
    .noun = "identity provider",
    .key = "idpId",
    .besides = " or its issuer",
    .taken = "The issuer or one of issuerAliases is already in use",
    .list = &identity_providers_admin_list_stmt,
    .fetch = &identity_providers_admin_fetch_stmt,
    .insert = &identity_providers_admin_insert_stmt,
    .replace = &identity_providers_admin_replace_stmt,
    .remove = &identity_providers_admin_delete_stmt,
    .after = &identity_providers_admin_moved_stmt,
    .owned = "provider",
};

enum az_status
identity_provider_stored_fetch(struct op *op, const char *idp_id,
                               const struct identity_provider_stored **ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, idp_id);
    enum az_status st = db_exec(op, &identity_provider_stored_stmt, &params, true, &result);
    if (st != AZ_OK || PQntuples(result) == 0)
        return st;
    struct identity_provider_stored *stored = talloc_zero(op->mem, struct identity_provider_stored);
    if (stored == NULL)
        return op_no_memory(op);
    stored->version = db_get(result, 0, STORED_VERSION);
    stored->has_secret = db_get_bool(result, 0, STORED_HAS_SECRET);
    *ret = stored;
    return db_read_json(op, result, 0, STORED_ADDRESSES, &stored->addresses);
}

enum az_status
home_issuer_set(struct op *op, const char *idp_id, bool *ret_done)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, idp_id);
    enum az_status st = db_exec(op, &home_issuer_set_stmt, &params, false, &result);
    *ret_done = st == AZ_OK && PQntuples(result) > 0;
    return *ret_done ? db_exec(op, &identity_providers_admin_moved_stmt, NULL, false, &result) : st;
}

enum az_status
home_issuer_people(struct op *op, const char *issuer, int64_t *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, issuer);
    enum az_status st = db_exec(op, &home_issuer_people_stmt, &params, true, &result);
    *ret = st == AZ_OK ? db_get_number(result, 0, PEOPLE_COUNT, 0) : 0;
    return st;
}
