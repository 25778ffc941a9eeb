/* POST /admin/api/managed-resources/{name}/sync and .../tools/{tool}/approve, and its prompts
 * and instructions (gateway-admin.md 1.7, 1.14 and 3.6). */
#ifndef AZ_GATEWAY_MCP_SYNC_ADMIN_H
#define AZ_GATEWAY_MCP_SYNC_ADMIN_H

#include "http/route.h"

/* Bodies, and the answer of a sync. */
extern const struct field_table tool_sync_table, tool_approval_table, answer_tool_sync,
    stored_prompt_table, stored_instructions_table;

/* Read the tools of the upstream. */
enum az_status tools_sync_handle(struct request *req);

/* Approve a tool, a prompt, or the instructions, as they are stored. */
enum az_status tool_approve_handle(struct request *req);
enum az_status prompt_approve_handle(struct request *req);
enum az_status instructions_approve_handle(struct request *req);

/* Show the stored prompts, and instructions, with their pins. */
enum az_status prompts_list_handle(struct request *req);
enum az_status instructions_show_handle(struct request *req);

#endif
