#include "config.h"

#include "store/gateway/connectors.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "managed/import/manifest.h"

/* The manifest is given as it was written: jsonb would write the numbers of a schema anew. No
 * secret is stored with a connector, but a later manifest may make one of a setting. */
#define CONNECTOR_DTO                                                                              \
    "json_build_object('id', c.id, 'name', c.manifest ->> 'name',"                                 \
    " 'description', coalesce(c.manifest ->> 'description', ''),"                                  \
    " 'category', c.manifest ->> 'category',"                                                      \
    " 'resourceType', coalesce(c.manifest ->> 'resourceType', ''), 'version', c.version,"          \
    " 'installed', true, 'installedAt', to_char(c.installed_at" DB_TIME ","                        \
    " 'updatedAt', to_char(c.updated_at" DB_TIME ", 'settings', (SELECT "                          \
    "coalesce(json_object_agg(s.key, s.value ORDER BY s.key), '{}') FROM json_each(c.settings) s " \
    "WHERE (c.manifest #>> ARRAY['settings', 'properties', s.key, 'writeOnly']) IS DISTINCT FROM " \
    "'true'), 'manifest', c.manifest)"

/* clang-format off */
static const struct db_stmt connector_list_stmt = {
    "connector_list", "SELECT " CONNECTOR_DTO " AS dto FROM connector c ORDER BY c.id", 0};
static const struct db_stmt connector_fetch_stmt = {
    "connector_fetch", "SELECT " CONNECTOR_DTO " AS dto FROM connector c WHERE c.id = $1", 1};
static const struct db_stmt connector_insert_stmt = {
    "connector_insert",
    "INSERT INTO connector (id, version, manifest, settings)"
    " SELECT $1, version, manifest, settings FROM json_populate_record(NULL::connector, $2::json)"
    " ON CONFLICT (id) DO NOTHING RETURNING id", 2};
static const struct db_stmt connector_remove_stmt = {
    "connector_remove", "DELETE FROM connector c WHERE c.id = $1"
    " AND NOT EXISTS (SELECT FROM managed_resource m WHERE m.connector_id = c.id) RETURNING c.id", 1};

enum connector_stored_column { STORED_MANIFEST, STORED_SETTINGS, STORED_RESOURCES };
static const struct db_stmt connector_stored_stmt = {
    "connector_stored",
    "SELECT c.manifest, c.settings, (SELECT coalesce(json_agg(m.name ORDER BY m.name), '[]')"
    " FROM managed_resource m WHERE m.connector_id = c.id) AS resources FROM connector c WHERE c.id = $1 FOR UPDATE", 1};
static const struct db_stmt connector_ids_stmt = {
    "connector_ids", "SELECT to_json(c.id) AS item FROM connector c ORDER BY c.id", 0};
/* The objects that use the connector $1. A rule uses it if its text names the data row of the
 * connector in either notation of Rego; a binding, if it grants a scope of the manifest. */
static const struct db_stmt connector_blockers_stmt = {
    "connector_blockers",
    "SELECT blocker FROM ("
    "SELECT 1 AS place, m.name AS id, json_build_object('type', 'managed_resource', 'id', m.name, 'name', m.document ->> 'displayName',"
    " 'href', '/admin/api/managed-resources/' || m.name) AS blocker FROM managed_resource m WHERE m.connector_id = $1"
    " UNION ALL SELECT 2, m.name, json_build_object('type', 'user_connection', 'id', m.name, 'count', count(*),"
    " 'href', '/admin/api/managed-resources/' || m.name || '/connections') FROM gateway_connection g"
    " JOIN managed_resource m ON m.name = g.resource WHERE m.connector_id = $1 GROUP BY m.name"
    " UNION ALL SELECT 3, r.path, json_build_object('type', 'policy_rule', 'id', r.id::text, 'name', r.path,"
    " 'href', '/admin/api/policy-rules/' || r.id) FROM policy_rule r WHERE NOT r.shipped"
    " AND r.content ~ ('connectors(\\.' || $1 || '([^A-Za-z0-9_-]|$)|\\[[\"`]' || $1 || '[\"`]\\])')"
    " UNION ALL SELECT 4, b.key, json_build_object('type', 'client_entitlement', 'id', b.key, 'name', s.section,"
    " 'href', '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings') FROM policy_data d,"
    " unnest(ARRAY['clients', 'registrations', 'software']) AS s(section),"
    " jsonb_each(CASE jsonb_typeof(d.payload::jsonb -> s.section) WHEN 'object' THEN d.payload::jsonb -> s.section ELSE '{}' END) b"
    " WHERE d.data_key = 'svc.entitlements.bindings' AND EXISTS (SELECT FROM connector c, json_array_elements(c.manifest -> 'scopes') m"
    " WHERE c.id = $1 AND (b.value -> 'scopes' ? (m ->> 'name') OR EXISTS (SELECT FROM"
    " jsonb_path_query(b.value, '$.gateway_scopes[*]') g WHERE g #>> '{}' <> '*' AND starts_with(m ->> 'name', left(g #>> '{}', -1)))))"
    ") u ORDER BY place, id", 1};
