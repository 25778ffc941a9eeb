/* The check of rows svc.cedar_data.* against each other. */
#ifndef AZ_POLICY_SAVE_BUNDLE_CEDAR_DATA_CHECK_H
#define AZ_POLICY_SAVE_BUNDLE_CEDAR_DATA_CHECK_H

#include <jansson.h>

#include "base/op.h"
#include "store/policy/bundles.h"

/* After a row was written, in the same transaction: check the entities of all rows. Every other row
 * passes. AZ_UNPROCESSABLE with *ret_failures: places of this row. */
enum az_status cedar_data_check(struct op *op, const char *data_key, json_t **ret_failures);

/* Unite the entities of the rows of a bundle; *ret_text stays NULL if there are none. AZ_CONFLICT:
 * they do not go together, as when a rollback meets a row of an earlier version. */
enum az_status cedar_data_of_bundle(struct op *op, const struct bundle_rows *rows, char **ret_text);

#endif
