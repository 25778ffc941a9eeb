/* POST /gateway/mcp and /gateway/mcp/{name}: the endpoint of MCP clients (gateway-admin.md 1.1). */
#ifndef AZ_GATEWAY_MCP_ENDPOINT_H
#define AZ_GATEWAY_MCP_ENDPOINT_H

#include "http/route.h"

/* Longest message of a client, in octets. A worker reads it into memory before it knows the
 * caller. */
#define MCP_BODY_MAX 1048576

/* The members of a message, of its answer, and of a failure, for the description of the interface.
 */
extern const struct field_table mcp_message_table, mcp_answer_table, mcp_failure_table;

/* Answer a message to all resources, or to one. */
enum az_status mcp_handle(struct request *req);
enum az_status mcp_resource_handle(struct request *req);

#endif
