#include "config.h"

#include "store/gateway/resources_admin.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "managed/document.h"
#include "store/db/db.h"

/*
 * The document as it was stored, then what the service knows. They are put together as texts: jsonb
 * would write the numbers of a schema anew, and json_strip_nulls() would take the nulls out of it.
 */
#define RESOURCES_DTO                                                                              \
    "(left(m.document::text, -1) || ',\"tools\":' || m.tools::text || ','"                         \
    " || substr(json_strip_nulls(json_build_object('connectorId', m.connector_id,"                 \
    "  'connectorVersion', m.connector_version, 'status', m.status,"                               \
    "  'statusReason', m.status_reason,"                                                           \
    "  'statusChangedAt', to_char(m.status_changed_at" DB_TIME ","                                 \
    "  'lastProbe', m.last_probe, 'toolCount', json_array_length(m.tools),"                        \
    "  'sharedRedirect', CASE WHEN " RESOURCES_REDIRECT_SHARED " THEN true END,"                   \
    "  'syncedAt', to_char(m.synced_at" DB_TIME "))::text, 2))::json"

/* The same without routes, tools and the settings of the upstream. */
#define RESOURCES_SUMMARY                                                                          \
    "json_strip_nulls(json_build_object('name', m.name,"                                           \
    " 'displayName', m.document ->> 'displayName', 'upstreamType', m.upstream_type,"               \
    " 'upstreamUrl', m.document ->> 'upstreamUrl', 'enabled', m.enabled,"                          \
    " 'connectorId', m.connector_id, 'status', m.status, 'statusReason', m.status_reason,"         \
    " 'statusChangedAt', to_char(m.status_changed_at" DB_TIME ","                                  \
    " 'toolCount', json_array_length(m.tools), 'waitingTools', " RESOURCES_WAITING ","             \
    " 'syncedAt', to_char(m.synced_at" DB_TIME "))"

/* clang-format off */
static const struct db_stmt resources_admin_page_stmt = {
    "managed_resources_page",
    "WITH f AS (SELECT m.id, m.name FROM managed_resource m"
    "  WHERE ($1::text IS NULL OR strpos(m.name, lower($1)) > 0"
    "   OR strpos(lower(m.document ->> 'displayName'), lower($1)) > 0)"
    "  AND ($2::text IS NULL OR m.status = $2)),"
    " p AS (SELECT f.id FROM f ORDER BY f.name LIMIT $4::bigint OFFSET $5::bigint)"
    " SELECT (SELECT count(*) FROM f) AS total,"
    "  (SELECT coalesce(json_agg(CASE WHEN $3::text = 'summary' THEN " RESOURCES_SUMMARY " ELSE " RESOURCES_DTO " END"
    "    ORDER BY m.name), '[]') FROM p JOIN managed_resource m ON m.id = p.id) AS resources", 5};
enum managed_resource_dto_fetch_column { SHOWN_DTO, SHOWN_VERSION };
static const struct db_stmt resources_admin_fetch_stmt = {
    "managed_resource_dto_fetch", "SELECT " RESOURCES_DTO " AS dto, m.version FROM managed_resource m WHERE m.name = $1", 1};

/* The values come by name from one JSON object; json keeps its documents as they were written. */
static const struct db_stmt resources_admin_insert_stmt = {
    "managed_resource_insert",
    "INSERT INTO managed_resource (" RESOURCES_ADMIN_COLUMNS ", name, secrets_sealed)"
    " SELECT " RESOURCES_ADMIN_COLUMNS ", $1, $3::bytea FROM json_populate_record(NULL::managed_resource, $2::json)"
    " ON CONFLICT (name) DO NOTHING RETURNING id", 3};
static const struct db_stmt resources_admin_replace_stmt = {
    "managed_resource_replace",
    "WITH r AS (SELECT " RESOURCES_ADMIN_COLUMNS " FROM json_populate_record(NULL::managed_resource, $2::json))"
    " UPDATE managed_resource m SET (" RESOURCES_ADMIN_COLUMNS ", secrets_sealed, status_changed_at, failures, version, updated_at)"
    " = (SELECT r.upstream_type, r.enabled, r.document, r.tools, r.secrets_set, r.missing, r.status, r.status_reason,"
    "  coalesce($3::bytea, m.secrets_sealed),"
    "  CASE WHEN m.status = r.status THEN m.status_changed_at ELSE now() END, '{}'::timestamptz[],"
    "  nextval('managed_resource_version_seq'), now() FROM r)"
    " WHERE m.name = $1 AND ($4::bigint IS NULL OR m.version = $4::bigint) RETURNING m.id", 4};
