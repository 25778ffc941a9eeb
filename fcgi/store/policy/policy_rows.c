#include "config.h"

#include "store/policy/policy_rows.h"

#include <string.h>

#include "crypto/digest.h"
#include "store/db/db.h"
#include "store/db/trip/db_row.h"

/* clang-format off */
/* The view gives `updatedAt` as a timestamptz. */
#define DATA_DTO                                                                                   \
    "(SELECT id, \"dataKey\", payload, version, \"inBundle\","                                     \
    "  to_char(\"updatedAt\"" DB_TIME " AS \"updatedAt\", \"updatedAtFormatted\""                  \
    " FROM policy_data_dto) d"
#define DATA_ROW                                                                                   \
    "SELECT p.data_key, p.payload, p.digest, p.in_bundle, p.shipped,"             \
    " (SELECT row_to_json(d) FROM " DATA_DTO " WHERE d.id = p.id) AS dto FROM policy_data p"
static const struct db_stmt policy_data_fetch_stmt = {
    "policy_data_fetch", DATA_ROW " WHERE p.data_key = $1", 1};
static const struct db_column policy_data_fetch_columns[] = {
    {"data_key",  DB_INTO(struct policy_row, data_key)},
    {"payload",   DB_INTO(struct policy_row, payload)},
    {"digest",    DB_INTO(struct policy_row, digest)},
    {"in_bundle", DB_INTO(struct policy_row, in_bundle)},
    {"shipped",   DB_INTO(struct policy_row, shipped)},
    {"dto",       DB_INTO(struct policy_row, dto)},
};
static const struct db_stmt policy_data_fetch_id_stmt = {
    "policy_data_fetch_id", DATA_ROW " WHERE p.id = $1::bigint", 1};
static const struct db_stmt policy_data_list_stmt = {
    "policy_data_list",
    "SELECT row_to_json(d) AS dto FROM " DATA_DTO
    " WHERE $1::text IS NULL OR d.\"dataKey\" = $1"
    "  OR (right($1, 1) = '*' AND starts_with(d.\"dataKey\", left($1, -1)))"
    " ORDER BY d.\"dataKey\" COLLATE \"C\"", 1};
/* clang-format on */

/* One statement, so one snapshot: save.c writes row and revision in one transaction, so the payload
 * is the one that was published with that revision. While a candidate is tried, the rows are those
 * of the bundle before it. */
enum policy_published_column { PUBLISHED_REVISION, PUBLISHED_PAYLOAD };
static const struct db_stmt policy_published_stmt = {
    "policy_published",
    "SELECT b.revision, CASE WHEN b.revision IS DISTINCT FROM $2 THEN p.payload END AS payload"
    " FROM bundle_state s LEFT JOIN bundle c ON c.id = s.served LEFT JOIN bundle b ON b.id = CASE "
    "WHEN c.status = 'pending' THEN c.previous ELSE c.id END"
    " LEFT JOIN policy_data p ON p.data_key = $1 AND p.in_bundle",
    2};

static const struct db_stmt policy_schema_fetch_stmt = {
    "policy_schema_fetch", "SELECT schema FROM policy_schema WHERE data_key = $1", 1};

static const struct db_stmt policy_data_write_stmt = {
    "policy_data_write",
    "INSERT INTO policy_data (data_key, payload, digest, version, in_bundle) VALUES ($1, $2, $3, "
    "coalesce($4, '1'), $5)"
    " ON CONFLICT (data_key) DO UPDATE SET payload = excluded.payload, digest = excluded.digest,"
    " version = coalesce($4, policy_data.version), in_bundle = excluded.in_bundle, updated_at = "
    "now()",
    5};
static const struct db_stmt policy_data_delete_stmt = {
    "policy_data_delete", "DELETE FROM policy_data WHERE data_key = $1 AND NOT shipped", 1};
static const struct db_stmt policy_ship_rule_stmt = {
    "policy_ship_rule",
    "INSERT INTO policy_rule (path, kind, content, digest, shipped) VALUES ($1, 'rego', $2, $3, "
    "true)"
    " ON CONFLICT (path) DO UPDATE SET content = excluded.content, digest = excluded.digest, "
    "shipped = true, enabled = true,"
    " updated_at = now() WHERE policy_rule.digest <> excluded.digest OR NOT policy_rule.shipped OR "
    "NOT policy_rule.enabled",
    3};
static const struct db_stmt policy_ship_schema_stmt = {
    "policy_ship_schema",
    "INSERT INTO policy_schema (data_key, control, schema) VALUES ($1, $2, $3) ON CONFLICT "
    "(data_key) DO UPDATE"
    " SET control = excluded.control, schema = excluded.schema WHERE policy_schema.schema <> "
    "excluded.schema",
    3};
static const struct db_stmt policy_ship_data_stmt = {
    "policy_ship_data",
    "INSERT INTO policy_data (data_key, payload, digest, shipped) VALUES ($1, $2, $3, true)"
    " ON CONFLICT (data_key) DO UPDATE SET shipped = true WHERE NOT policy_data.shipped",
    3};
