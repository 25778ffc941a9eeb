/* The members of a stored tool that follow its upstream. */
#ifndef AZ_GATEWAY_MCP_TOOLS_DESCRIBED_TOOL_H
#define AZ_GATEWAY_MCP_TOOLS_DESCRIBED_TOOL_H

#include <jansson.h>

/* Return a stored tool, or (NULL) a new one, with the description that the upstream gives: a new
 * reference, or NULL if out of memory. */
json_t *described_tool(const json_t *stored, const json_t *seen);

#endif
