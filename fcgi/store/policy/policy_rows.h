/* Policy data rows and their schemas. */
#ifndef AZ_STORE_POLICY_POLICY_ROWS_H
#define AZ_STORE_POLICY_POLICY_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* A data row; payload is NULL if there is none. Texts on op->mem. */
struct policy_row {
    const char *data_key; /* its name */
    const char *payload;  /* JSON text */
    const char *digest;   /* hex SHA-256 of payload: the ETag */
    const char *dto;      /* PolicyDataDto as JSON text */
    bool in_bundle;       /* part of the bundle */
    bool shipped;         /* part of the program: cannot be deleted */
};

/* Fetch the row of a key or of an id, in one trip. */
enum az_status policy_data_fetch(struct op *op, const char *data_key, struct policy_row *ret);
enum az_status policy_data_fetch_id(struct op *op, int64_t id, struct policy_row *ret);

/* List PolicyDataDto objects as the text of a JSON array, by key: all rows (NULL), the row of one
 * key, or, if it ends in `*`, the rows of all keys with that prefix. */
enum az_status policy_data_list(struct op *op, const char *data_key, const char **ret_json);

/* Fetch the served revision (NULL before the first) and the payload that was published with it
 * (NULL if the bundle has no such row, or if the revision is `known`, which may be NULL). One
 * trip. */
enum az_status policy_published_fetch(struct op *op, const char *data_key, const char *known,
                                      const char **ret_revision, const char **ret_payload);

/* Create or replace a row, in the caller's transaction; version NULL keeps the stored one. */
enum az_status policy_data_write(struct op *op, const char *data_key, const char *payload,
                                 const char *version, bool in_bundle);
enum az_status policy_data_delete(struct op *op, const char *data_key);

/* Write what the program ships: a rule is replaced if its text differs, a schema always; a data row
 * is only added if there is none, because its payload is the operator's. *ret_changed grows by the
 * rows written. */
enum az_status policy_ship_rule(struct op *op, const char *path, const char *content,
                                int *ret_changed);
enum az_status policy_ship_schema(struct op *op, const char *data_key, const char *control,
                                  const char *schema, int *ret_changed);
enum az_status policy_ship_data(struct op *op, const char *data_key, const char *payload,
                                int *ret_changed);

/* Remove shipped rules whose path is not in `paths`: the new program no longer has them. */
enum az_status policy_ship_prune(struct op *op, const char *const *paths, size_t count,
                                 int *ret_changed);

/* Fetch the JSON Schema that a control declares for a key, or NULL. */
enum az_status policy_schema_fetch(struct op *op, const char *data_key, const char **ret_schema);

#endif
