/* Cancellation of a request by its client (MCP 2025-11-25, basic/utilities/cancellation;
 * gateway-admin.md 1.13): of a session, by the id of the request. */
#ifndef AZ_GATEWAY_MCP_CANCEL_H
#define AZ_GATEWAY_MCP_CANCEL_H

#include "gateway/mcp/message/exchange.h"

/* Let the request of an exchange be cancelled, if it is one of a session, until calls_end(). */
void mcp_cancel_begin(const struct mcp_exchange *it);

/* Take a notification of a client: one that cancels a request ends it, if a worker of this host
 * answers it; every other is of no interest. 202. */
enum az_status mcp_take_notification(struct mcp_exchange *it);

#endif
