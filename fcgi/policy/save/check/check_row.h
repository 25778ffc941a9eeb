/* Reading a row for a check against others. */
#ifndef AZ_POLICY_SAVE_CHECK_CHECK_ROW_H
#define AZ_POLICY_SAVE_CHECK_CHECK_ROW_H

#include <jansson.h>

#include "base/op.h"

/* Read the payload of a row as the caller's transaction sees it; *ret is NULL if there is no such
 * row, and lives on op->mem. */
enum az_status check_row_read(struct op *op, const char *data_key, json_t **ret);

#endif
