/* Methods of sessions (gateway-admin.md 1.13). */
#ifndef AZ_GATEWAY_MCP_SESSION_H
#define AZ_GATEWAY_MCP_SESSION_H

#include "gateway/mcp/message/exchange.h"
#include "http/route.h"

/* Open a session with a client that was initialized: the answer names it. */
enum az_status mcp_session_open(struct mcp_exchange *it, const char *version);

/* Let a message of an older client go on in the session that it names: what it says of the client
 * counts. AZ_INVALID: the session belongs to another caller or is over, and it->fault says so. */
enum az_status mcp_session_join(struct mcp_exchange *it);

/* Handle logging/setLevel. */
enum az_status mcp_set_level(struct mcp_exchange *it);

/* Handle DELETE: end the session. */
enum az_status mcp_session_end(struct request *req);

#endif
