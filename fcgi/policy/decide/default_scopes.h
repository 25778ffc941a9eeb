/* The defaults of requests by a client that registered itself, in the row
 * svc.operator.controls.public_client_policy, which the service reads itself: `default_scopes` of a
 * request without scope, `default_gateway_resource` of one without resource. */
#ifndef AZ_POLICY_DECIDE_DEFAULT_SCOPES_H
#define AZ_POLICY_DECIDE_DEFAULT_SCOPES_H

#include <jansson.h>

#include "base/op.h"

/* The key of its row. */
#define DEFAULT_SCOPES_ROW "svc.operator.controls.public_client_policy"

/* Return the scopes of a row (may be NULL) as a text on mem; "" if it has no scopes. NULL: no
 * memory. */
const char *default_scopes_of(TALLOC_CTX *mem, const json_t *row);

/* Read the scopes that are published now, as a text on op->mem; "" if there are none. One trip. */
enum az_status default_scopes_fetch(struct op *op, const char **ret);

/* Read if a request for the scope mcp without a resource asks for the MCP endpoint of the gateway:
 * true unless the row says otherwise. One trip. */
enum az_status default_gateway_resource_fetch(struct op *op, bool *ret);

#endif
