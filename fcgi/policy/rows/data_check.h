/* The check of a policy data row against the schema of its control (specification 2.5, 7.2). */
#ifndef AZ_POLICY_ROWS_DATA_CHECK_H
#define AZ_POLICY_ROWS_DATA_CHECK_H

#include <jansson.h>

#include "base/op.h"

/*
 * Check a payload against the text of its row's schema; NULL accepts any JSON. AZ_UNPROCESSABLE:
 * the payload does not match; *ret_failures (json_schema.h) lists the places and lives on op->mem.
 * AZ_SERVER_ERROR: the stored schema cannot be used.
 */
enum az_status data_check(struct op *op, const char *data_key, const char *schema,
                          const json_t *payload, json_t **ret_failures);

/* Return a warning for the writer of a valid row, or NULL: a part of the schema that this host
 * could not check. */
const char *data_check_warning(const char *schema);

#endif