static const struct db_stmt resources_admin_delete_stmt = {
    "managed_resource_delete", "DELETE FROM managed_resource"
    " WHERE name = $1 AND ($2::bigint IS NULL OR version = $2::bigint) RETURNING id", 2};

enum managed_resource_stored_column { STORED_VERSION, STORED_STATUS, STORED_STATUS_REASON, STORED_AUTH_TYPE, STORED_SECRETS_SET, STORED_TOOLS, STORED_SECRETS_SEALED, STORED_ADDRESSES };
static const struct db_stmt resource_stored_stmt = {
    "managed_resource_stored",
    "SELECT version, status, status_reason, document #>> '{upstreamAuth,type}' AS auth_type, secrets_set, tools, secrets_sealed,"
    " json_build_object('upstreamUrl', document -> 'upstreamUrl', 'upstreamAuth', document -> 'upstreamAuth') AS addresses"
    " FROM managed_resource WHERE name = $1", 1};
/* clang-format on */

const struct json_rows resources_admin_rows = {
    .noun = "managed resource",
    .key = "name",
    .besides = "",
    .page = &resources_admin_page_stmt,
    .fetch = &resources_admin_fetch_stmt,
    .insert = &resources_admin_insert_stmt,
    .replace = &resources_admin_replace_stmt,
    .remove = &resources_admin_delete_stmt,
    .owned = "resource",
};

static enum az_status
resource_stored_read(struct op *op, const PGresult *result, struct resource_stored *stored)
{
    const char *set = db_get(result, 0, STORED_SECRETS_SET),
               *tools = db_get(result, 0, STORED_TOOLS);
    unsigned char *sealed = NULL;
    enum az_status st =
        jsonx_parse(op->mem, set, strlen(set), MANAGED_DOCUMENT_DEPTH, &stored->secrets_set, NULL);
    if (st == AZ_OK)
        st = jsonx_parse(op->mem, tools, strlen(tools), MANAGED_DOCUMENT_DEPTH, &stored->tools,
                         NULL);
    if (st == AZ_OK)
        st = db_read_json(op, result, 0, STORED_ADDRESSES, &stored->addresses);
    if (st == AZ_OK && db_get(result, 0, STORED_SECRETS_SEALED) != NULL)
        st = db_get_octets(op->mem, result, 0, STORED_SECRETS_SEALED, &sealed,
                           &stored->sealed_length);
    stored->sealed = sealed;
    stored->version = db_get(result, 0, STORED_VERSION);
    stored->status = managed_status_of(db_get(result, 0, STORED_STATUS));
    stored->status_reason = db_get(result, 0, STORED_STATUS_REASON);
    stored->auth_type = db_get(result, 0, STORED_AUTH_TYPE);
    return st;
}

enum az_status
resource_stored_fetch(struct op *op, const char *name, const struct resource_stored **ret)
{
    struct db_params params = {.count = 0};
    struct resource_stored *stored = NULL;
    PGresult *result;
    db_text(&params, name);
    enum az_status st = db_exec(op, &resource_stored_stmt, &params, true, &result);
    if (st == AZ_OK && PQntuples(result) > 0) {
        stored = talloc_zero(op->mem, struct resource_stored);
        if (stored == NULL || resource_stored_read(op, result, stored) != AZ_OK)
            return op_fail(op, AZ_SERVER_ERROR, NULL, "managed resource %s cannot be read", name);
    }
    if (st == AZ_OK)
        *ret = stored;
    return st;
}

static const struct db_stmt resource_public_owner_stmt = {
    "resource_public_owner",
    "SELECT m.name FROM managed_resource m WHERE m.name <> $1"
    " AND json_typeof(m.document -> 'publicUrls') = 'array'"
    " AND EXISTS (SELECT 1 FROM json_array_elements_text(m.document -> 'publicUrls') u"
    "  WHERE u = ANY($2::text[])) ORDER BY m.name LIMIT 1",
    2};

enum az_status
resource_public_owner(struct op *op, const char *name, const char *const *urls, const char **ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    *ret = NULL;
    if (urls == NULL || *urls == NULL)
        return AZ_OK;
    db_text(&params, name);
    db_words_or_null(op->mem, &params, urls);
    enum az_status st = db_exec(op, &resource_public_owner_stmt, &params, true, &result);
    if (st == AZ_OK && PQntuples(result) > 0)
        *ret = db_get(result, 0, 0);
    return st;
}