static const struct db_stmt policy_ship_prune_stmt = {
    "policy_ship_prune", "DELETE FROM policy_rule WHERE shipped AND path <> ALL ($1::text[])", 1};

/* Both statements that fetch a row have the same columns. */
static enum az_status
fetch_data_row(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
               struct policy_row *ret)
{
    *ret = (struct policy_row){.data_key = NULL};
    return db_fetch_row(op, stmt, params, true,
                        DB_TABLE(struct policy_row, policy_data_fetch_columns), ret, NULL);
}

enum az_status
policy_data_fetch(struct op *op, const char *data_key, struct policy_row *ret)
{
    struct db_params params = {.count = 0};
    db_text(&params, data_key);
    return fetch_data_row(op, &policy_data_fetch_stmt, &params, ret);
}

enum az_status
policy_data_fetch_id(struct op *op, int64_t id, struct policy_row *ret)
{
    struct db_params params = {.count = 0};
    db_number(&params, id);
    return fetch_data_row(op, &policy_data_fetch_id_stmt, &params, ret);
}

enum az_status
policy_data_list(struct op *op, const char *data_key, const char **ret_json)
{
    struct db_params params = {.count = 0};
    db_text(&params, data_key);
    return db_fetch_list(op, &policy_data_list_stmt, &params, ret_json);
}

enum az_status
policy_published_fetch(struct op *op, const char *data_key, const char *known,
                       const char **ret_revision, const char **ret_payload)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, data_key);
    db_text(&params, known);
    enum az_status st = db_exec(op, &policy_published_stmt, &params, true, &result);
    if (st != AZ_OK)
        return st;
    *ret_revision = db_get(result, 0, PUBLISHED_REVISION);
    *ret_payload = db_get(result, 0, PUBLISHED_PAYLOAD);
    return AZ_OK;
}

enum az_status
policy_schema_fetch(struct op *op, const char *data_key, const char **ret_schema)
{
    struct db_params params = {.count = 0};
    db_text(&params, data_key);
    return db_fetch_text(op, &policy_schema_fetch_stmt, &params, ret_schema);
}

/* Run a statement that writes, and add the number of rows it wrote. */
static enum az_status
write_rows(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
           int *ret_changed)
{
    PGresult *result;
    enum az_status st = db_exec(op, stmt, params, false, &result);
    if (st == AZ_OK && ret_changed != NULL)
        *ret_changed += (int) db_written(result);
    return st;
}

/* Add a name, a text and the text's digest, with which three statements begin. `digest` is the
 * caller's room. */
static enum az_status
bind_text(struct op *op, struct db_params *params, const char *name, const char *text,
          char digest[SHA256_HEX_SIZE])
{
    if (sha256_hex(text, strlen(text), digest) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "SHA-256 failed");
    db_text(params, name);
    db_text(params, text);
    db_text(params, digest);
    return AZ_OK;
}

enum az_status
policy_data_write(struct op *op, const char *data_key, const char *payload, const char *version,
                  bool in_bundle)
{
    char digest[SHA256_HEX_SIZE];
    struct db_params params = {.count = 0};
    enum az_status st = bind_text(op, &params, data_key, payload, digest);
    if (st != AZ_OK)
        return st;
    db_text(&params, version);
    db_bool(&params, in_bundle);
    return write_rows(op, &policy_data_write_stmt, &params, NULL);
}

enum az_status
policy_data_delete(struct op *op, const char *data_key)
{
    struct db_params params = {.count = 0};
    db_text(&params, data_key);
    return write_rows(op, &policy_data_delete_stmt, &params, NULL);
}

enum az_status
policy_ship_rule(struct op *op, const char *path, const char *content, int *ret_changed)
{
    char digest[SHA256_HEX_SIZE];
    struct db_params params = {.count = 0};
    enum az_status st = bind_text(op, &params, path, content, digest);
    return st == AZ_OK ? write_rows(op, &policy_ship_rule_stmt, &params, ret_changed) : st;
}

enum az_status
policy_ship_schema(struct op *op, const char *data_key, const char *control, const char *schema,
                   int *ret_changed)
{
    struct db_params params = {.count = 0};
    db_text(&params, data_key);
    db_text(&params, control);
    db_text(&params, schema);
    return write_rows(op, &policy_ship_schema_stmt, &params, ret_changed);
}

enum az_status
policy_ship_data(struct op *op, const char *data_key, const char *payload, int *ret_changed)
{
    char digest[SHA256_HEX_SIZE];
    struct db_params params = {.count = 0};
    enum az_status st = bind_text(op, &params, data_key, payload, digest);
    return st == AZ_OK ? write_rows(op, &policy_ship_data_stmt, &params, ret_changed) : st;
}

enum az_status
policy_ship_prune(struct op *op, const char *const *paths, size_t count, int *ret_changed)
{
    struct db_params params = {.count = 0};
    db_words(op->mem, &params, paths, count);
    return write_rows(op, &policy_ship_prune_stmt, &params, ret_changed);
}
