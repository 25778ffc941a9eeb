/* The check of software bindings against the trusted statement issuers, at a save of either. */
#ifndef AZ_POLICY_SAVE_CHECK_ISSUERS_CHECK_H
#define AZ_POLICY_SAVE_CHECK_ISSUERS_CHECK_H

#include <jansson.h>

#include "base/op.h"

/*
 * Check the rows as they are now in the caller's transaction, which has written the row `data_key`;
 * any other row than those two is AZ_OK without SQL. Two savers cannot pass each other, because
 * both hold the save lock. AZ_UNPROCESSABLE with *ret_failures (policy/rows/software_issuers.h).
 */
enum az_status issuers_check(struct op *op, const char *data_key, json_t **ret_failures);

#endif
