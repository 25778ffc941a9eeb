/* tools/list: the tools that policy shows to the caller (gateway-admin.md 1.5). */
#ifndef AZ_GATEWAY_MCP_TOOLS_LIST_H
#define AZ_GATEWAY_MCP_TOOLS_LIST_H

#include "gateway/mcp/message/exchange.h"

/* Give the list in one page: one question to policy decides about all tools, and with pages each
 * page would need it again. A cursor is refused, because this service never gives one. */
enum az_status mcp_list_tools(struct mcp_exchange *it);

#endif
