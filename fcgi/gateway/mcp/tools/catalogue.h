/* The tools that the endpoint serves: stored tools of enabled resources (gateway-admin.md 1.5). No
 * upstream is asked. */
#ifndef AZ_GATEWAY_MCP_TOOLS_CATALOGUE_H
#define AZ_GATEWAY_MCP_TOOLS_CATALOGUE_H

#include "gateway/mcp/message/exchange.h"
#include "gateway/upstream/credential.h"
#include "managed/managed.h"

/* A tool, and the name by which clients of this endpoint call it. */
struct mcp_tool {
    const struct managed_resource *resource;
    const struct managed_tool *row;
    const char *name;
    const char *also; /* managed_names: another name by which it is called, or NULL */
};

/* The tools of one endpoint. */
struct mcp_catalogue {
    const struct managed_resource *const *resource;
    size_t resources;
    struct mcp_tool *tool; /* sorted by name */
    size_t tools;
};

/* Find the resources of the request: the endpoint's resource, or all enabled resources in the order
 * of their names. One trip for a request. */
enum az_status mcp_find_resources(struct mcp_exchange *it, struct managed_resources *ret);

/* Return the scope of a resource's URIs (scoped_uri.h) at the endpoint of the request: its name, or
 * NULL at the resource's own endpoint, where clients see them as the upstream writes them. A
 * resource whose MCP resources are not served has a scope too: a URI that it writes in the form of
 * another resource's stays its own, and cannot be read. */
const char *mcp_scope_of(const struct mcp_exchange *it, const struct managed_resource *resource);

/* Collect the tools of the request: those of its resource, or of all enabled resources. */
enum az_status mcp_catalogue_read(struct mcp_exchange *it, struct mcp_catalogue *ret);

/* Return the tool that has this name, or that is also called so; NULL: there is none. No two tools
 * share one: a save refuses it (managed_names_clash). */
const struct mcp_tool *mcp_catalogue_find(const struct mcp_catalogue *catalogue, const char *name);

/* Describe a resource to policy, with the state of the caller's account there in *linked, which
 * must outlive the question. */
enum az_status mcp_target(struct op *op, const struct upstream_caller *caller,
                          const struct managed_resource *resource, bool *linked,
                          struct gateway_target *ret);

/* Return the scopes that MCP resources of an upstream need: its default scope, or an empty array;
 * on mem, or NULL if out of memory. */
json_t *mcp_default_scopes(TALLOC_CTX *mem, const struct managed_resource *resource);

/* Describe the operation of a tool to policy. */
struct gateway_action mcp_describe_tool(const struct mcp_tool *tool);

#endif
