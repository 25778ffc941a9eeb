/* Policy rows in bulk: a deploy reads all of them in one round trip and writes in another, however
 * many it changes. */
#ifndef AZ_STORE_POLICY_DEPLOY_ROWS_H
#define AZ_STORE_POLICY_DEPLOY_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"

/* A rule that is there. Texts of all rows on op->mem. */
struct deploy_rule_row {
    const char *path, *digest;
    bool enabled, shipped;
};

/* A data row that is there, and the schema of one that is listed. */
struct deploy_data_row {
    const char *data_key;
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

/* Columns of what is to be written, one entry per row. */
struct deploy_rule_columns {
    const char *const *path, *const *kind, *const *content, *const *digest;
    const char *const *enabled; /* "t" or "f" */
    const char *const *version; /* "": the stored one stays */
    size_t count;
};
struct deploy_data_columns {
    const char *const *data_key, *const *payload, *const *digest;
    const char *const *version; /* as above */
    size_t count;
};

/* The same as parameters of a statement, made once and sent each time the deploy is applied. */
struct deploy_values;

/* AZ_SERVER_ERROR: no memory. On op->mem. `into_bundle`: data rows get into the bundle, also those
 * that were taken out of it. */
enum az_status deploy_values_make(struct op *op, const struct deploy_rule_columns *rules,
                                  const struct deploy_data_columns *data, bool into_bundle,
                                  struct deploy_values **ret);

/* All rules and rows, and the schemas of the rows that are to be written. One trip. */
enum az_status deploy_rows_fetch(struct op *op, const struct deploy_values *values,
                                 struct deploy_rows *ret);

/* What is deleted. */
struct deploy_deletes {
    const char **path;
    size_t rules;
    const char **data_key;
    size_t data_rows;
};

/*
 * Deletes, then writes, in the caller's transaction; one trip. A shipped rule is neither changed
 * nor deleted and a shipped row not deleted, whatever is asked. A row that is there keeps its
 * version, and its times when nothing changes.
 */
enum az_status deploy_rows_write(struct op *op, const struct deploy_values *values,
                                 const struct deploy_deletes *deletes);

#endif
