/* tools/list: the tools that policy shows to the caller (gateway-admin.md 1.5). */
#ifndef AZ_GATEWAY_MCP_LIST_H
#define AZ_GATEWAY_MCP_LIST_H

#include "gateway/mcp/exchange.h"

/* Give the list in one page: one question to policy decides about all tools, so pages would ask it
 * once each. A cursor is one that we never gave. */
enum az_status mcp_list_tools(struct mcp_exchange *it);

#endif
