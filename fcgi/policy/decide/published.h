/* Rows of policy data as they are published, for the modules that read one themselves. */
#ifndef AZ_POLICY_DECIDE_PUBLISHED_H
#define AZ_POLICY_DECIDE_PUBLISHED_H

#include <jansson.h>
#include <talloc.h>

#include "base/op.h"

/* Read the row of this key as it is served now; *ret is owned by op->mem. NULL: the bundle has no
 * such row. One trip. */
enum az_status published_row(struct op *op, const char *data_key, json_t **ret);

/* Parse the payload of such a row, which policy_published_fetch() returned; *ret is owned by mem.
 * A payload of NULL is no row. AZ_SERVER_ERROR: the payload is not JSON. */
enum az_status published_parse(struct op *op, TALLOC_CTX *mem, const char *data_key,
                               const char *payload, json_t **ret);

#endif
