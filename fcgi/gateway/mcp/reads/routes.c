#include "config.h"

#include "gateway/mcp/reads/routes.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/tools/catalogue.h"

#define ROUTE_SCHEME "res://"

/* ---- the URIs */

bool
route_is_template(const struct managed_route *route)
{
    return route->pattern.rest || route->pattern.literals < route->pattern.count
           || (route->mcp->query != NULL && *route->mcp->query != NULL);
}

/* Return the expression of the query, "{?a,b}", or "" without one. */
static const char *
query_expression(TALLOC_CTX *mem, const struct managed_route *route)
{
    char *text = talloc_strdup(mem, "");
    const char **names = route->mcp->query;
    for (size_t i = 0; names != NULL && names[i] != NULL && text != NULL; i++)
        text = talloc_asprintf_append(text, "%s%s%s", i == 0 ? "{?" : ",", names[i],
                                      names[i + 1] == NULL ? "}" : "");
    return text;
}

const char *
route_uri(TALLOC_CTX *mem, const struct managed_resource *resource,
          const struct managed_route *route)
{
    const char *query = query_expression(mem, route);
    size_t length = strlen(route->path) - (route->pattern.rest ? strlen("**") : 0);
    return query != NULL
               ? talloc_asprintf(mem, ROUTE_SCHEME "%s%.*s%s%s", resource->name, (int) length,
                                 route->path, route->pattern.rest ? "{+rest}" : "", query)
               : NULL;
}

json_t *
route_entry(const struct managed_route *route, const char *address, const char *uri)
{
    const struct managed_route_resource *mcp = route->mcp;
    return json_pack("{s:s,s:s,s:s*,s:s*,s:s*}", address, uri, "name", mcp->name, "title",
                     mcp->title, "description", mcp->description, "mimeType", mcp->mime_type);
}

/* ---- completion */

/* Return the enum that a tool has for an argument, or NULL. */
static const json_t *
enum_of(const struct managed_tool *tool, const char *name)
{
    const json_t *properties = json_object_get(tool->input_schema, "properties");
    const json_t *values = json_object_get(json_object_get(properties, name), "enum");
    return json_is_array(values) ? values : NULL;
}

/* Find the enum that a tool of the route has for an argument and that the caller may know: nothing
 * is revealed about tools that a list hides. *ret is NULL without an enum. The audit row keeps the
 * decision about the completion. */
static enum az_status
find_enum(struct resource_call *c, const struct gateway_target *target,
          const struct managed_route *route, const json_t **ret)
{
    struct mcp_exchange *it = c->it;
    const struct managed_resource *resource = c->ask.request.resource;
    const json_t *argument = json_object_get(c->arguments, "argument");
    const char *name = json_string_value(json_object_get(argument, "name"));
    const struct audit_entry decided = it->req->audit;
    size_t count = 0;
    const json_t **values =
        talloc_array(it->req->op.mem, const json_t *, (unsigned) resource->tools + 1);
    struct gateway_tool *asked =
        talloc_array(it->req->op.mem, struct gateway_tool, (unsigned) resource->tools + 1);
    enum gateway_verdict *verdicts =
        talloc_zero_array(it->req->op.mem, enum gateway_verdict, (unsigned) resource->tools + 1);
    *ret = NULL;
    if (values == NULL || asked == NULL || verdicts == NULL)
        return op_no_memory(&it->req->op);
    for (size_t i = 0; i < resource->tools; i++) {
        const struct mcp_tool tool = {resource, &resource->tool[i], resource->tool[i].name, NULL};
        if (tool.row->route != route || !tool.row->served || enum_of(tool.row, name) == NULL)
            continue;
        values[count] = enum_of(tool.row, name);
        asked[count++] = (struct gateway_tool){0, mcp_describe_tool(&tool)};
    }
    if (count == 0)
        return AZ_OK;
    enum az_status st = resource_call_list(c, target, asked, count, verdicts);
    it->req->audit = decided;
    for (size_t i = 0; st == AZ_OK && *ret == NULL && i < count; i++)
        *ret = verdicts[i] != GATEWAY_DENY ? values[i] : NULL;
    return st;
}

/* Answer with the texts of a list that begin with what was typed. */
static enum az_status
show_values(struct mcp_exchange *it, const json_t *list, const char *typed)
{
    TALLOC_CTX *mem = it->req->op.mem;
    struct jsonx_build values = {jsonx_own(mem, json_array()), false};
    size_t index, total = 0;
    json_t *value;
    json_array_foreach (list, index, value) {
        const char *text = json_string_value(value);
        if (text == NULL || strncmp(text, typed, strlen(typed)) != 0)
            continue;
        if (total++ < COMPLETIONS_MAX)
            jsonx_append(&values, json_incref(value));
    }
    if (jsonx_built(&values) != NULL)
        it->result = jsonx_own(mem, json_pack("{s:{s:O,s:I,s:b}}", "completion", "values",
                                              values.value, "total", (json_int_t) total, "hasMore",
                                              (int) (total > COMPLETIONS_MAX)));
    return AZ_OK;
}

/* Return the route of a template, or NULL. */
static const struct managed_route *
route_of_template(TALLOC_CTX *mem, const struct managed_resource *resource, const char *template)
{
    for (size_t i = 0; i < resource->routes; i++) {
        const struct managed_route *route = &resource->route[i];
        const char *uri =
            route->enabled && route->mcp != NULL ? route_uri(mem, resource, route) : NULL;
        if (uri != NULL && strcmp(uri, template) == 0)
            return route;
    }
    return NULL;
}

enum az_status
mcp_complete_route(struct resource_call *c, const struct managed_resource *resource)
{
    struct mcp_exchange *it = c->it;
    const struct managed_route *route =
        route_of_template(it->req->op.mem, resource, c->action.template);
    const json_t *argument = json_object_get(c->arguments, "argument");
    if (route == NULL || !route_is_template(route))
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS, "Unknown template or argument");
    c->action.route = route->id;
    c->action.method = "GET";
    c->action.scopes = route->scopes;
    struct gateway_target target;
    enum az_status st = resource_call_decide(c, &target);
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    const json_t *list = NULL;
    st = find_enum(c, &target, route, &list);
    return st == AZ_OK
               ? show_values(it, list, json_string_value(json_object_get(argument, "value")))
               : st;
}
