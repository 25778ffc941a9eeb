/* A policy data row held against the schema its control declares (specification 2.5, 7.2). */
#ifndef AZ_POLICY_ROWS_DATA_CHECK_H
#define AZ_POLICY_ROWS_DATA_CHECK_H

#include <jansson.h>

#include "base/op.h"

/*
 * Holds a payload against the text of its row's schema; NULL takes any JSON. AZ_UNPROCESSABLE: it
 * breaks it, *ret_failures (schema.h) says where and lives on op->mem. AZ_SERVER_ERROR: the stored
 * schema cannot be used.
 */
enum az_status data_check(struct op *op, const char *data_key, const char *schema,
                          const json_t *payload, json_t **ret_failures);

/* What a writer must be told of a row that passed, or NULL: a part of the schema that this host
 * could not check. */
const char *data_check_warning(const char *schema);

#endif
