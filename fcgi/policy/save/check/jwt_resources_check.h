/* The check of the row that names resources with JWT access tokens, at a save of the row. */
#ifndef AZ_POLICY_SAVE_CHECK_JWT_RESOURCES_CHECK_H
#define AZ_POLICY_SAVE_CHECK_JWT_RESOURCES_CHECK_H

#include <jansson.h>

#include "base/op.h"

/*
 * Check the row as the caller's transaction has written it; any other row than this one is AZ_OK
 * without SQL. No resource may be an address of a door or a client_id: a door takes no JWT, and a
 * client would take the JWT of others for an ID token. AZ_UNPROCESSABLE with *ret_failures
 * (policy/rows/jwt_resources.h).
 */
enum az_status jwt_resources_check(struct op *op, const char *data_key, json_t **ret_failures);

#endif
