/*
 * Serve what MCP upstreams say to the model about their tools (`instructions` of initialize and
 * server/discover), of resources whose `mcpInstructions` is pinned (gateway-admin.md 1.14).
 */
#ifndef AZ_GATEWAY_MCP_READS_INSTRUCTIONS_H
#define AZ_GATEWAY_MCP_READS_INSTRUCTIONS_H

#include "gateway/mcp/message/exchange.h"
#include "gateway/mcp/message/result.h"

/* Octets of the instructions at the endpoint of all resources: hosts put them into every prompt. */
#define INSTRUCTIONS_ALL_MAX 16384

/* Set the instructions that the caller of this request gets, and if policy was asked about them. */
enum az_status mcp_find_instructions(struct mcp_exchange *it, struct mcp_features *ret);

#endif
