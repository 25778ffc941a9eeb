/* Policy data rows and their schemas. */
#ifndef AZ_STORE_POLICY_POLICY_ROWS_H
#define AZ_STORE_POLICY_POLICY_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* A data row; payload NULL when there is none. Texts on op->mem. */
struct policy_row {
    const char *data_key; /* its name */
    const char *payload;  /* JSON text */
    const char *digest;   /* hex SHA-256 of payload: the ETag */
    const char *dto;      /* PolicyDataDto as JSON text */
    bool in_bundle;       /* shipped to the engine */
    bool shipped;         /* came with the program: cannot be deleted */
};

/* The row of a key, or of an id; one trip. */
enum az_status policy_data_fetch(struct op *op, const char *data_key, struct policy_row *ret);
enum az_status policy_data_fetch_id(struct op *op, int64_t id, struct policy_row *ret);

/* PolicyDataDto texts as one JSON array text, by key: of all rows (NULL), of one key, or, when it
 * ends in `*`, of all keys that begin so. */
enum az_status policy_data_list(struct op *op, const char *data_key, const char **ret_json);

/*
 * The revision that is served (NULL before the first) and the payload that was published with it
 * (NULL when there is no such row in the bundle, and when the revision is `known`, which may be
 * NULL). One trip.
 */
enum az_status policy_published_fetch(struct op *op, const char *data_key, const char *known,
                                      const char **ret_revision, const char **ret_payload);

/* Creates or replaces a row; version NULL keeps the stored one. Inside the caller's transaction. */
enum az_status policy_data_write(struct op *op, const char *data_key, const char *payload,
                                 const char *version, bool in_bundle);
enum az_status policy_data_delete(struct op *op, const char *data_key);

/*
 * What the program ships: a rule is replaced when its text differs, a schema always; a data row is
 * only added where there is none (its payload is the operator's). *ret_changed grows by the rows
 * written.
 */
enum az_status policy_ship_rule(struct op *op, const char *path, const char *content,
                                int *ret_changed);
enum az_status policy_ship_schema(struct op *op, const char *data_key, const char *control,
                                  const char *schema, int *ret_changed);
enum az_status policy_ship_data(struct op *op, const char *data_key, const char *payload,
                                int *ret_changed);

/* Removes shipped rules whose path is not among `paths`: the new program no longer has them. */
enum az_status policy_ship_prune(struct op *op, const char *const *paths, size_t count,
                                 int *ret_changed);

/* The JSON Schema a control declares for a key, or NULL. */
enum az_status policy_schema_fetch(struct op *op, const char *data_key, const char **ret_schema);

#endif
