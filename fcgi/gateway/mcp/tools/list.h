/* tools/list: the tools that policy shows to the caller (gateway-admin.md 1.5). */
#ifndef AZ_GATEWAY_MCP_TOOLS_LIST_H
#define AZ_GATEWAY_MCP_TOOLS_LIST_H

#include "gateway/mcp/tools/catalogue.h"

/* Give the list, or the search in its place (search.h), in one page: one question to policy decides
 * about all tools, and with pages each page would need it again. A cursor is refused, because this
 * service never gives one. */
enum az_status mcp_list_tools(struct mcp_exchange *it);

/* Ask policy about all tools of a catalogue at once. *ret, on the request's memory, has a verdict
 * for each. */
enum az_status mcp_decide_tools(struct mcp_exchange *it, const struct mcp_catalogue *catalogue,
                                enum gateway_verdict **ret);

/* Return a tool as a client of this revision sees it: a new reference, or NULL if out of memory. */
json_t *mcp_tool_entry(const struct mcp_tool *tool, const struct mcp_version *version);

#endif
