#include "config.h"

#include "store/policy/deploy_rows.h"

#include "store/db/db.h"
#include "store/db/trip/db_row.h"

static const struct db_stmt deploy_rules_stmt = {
    "deploy_rules", "SELECT path, digest, version, enabled, shipped FROM policy_rule", 0};
static const struct db_column deploy_rules_columns[] = {
    {"path",    DB_INTO(struct deploy_rule_row, path)   },
    {"digest",  DB_INTO(struct deploy_rule_row, digest) },
    {"version", DB_INTO(struct deploy_rule_row, version)},
    {"enabled", DB_INTO(struct deploy_rule_row, enabled)},
    {"shipped", DB_INTO(struct deploy_rule_row, shipped)},
};
static const struct db_stmt deploy_data_stmt = {
    "deploy_data",
    "SELECT data_key AS key, digest, version, shipped, in_bundle AS bundled FROM policy_data", 0};
static const struct db_column deploy_data_columns[] = {
    {"key",     DB_INTO(struct deploy_data_row, data_key) },
    {"digest",  DB_INTO(struct deploy_data_row, digest)   },
    {"version", DB_INTO(struct deploy_data_row, version)  },
    {"shipped", DB_INTO(struct deploy_data_row, shipped)  },
    {"bundled", DB_INTO(struct deploy_data_row, in_bundle)},
};
static const struct db_stmt deploy_schemas_stmt = {
    "deploy_schemas",
    "SELECT data_key AS key, schema AS text FROM policy_schema WHERE data_key = ANY ($1::text[])",
    1};
static const struct db_column deploy_schemas_columns[] = {
    {"key",  DB_INTO(struct deploy_schema_row, data_key)},
    {"text", DB_INTO(struct deploy_schema_row, schema)  },
};

static const struct db_stmt deploy_write_rules_stmt = {
    "deploy_write_rules",
    "INSERT INTO policy_rule AS old (path, kind, content, digest, enabled, version)"
    " SELECT path, kind, content, digest, enabled, coalesce(nullif(n.version, ''), (SELECT "
    "o.version"
    " FROM policy_rule o WHERE o.path = n.path), '1')"
    " FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[]) AS n"
    " (path, kind, content, digest, enabled, version)"
    " ON CONFLICT (path) DO UPDATE SET kind = excluded.kind, content = excluded.content,"
    " digest = excluded.digest, enabled = excluded.enabled, version = excluded.version,"
    " updated_at = now() WHERE NOT old.shipped AND (old.digest, old.enabled, old.version)"
    " IS DISTINCT FROM (excluded.digest, excluded.enabled, excluded.version)",
    6};
static const struct db_stmt deploy_write_data_stmt = {
    "deploy_write_data",
    "INSERT INTO policy_data AS old (data_key, payload, digest, version)"
    " SELECT data_key, payload, digest, coalesce(nullif(n.version, ''), (SELECT o.version FROM"
    " policy_data o WHERE o.data_key = n.data_key), '1')"
    " FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS n (data_key, payload, digest,"
    " version)"
    " ON CONFLICT (data_key) DO UPDATE SET payload = excluded.payload, digest = excluded.digest,"
    " version = excluded.version, in_bundle = old.in_bundle OR $5::boolean, updated_at = now()"
    " WHERE (old.digest, old.version) IS DISTINCT FROM (excluded.digest, excluded.version)"
    " OR NOT old.in_bundle AND $5::boolean",
    5};
static const struct db_stmt deploy_delete_rules_stmt = {
    "deploy_delete_rules", "DELETE FROM policy_rule WHERE path = ANY ($1::text[]) AND NOT shipped",
    1};
static const struct db_stmt deploy_delete_data_stmt = {
    "deploy_delete_data",
    "DELETE FROM policy_data WHERE data_key = ANY ($1::text[]) AND NOT shipped", 1};

struct deploy_values {
    struct db_params rules, data, keys; /* keys: names of the data rows */
    size_t rule_count, data_count;
};

enum az_status
deploy_values_make(struct op *op, const struct deploy_rule_columns *rules,
                   const struct deploy_data_columns *data, bool into_bundle,
                   struct deploy_values **ret)
{
    const char *const *rule_column[] = {rules->path,   rules->kind,    rules->content,
                                        rules->digest, rules->enabled, rules->version};
    const char *const *data_column[] = {data->data_key, data->payload, data->digest, data->version};
    struct deploy_values *values = talloc_zero(op->mem, struct deploy_values);
    if (values == NULL)
        return op_no_memory(op);
    values->rule_count = rules->count;
    values->data_count = data->count;
    for (size_t i = 0; i < sizeof(rule_column) / sizeof(rule_column[0]); i++)
        db_words(op->mem, &values->rules, rule_column[i], rules->count);
    for (size_t i = 0; i < sizeof(data_column) / sizeof(data_column[0]); i++)
        db_words(op->mem, &values->data, data_column[i], data->count);
    db_text(&values->keys, values->data.value[0]);
    db_bool(&values->data, into_bundle);
    *ret = values;
    return AZ_OK;
}

enum az_status
deploy_rows_fetch(struct op *op, const struct deploy_values *values, struct deploy_rows *ret)
{
    struct deploy_rows rows = {.rules = 0};
    struct db_batch *batch = db_batch_new(op);
    struct db_step *rules = db_batch_add(batch, &deploy_rules_stmt),
                   *data = db_batch_add(batch, &deploy_data_stmt),
                   *schemas = db_batch_add(batch, &deploy_schemas_stmt);
    db_params_copy(&schemas->params, &values->keys);
    enum az_status st = db_run(op, batch, true);
    if (st == AZ_OK)
        st = db_read_rows(op, rules->result, DB_TABLE(struct deploy_rule_row, deploy_rules_columns),
                          &rows.rule, &rows.rules);
    if (st == AZ_OK)
        st = db_read_rows(op, data->result, DB_TABLE(struct deploy_data_row, deploy_data_columns),
                          &rows.data, &rows.data_rows);
    if (st == AZ_OK)
        st = db_read_rows(op, schemas->result,
                          DB_TABLE(struct deploy_schema_row, deploy_schemas_columns), &rows.schema,
                          &rows.schemas);
    if (st == AZ_OK)
        *ret = rows;
    return st;
}

enum az_status
deploy_rows_write(struct op *op, const struct deploy_values *values,
                  const struct deploy_deletes *deletes)
{
    struct db_batch *batch = db_batch_new(op);
    if (values->rule_count + values->data_count + deletes->rules + deletes->data_rows == 0)
        return AZ_OK;
    if (deletes->rules > 0)
        db_words(op->mem, &db_batch_add(batch, &deploy_delete_rules_stmt)->params, deletes->path,
                 deletes->rules);
    if (deletes->data_rows > 0)
        db_words(op->mem, &db_batch_add(batch, &deploy_delete_data_stmt)->params, deletes->data_key,
                 deletes->data_rows);
    if (values->rule_count > 0)
        db_params_copy(&db_batch_add(batch, &deploy_write_rules_stmt)->params, &values->rules);
    if (values->data_count > 0)
        db_params_copy(&db_batch_add(batch, &deploy_write_data_stmt)->params, &values->data);
    return db_run(op, batch, false);
}
