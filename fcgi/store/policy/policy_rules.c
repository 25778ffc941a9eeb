#include "config.h"

#include "store/policy/policy_rules.h"

#include <string.h>

#include "crypto/digest.h"
#include "store/db/db.h"
#include "store/db/trip/db_row.h"

/* clang-format off */
/* The view is of the first schema version, which knew no members `createdAt` and `updatedAt`. */
#define RULE_DTO                                                                                   \
    "(SELECT v.*, to_char(c.created_at" DB_TIME " AS \"createdAt\","                               \
    " to_char(c.updated_at" DB_TIME " AS \"updatedAt\""                                            \
    " FROM policy_rule_dto v JOIN policy_rule c ON c.id = v.id) d"
#define RULE_ROW                                                                                   \
    "SELECT r.id, r.path, r.content, r.digest, r.enabled, r.shipped,"           \
    " (SELECT row_to_json(d) FROM " RULE_DTO " WHERE d.id = r.id) AS dto FROM policy_rule r"
static const struct db_stmt policy_rule_fetch_stmt = {
    "policy_rule_fetch", RULE_ROW " WHERE r.id = $1::bigint", 1};
static const struct db_column policy_rule_fetch_columns[] = {
    {"id",      DB_INTO(struct policy_rule, id)},
    {"path",    DB_INTO(struct policy_rule, path)},
    {"content", DB_INTO(struct policy_rule, content)},
    {"digest",  DB_INTO(struct policy_rule, digest)},
    {"enabled", DB_INTO(struct policy_rule, enabled)},
    {"shipped", DB_INTO(struct policy_rule, shipped)},
    {"dto",     DB_INTO(struct policy_rule, dto)},
};
static const struct db_stmt policy_rule_fetch_path_stmt = {
    "policy_rule_fetch_path", RULE_ROW " WHERE r.path = $1", 1};

static const struct db_stmt policy_rule_list_stmt = {
    "policy_rule_list",
    "SELECT row_to_json(d) AS dto FROM " RULE_DTO
    " WHERE ($1::text IS NULL OR d.path = $1"
    "  OR (right($1, 1) = '*' AND starts_with(d.path, left($1, -1))))"
    " AND ($2::text IS NULL OR d.kind = $2) AND ($3::boolean IS NULL OR d.enabled = $3)"
    " ORDER BY d.path COLLATE \"C\"", 3};

enum policy_rule_insert_column { INSERT_ID };
static const struct db_stmt policy_rule_insert_stmt = {
    "policy_rule_insert",
    "INSERT INTO policy_rule (path, kind, content, digest, version, enabled)"
    " VALUES ($1, $2, $3, $4, coalesce($5, '1'), $6)"
    " ON CONFLICT (path) DO NOTHING RETURNING id", 6};
static const struct db_stmt policy_rule_update_stmt = {
    "policy_rule_update",
    "UPDATE policy_rule SET path = $1, kind = $2, content = $3, digest = $4,"
    " version = coalesce($5, version), enabled = $6, updated_at = now()"
    " WHERE id = $7::bigint AND NOT shipped"
    " AND NOT EXISTS (SELECT 1 FROM policy_rule o WHERE o.path = $1 AND o.id <> $7::bigint)", 7};
static const struct db_stmt policy_rule_delete_stmt = {
    "policy_rule_delete", "DELETE FROM policy_rule WHERE id = $1::bigint AND NOT shipped", 1};
/* clang-format on */

/* Both statements that fetch a rule have the same columns. */
static enum az_status
fetch_rule(struct op *op, const struct db_stmt *stmt, const struct db_params *params,
           struct policy_rule *ret)
{
    *ret = (struct policy_rule){.id = 0};
    return db_fetch_row(op, stmt, params, true,
                        DB_TABLE(struct policy_rule, policy_rule_fetch_columns), ret, NULL);
}

enum az_status
policy_rule_fetch(struct op *op, int64_t id, struct policy_rule *ret)
{
    struct db_params params = {.count = 0};
    db_number(&params, id);
    return fetch_rule(op, &policy_rule_fetch_stmt, &params, ret);
}

enum az_status
policy_rule_fetch_path(struct op *op, const char *path, struct policy_rule *ret)
{
    struct db_params params = {.count = 0};
    db_text(&params, path);
    return fetch_rule(op, &policy_rule_fetch_path_stmt, &params, ret);
}

enum az_status
policy_rule_list(struct op *op, const struct policy_rule_filter *filter, const char **ret_json)
{
    struct db_params params = {.count = 0};
    db_text(&params, filter->path);
    db_text(&params, filter->kind);
    db_text(&params, filter->enabled);
    return db_fetch_list(op, &policy_rule_list_stmt, &params, ret_json);
}

/* Bind the first six parameters of insert and update. `digest` is the caller's room. */
static enum az_status
bind_rule(struct op *op, struct db_params *params, const struct policy_rule_write *rule,
          char digest[SHA256_HEX_SIZE])
{
    if (sha256_hex(rule->content, strlen(rule->content), digest) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "SHA-256 failed");
    db_text(params, rule->path);
    db_text(params, rule->kind);
    db_text(params, rule->content);
    db_text(params, digest);
    db_text(params, rule->version);
    db_bool(params, rule->enabled);
    return AZ_OK;
}

static enum az_status
rule_path_taken(struct op *op)
{
    return op_fail(op, AZ_CONFLICT, "Another rule has this path", NULL);
}

enum az_status
policy_rule_insert(struct op *op, const struct policy_rule_write *rule, int64_t *ret_id)
{
    char digest[SHA256_HEX_SIZE];
    struct db_params params = {.count = 0};
    PGresult *result;
    enum az_status st = bind_rule(op, &params, rule, digest);
    if (st == AZ_OK)
        st = db_exec(op, &policy_rule_insert_stmt, &params, false, &result);
    if (st != AZ_OK)
        return st;
    if (PQntuples(result) == 0)
        return rule_path_taken(op);
    *ret_id = db_get_number(result, 0, INSERT_ID, 0);
    return AZ_OK;
}

enum az_status
policy_rule_update(struct op *op, int64_t id, const struct policy_rule_write *rule)
{
    char digest[SHA256_HEX_SIZE];
    struct db_params params = {.count = 0};
    PGresult *result;
    enum az_status st = bind_rule(op, &params, rule, digest);
    db_number(&params, id);
    if (st == AZ_OK)
        st = db_exec(op, &policy_rule_update_stmt, &params, false, &result);
    if (st != AZ_OK)
        return st;
    return db_written(result) == 1 ? AZ_OK : rule_path_taken(op);
}

enum az_status
policy_rule_delete(struct op *op, int64_t id)
{
    struct db_params params = {.count = 0};
    db_number(&params, id);
    return db_exec(op, &policy_rule_delete_stmt, &params, false, NULL);
}