static const struct db_stmt connector_update_stmt = {
    "connector_update", "UPDATE connector SET version = $2, manifest = $3::json, settings = coalesce($4::json, settings), updated_at = now() WHERE id = $1", 4};
static const struct db_stmt connector_row_hold_stmt = {
    "connector_row_hold", "UPDATE policy_data SET shipped = $2 WHERE data_key = $1", 2};
static const struct db_stmt connector_adopt_stmt = {
    "connector_adopt", "UPDATE managed_resource SET connector_id = $1, connector_version = $2 WHERE name = $3", 3};
/* clang-format on */

/* clang-format off */
static const struct field connector_fields[] = {
    {"id",           FIELD_TEXT,    .required = true, .example = "\"github\""},
    {"name",         FIELD_TEXT,    .required = true, .example = "\"GitHub\""},
    {"description",  FIELD_TEXT,    .required = true, .may_be_empty = true, .example = "\"Issues and pull requests\""},
    {"category",     FIELD_TEXT,    .required = true, .example = "\"developer-tools\""},
    {"resourceType", FIELD_TEXT,    .required = true, .may_be_empty = true, .help = "Type of its managed resources for policy", .example = "\"urn:svc:rt:github\""},
    {"version",      FIELD_TEXT,    .required = true, .help = "Version of the manifest", .example = "\"1.0.0\""},
    {"installed",    FIELD_BOOLEAN, .required = true, .example = "true"},
    {"installedAt",  FIELD_TEXT,    .help = "Time of the installation"},
    {"updatedAt",    FIELD_TEXT,    .help = "Time of the last sync that changed it, or of the installation"},
    {"settings",     FIELD_OBJECT,  .help = "The settings of an installed one, without secrets, which its managed resource has", .example = "{\"clientId\": \"abc\"}"},
    {"manifest",     FIELD_OBJECT,  .required = true, .help = "The manifest: the file if it is not installed, else its copy", .example = "{\"manifestVersion\": 1, \"id\": \"github\"}"},
};
/* clang-format on */
const struct field_table connector_view =
    FIELD_TABLE("ConnectorDto", connector_fields, FIELDS_ANSWER);

const struct json_rows connectors_rows = {
    .noun = "connector",
    .key = "id",
    .besides = "",
    .list = &connector_list_stmt,
    .fetch = &connector_fetch_stmt,
    .insert = &connector_insert_stmt,
    .remove = &connector_remove_stmt,
    .owned = "connector",
};

static enum az_status
stored_column(struct op *op, const PGresult *result, int column, json_t **ret)
{
    const char *text = db_get(result, 0, column);
    return jsonx_parse(op->mem, text, strlen(text), MANIFEST_DEPTH, ret, NULL);
}

enum az_status
connector_stored_fetch(struct op *op, const char *id, const struct connector_stored **ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, id);
    *ret = NULL;
    enum az_status st = db_exec(op, &connector_stored_stmt, &params, false, &result);
    if (st != AZ_OK || PQntuples(result) == 0)
        return st;
    struct connector_stored *stored = talloc_zero(op->mem, struct connector_stored);
    if (stored == NULL || stored_column(op, result, STORED_MANIFEST, &stored->manifest) != AZ_OK
        || stored_column(op, result, STORED_SETTINGS, &stored->settings) != AZ_OK
        || stored_column(op, result, STORED_RESOURCES, &stored->resources) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "connector %s cannot be read", id);
    *ret = stored;
    return AZ_OK;
}

enum az_status
connector_ids(struct op *op, json_t **ret)
{
    return db_fetch_array(op, &connector_ids_stmt, NULL, ret);
}

enum az_status
connector_blockers(struct op *op, const char *id, json_t **ret)
{
    struct db_params params = {.count = 0};
    db_text(&params, id);
    return db_fetch_array(op, &connector_blockers_stmt, &params, ret);
}

enum az_status
connector_update(struct op *op, const char *id, const char *version, const char *manifest,
                 const char *settings)
{
    struct db_params params = {.count = 0};
    db_text(&params, id);
    db_text(&params, version);
    db_text(&params, manifest);
    db_text(&params, settings);
    return db_exec(op, &connector_update_stmt, &params, false, NULL);
}

enum az_status
connector_adopt(struct op *op, const char *id, const char *version, const char *resource)
{
    struct db_params params = {.count = 0};
    db_text(&params, id);
    db_text(&params, version);
    db_text(&params, resource);
    return db_exec(op, &connector_adopt_stmt, &params, false, NULL);
}

enum az_status
connector_row_hold(struct op *op, const char *data_key, bool held)
{
    struct db_params params = {.count = 0};
    db_text(&params, data_key);
    db_bool(&params, held);
    return db_exec(op, &connector_row_hold_stmt, &params, false, NULL);
}
