/* The rules of the row that names resources with JWT access tokens (world.md T1), beyond its
 * schema. */
#ifndef AZ_POLICY_ROWS_JWT_RESOURCES_H
#define AZ_POLICY_ROWS_JWT_RESOURCES_H

#include <jansson.h>
#include <talloc.h>

#include "base/status.h"

/* Most resources of the row; each save compares all of them. */
#define JWT_RESOURCES_MAX 100

/*
 * Judge the payload: at most JWT_RESOURCES_MAX resources, none of them the issuer or below it, no
 * two equal (oauth.md 2.7). AZ_OK; AZ_INVALID with *ret_failures, an array of {path, message} on
 * mem; AZ_SERVER_ERROR: no memory.
 */
enum az_status jwt_resources_judge(TALLOC_CTX *mem, const char *issuer, const json_t *row,
                                   json_t **ret_failures);

#endif
