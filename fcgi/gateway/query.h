/* The query of a request as policy sees it (gateway-admin.md 3.2). */
#ifndef AZ_GATEWAY_QUERY_H
#define AZ_GATEWAY_QUERY_H

#include "base/op.h"
#include "managed/managed.h"

/*
 * Collect the parameters of a raw query: an object of texts, and of arrays of texts for names that
 * may be repeated; on op->mem. Policy must see all that the upstream gets: a parameter that cannot
 * be shown to it, or is beyond the limit, could evade a rule that forbids it. AZ_INVALID_REQUEST,
 * with a fault: one is not form-encoded, comes twice, in another spelling of its name too, has a
 * name that servers take for another one (parameter_name.h), or there are too many.
 */
enum az_status gateway_query(struct op *op, const struct managed_resource *resource,
                             const struct managed_route *route, const char *query, json_t **ret);

/* True if query.allow of the route names all parameters. The gateway leaves the others out; behind
 * a door they would reach the upstream, so that the request is refused there. */
bool gateway_query_passes(const struct managed_route *route, json_t *query);

#endif
