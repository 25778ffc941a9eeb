/* tools/call: arguments checked, policy asked, the upstream called, its answer shown
 * (gateway-admin.md 1.5). */
#ifndef AZ_GATEWAY_MCP_TOOLS_CALL_H
#define AZ_GATEWAY_MCP_TOOLS_CALL_H

#include "gateway/mcp/message/exchange.h"

/* Handle tools/call: check the arguments, ask policy, call the upstream and answer with its result.
 */
enum az_status mcp_call_tool(struct mcp_exchange *it);

#endif
