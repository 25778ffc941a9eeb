#include "config.h"

#include "policy/impact/impact_routes.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "store/gateway/resources.h"

struct impact_routes {
    json_t *resource; /* object by name: {header, routes: {id: obligations}} */
};

struct impact_routes *
impact_routes_new(TALLOC_CTX *mem)
{
    struct impact_routes *routes = talloc_zero(mem, struct impact_routes);
    if (routes != NULL && (routes->resource = jsonx_own(routes, json_object())) == NULL)
        TALLOC_FREE(routes);
    return routes;
}

/* Return what is kept of a resource (or NULL if it was deleted): a new reference; NULL: no memory.
 */
static json_t *
kept_of(const struct managed_resource *resource)
{
    struct jsonx_build routes = {json_object(), false};
    for (size_t i = 0; resource != NULL && i < resource->routes; i++)
        if (resource->route[i].obligations != NULL)
            jsonx_set(&routes, resource->route[i].id, json_incref(resource->route[i].obligations));
    if (routes.lost)
        json_decref(routes.value);
    return json_pack("{s:s*,s:o}", "header", resource != NULL ? resource->auth.header : NULL,
                     "routes", jsonx_built(&routes));
}

/* Read a resource, and keep what decisions depend on. */
static enum az_status
read_resource(struct op *op, const struct impact_routes *routes, const char *name)
{
    const struct managed_resource *resource = NULL;
    enum az_status st = resource_find(op, name, &resource);
    if (st != AZ_OK)
        return st;
    return json_object_set_new(routes->resource, name, kept_of(resource)) == 0 ? AZ_OK
                                                                               : op_no_memory(op);
}

/* Return the id of the route whose obligations hold for an action: a request to it, a tool, or a
 * read of it as an MCP resource. NULL if there is no such route. */
static const char *
route_of(const json_t *action)
{
    static const char *const kinds[] = {"http", "tool", "resource", NULL};
    return words_has(kinds, json_string_value(json_object_get(action, "kind")))
               ? json_string_value(json_object_get(action, "route"))
               : NULL;
}

enum az_status
impact_routes_find(struct op *op, struct impact_routes *routes, const json_t *input,
                   struct effect_route *ret)
{
    const char *evaluation = json_string_value(json_object_get(input, "evaluation")),
               *name =
                   json_string_value(json_object_get(json_object_get(input, "resource"), "name"));
    *ret = (struct effect_route){.obligations = NULL};
    if (evaluation == NULL || strcmp(evaluation, "gateway") != 0 || name == NULL)
        return AZ_OK;
    if (routes == NULL)
        return op_no_memory(op);
    enum az_status st =
        json_object_get(routes->resource, name) == NULL ? read_resource(op, routes, name) : AZ_OK;
    if (st != AZ_OK)
        return st;
    const json_t *kept = json_object_get(routes->resource, name);
    const char *route = route_of(json_object_get(input, "action"));
    ret->credential_header = json_string_value(json_object_get(kept, "header"));
    if (route != NULL)
        ret->obligations = json_object_get(json_object_get(kept, "routes"), route);
    return AZ_OK;
}
