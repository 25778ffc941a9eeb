/* GET of a session (MCP 2025-11-25, transports, "Listening for Messages from the Server"): the
 * stream on which older clients are notified of changes of lists (gateway-admin.md 1.13). */
#ifndef AZ_GATEWAY_MCP_SESSION_STREAM_H
#define AZ_GATEWAY_MCP_SESSION_STREAM_H

#include "http/request.h"

/* Handle GET: open the stream. 405 if the request is not one for it, or it cannot be held. */
enum az_status mcp_session_stream(struct request *req);

#endif
