/* Policy rows in bulk: a deploy reads all of them in one trip and writes in another, however many
 * it changes. */
#ifndef AZ_STORE_POLICY_DEPLOY_ROWS_H
#define AZ_STORE_POLICY_DEPLOY_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"

/* A stored rule. Texts of all rows live on op->mem. */
struct deploy_rule_row {
    const char *path, *digest, *version;
    bool enabled, shipped;
};

/* A stored data row, and the schema of one that the deploy lists. */
struct deploy_data_row {
    const char *data_key, *digest, *version;
    bool shipped, in_bundle;
};
struct deploy_schema_row {
    const char *data_key, *schema;
};

struct deploy_rows {
    struct deploy_rule_row *rule;
    size_t rules;
    struct deploy_data_row *data;
    size_t data_rows;
    struct deploy_schema_row *schema;
    size_t schemas;
};

/* Columns of the rows to write, one entry per row. */
struct deploy_rule_columns {
    const char *const *path, *const *kind, *const *content, *const *digest;
    const char *const *enabled; /* "t" or "f" */
    const char *const *version; /* "" keeps the stored one */
    size_t count;
};
struct deploy_data_columns {
    const char *const *data_key, *const *payload, *const *digest;
    const char *const *version; /* as above */
    size_t count;
};

/* The same as parameters of statements, made once and sent each time the deploy is applied. */
struct deploy_values;

/* Make the parameters on op->mem. `into_bundle`: data rows become part of the bundle, also those
 * that were taken out of it. AZ_SERVER_ERROR: no memory. */
enum az_status deploy_values_make(struct op *op, const struct deploy_rule_columns *rules,
                                  const struct deploy_data_columns *data, bool into_bundle,
                                  struct deploy_values **ret);

/* Fetch all rules and data rows, and the schemas of the rows to write. One trip. */
enum az_status deploy_rows_fetch(struct op *op, const struct deploy_values *values,
                                 struct deploy_rows *ret);

/* Rows to delete. */
struct deploy_deletes {
    const char **path;
    size_t rules;
    const char **data_key;
    size_t data_rows;
};

/* Delete, then write, in the caller's transaction; one trip. A shipped rule is neither changed nor
 * deleted and a shipped data row is not deleted, even if the caller asks for it. A stored row keeps
 * its version, and its times if nothing changes. */
enum az_status deploy_rows_write(struct op *op, const struct deploy_values *values,
                                 const struct deploy_deletes *deletes);

#endif
