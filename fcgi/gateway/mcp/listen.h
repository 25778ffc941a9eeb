/* subscriptions/listen (MCP 2026-07-28, utilities/subscriptions): a stream on which a client waits
 * for changes of lists. It is handed over to the relay, so that no worker waits
 * (gateway-admin.md 1.9). */
#ifndef AZ_GATEWAY_MCP_LISTEN_H
#define AZ_GATEWAY_MCP_LISTEN_H

#include "gateway/mcp/held.h"

/* True if the gateway learns of changes of the MCP resources of a managed resource: those are
 * STATIC resources, and upstreams that a feeder listens to (gateway/feed). */
bool mcp_is_watched(const struct managed_resource *resource);

/* Find out if the endpoint of this request has such MCP resources. */
enum az_status mcp_listen_watches(struct mcp_exchange *it, bool *ret);

/* Add a URI to what is subscribed, if policy lets the caller learn of its changes, and they are
 * known here; *ret says so. One that finds no room is left out. */
enum az_status mcp_watch(struct mcp_exchange *it, struct mcp_subscribed *subscribed, json_t *uri,
                         bool *ret);

/* Begin the stream with the topics and URIs that are subscribed here of those that the client asks
 * for. Without any it ends at once. */
enum az_status mcp_listen(struct mcp_exchange *it);

#endif
