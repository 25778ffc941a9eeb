/* The answer of a route to a request of our own: for a tool, and for the read of a resource
 * (gateway-admin.md 1.5, 1.10). */
#ifndef AZ_GATEWAY_MCP_TOOLS_ROUTE_ANSWER_H
#define AZ_GATEWAY_MCP_TOOLS_ROUTE_ANSWER_H

#include "gateway/mcp/message/result.h"
#include "gateway/upstream/upstream_call.h"
#include "managed/managed.h"
#include "policy/decide/gateway.h"

/* A request that policy allows. */
struct route_request {
    struct op *op;
    const struct managed_resource *resource;
    const struct managed_route *route;
    const struct managed_secrets *secrets;
    const struct upstream_caller *caller;
    const struct gateway_obligations *obligations;
    const char *method;
    const char *path;  /* raw, at the upstream */
    const char *query; /* raw, without "?"; may be empty */
    const struct upstream_field *fields;
    size_t field_count;
    const char *body; /* or NULL */
    size_t body_length;
    size_t max_answer; /* octets; 0: UPSTREAM_MEMORY_MAX. Policy may allow fewer. */
};

/*
 * Get the answer of a STATIC route or of the upstream, and meet the obligations about it. *ret has
 * no uri. Fails as upstream_send_memory() does; AZ_UPSTREAM_INVALID also for an answer that policy
 * wants redacted and that is not JSON.
 */
enum az_status route_answer(const struct route_request *request,
                            struct upstream_credential *ret_credential, struct mcp_body *ret);

#endif
