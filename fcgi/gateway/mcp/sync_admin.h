/* POST /admin/api/managed-resources/{name}/sync and .../tools/{tool}/approve (gateway-admin.md
 * 3.6). */
#ifndef AZ_GATEWAY_MCP_SYNC_ADMIN_H
#define AZ_GATEWAY_MCP_SYNC_ADMIN_H

#include "http/route.h"

/* Bodies, and the answer of a sync. */
extern const struct field_table tool_sync_table, tool_approval_table, answer_tool_sync;

/* Read the tools of the upstream. */
enum az_status tools_sync_handle(struct request *req);

/* Approve a tool as it is stored. */
enum az_status tool_approve_handle(struct request *req);

#endif
