/* Routes of managed resources as they are now: a stored question names its route, and what that
 * demands of each request is not stored (policy.md I8). */
#ifndef AZ_POLICY_IMPACT_IMPACT_ROUTES_H
#define AZ_POLICY_IMPACT_IMPACT_ROUTES_H

#include "policy/decide/effect.h"

/* The routes of the resources that questions were about. */
struct impact_routes;

/* Return an empty memory of routes, on mem; NULL: no memory. */
struct impact_routes *impact_routes_new(TALLOC_CTX *mem);

/* Find the route of a stored question; *ret lives as long as `routes`, and is empty if the question
 * is about none, or if the resource or the route is gone. A trip for each resource, when it is
 * asked for first. `routes` may be NULL if there was no memory for it. */
enum az_status impact_routes_find(struct op *op, struct impact_routes *routes, const json_t *input,
                                  struct effect_route *ret);

#endif
