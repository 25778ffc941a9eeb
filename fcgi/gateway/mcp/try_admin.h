/*
 * POST /admin/api/managed-resources/{name}/tools/{tool}/try: ask policy about a call of a tool as
 * the gateway would, and make the call if the body says so (gateway-admin.md 3.6). No token is
 * made; the audit row is the operator's.
 */
#ifndef AZ_GATEWAY_MCP_TRY_ADMIN_H
#define AZ_GATEWAY_MCP_TRY_ADMIN_H

#include "http/route.h"

/* Answer 200 with the decision, and with the result of a call. */
enum az_status tool_try_handle(struct request *req);

/* Refuse a call of somebody who may only ask: AZ_ROLE_REQUIRED. */
enum az_status tool_try_check(struct request *req);

/* The members of the body and of the answer. */
extern const struct field_table tool_try_table;
extern const struct field_table answer_tool_try;

#endif
