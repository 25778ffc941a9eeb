/*
 * Routes of REST and STATIC resources as MCP resources (gateway-admin.md 1.11): a route with
 * `mcpResource` is `res://<resource><path>`, or a template of such URIs if it has variables. A read
 * is the request GET of the route.
 */
#ifndef AZ_GATEWAY_MCP_READS_ROUTES_H
#define AZ_GATEWAY_MCP_READS_ROUTES_H

#include "gateway/mcp/reads/resources.h"

/* Octets of the contents of one read: a model reads some thousand. */
#define ROUTE_READ_MAX (4 << 20)

/* Return the URI or template of a route with mcpResource, on mem, or NULL if out of memory. */
const char *route_uri(TALLOC_CTX *mem, const struct managed_resource *resource,
                      const struct managed_route *route);

/* True if it is a template. */
bool route_is_template(const struct managed_route *route);

/* Return a route's list entry (new reference). `address` names the member that holds its URI or
 * template. NULL: out of memory. */
json_t *route_entry(const struct managed_route *route, const char *address, const char *uri);

/* Read a URI of a resource that is no MCP server. An unknown one becomes the answer. */
enum az_status mcp_read_route(struct mcp_exchange *it, const struct managed_resource *resource,
                              const char *uri);

/* Find out if the caller may learn of changes of a URI of such a resource: policy is asked as for a
 * read, with `subscribe` among the arguments. *ret_revision is the policy's revision; NULL: the
 * caller may not, or there is no such URI. */
enum az_status mcp_may_watch_route(struct mcp_exchange *it, const struct managed_resource *resource,
                                   const char *uri, const char **ret_revision);

/* Complete an argument of a template of such a resource: by the enum that a tool of the same route
 * has for it. c: its template and arguments. */
enum az_status mcp_complete_route(struct resource_call *c, const struct managed_resource *resource);

#endif
