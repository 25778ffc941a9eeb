/* The parts that the files of the door share. */
#ifndef AZ_GATEWAY_DOOR_PRIVATE_H
#define AZ_GATEWAY_DOOR_PRIVATE_H

#include "gateway/door.h"

/* Fail with AZ_FORBIDDEN and a body that shows the reasons: code, category and message of each
 * reason. Their details are for the operator. */
enum az_status gateway_forbid(struct request *req, const json_t *reasons);

/* Set the challenges of a failure: Bearer first, which the SDK of MCP clients reads, then DPoP
 * (gateway-admin.md 1.3). `error` is NULL for a request without a token; a `scope` that cannot be
 * part of a header is left out. */
void gateway_challenge(struct request *req, const struct gateway_access *access, const char *error,
                       const char *scope);

#endif
