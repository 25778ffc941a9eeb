/* Members of the row svc.operator.controls.public_client_policy that the service reads itself, of
 * clients that registered themselves: `default_scopes` of a request without scope,
 * `default_gateway_resource` of one without resource, and `redirect.dotless_schemes`, the private
 * schemes without a dot (such as cursor://…) of redirect URIs (world.md G7). Policy asks the latter
 * of registrations too; of metadata documents, which policy does not see, it is asked here alone.
 */
#ifndef AZ_POLICY_DECIDE_DEFAULT_SCOPES_H
#define AZ_POLICY_DECIDE_DEFAULT_SCOPES_H

#include <jansson.h>
#include <stddef.h>

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

/* Return the number of the first URI whose scheme has no dot and is not allowed; SIZE_MAX: there is
 * none. */
size_t dotless_refused(const json_t *allowed, const json_t *uris);

/* Read the schemes that are published now, if one of these URIs needs them.
 * One trip then. */
enum az_status dotless_schemes_fetch(struct op *op, const json_t *uris, json_t **ret);

#endif
