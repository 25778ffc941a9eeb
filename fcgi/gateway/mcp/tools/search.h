/*
 * A search in place of a long list of tools (gateway-admin.md 1.10): models choose badly among
 * hundreds. authz_find_tools finds tools by words among those that policy shows to the caller, and
 * authz_call_tool calls one, which is decided, checked and noted as a call of it.
 */
#ifndef AZ_GATEWAY_MCP_TOOLS_SEARCH_H
#define AZ_GATEWAY_MCP_TOOLS_SEARCH_H

#include "gateway/mcp/message/exchange.h"

/* Tools that the caller may use, above which `auto` shows the search. Hosts say that models choose
 * well among some dozen. */
#define SEARCH_AUTO_MAX 60
/* Octets of a query, and the tools of one answer. */
#define SEARCH_QUERY_MAX 200
#define SEARCH_LIMIT_DEFAULT 8
#define SEARCH_LIMIT_MAX 20

/* True if the list of this endpoint has the search in the place of so many tools. */
bool mcp_lists_search(const struct mcp_exchange *it, size_t tools);

/* Return the entries of both tools of the search, a new reference; NULL: out of memory. */
json_t *mcp_search_entries(void);

/* Handle tools/call: the two tools of the search, where the endpoint has them, or any other. */
enum az_status mcp_use_tool(struct mcp_exchange *it);

#endif
