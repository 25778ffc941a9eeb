/* Calls that their person approves first (gateway-admin.md 3.8, approve_by_ciba). */
#ifndef AZ_GATEWAY_MCP_TOOLS_APPROVAL_H
#define AZ_GATEWAY_MCP_TOOLS_APPROVAL_H

#include "gateway/mcp/ask/request_state.h"
#include "gateway/mcp/message/exchange.h"

/* Octets of the arguments, as JSON text, that a person can be asked about: a text that does not fit
 * on a screen would be approved unread. */
#define APPROVAL_ARGUMENTS_MAX 4096

/*
 * Use up the approval of a call. AZ_OK: there is one, and the call may be made now. AZ_APPROVAL_
 * REQUIRED: the person has to approve it at *ret_url. AZ_FORBIDDEN: the person denied it, or cannot
 * be asked about it. AZ_USER_REQUIRED: the token names no person.
 */
enum az_status mcp_approval_take(struct mcp_exchange *it, const struct stated_call *call,
                                 const char **ret_url);

#endif
