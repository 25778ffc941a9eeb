/* Subscriptions of older clients (MCP 2025-11-25, server/resources, "Subscriptions"): the row of
 * the session keeps them, and its stream sends the notifications (gateway-admin.md 1.13). */
#ifndef AZ_GATEWAY_MCP_SUBSCRIBE_H
#define AZ_GATEWAY_MCP_SUBSCRIBE_H

#include "gateway/mcp/held.h"

/* Handle resources/subscribe and resources/unsubscribe. */
enum az_status mcp_subscribe(struct mcp_exchange *it);
enum az_status mcp_unsubscribe(struct mcp_exchange *it);

/* Find the subscriptions of the session of an exchange, of whose changes the caller may learn now.
 */
enum az_status mcp_find_subscribed(struct mcp_exchange *it, struct mcp_subscribed *subscribed);

#endif
