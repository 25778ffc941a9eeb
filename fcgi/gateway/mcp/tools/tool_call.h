/* One call of a tool, from the message to the answer: what its files pass to each other. */
#ifndef AZ_GATEWAY_MCP_TOOLS_TOOL_CALL_H
#define AZ_GATEWAY_MCP_TOOLS_TOOL_CALL_H

#include "gateway/caller.h"
#include "gateway/mcp/ask/round.h"
#include "gateway/mcp/tools/call_upstream.h"

struct tool_call {
    struct mcp_exchange *it;
    struct mcp_catalogue catalogue;
    const struct mcp_tool *tool;
    json_t *arguments; /* object */
    struct mcp_round round;
    struct gateway_decision decision;
    struct gateway_action action; /* for policy */
    struct gateway_target target; /* for policy */
    bool linked;                  /* for the target */
    struct upstream_caller caller;
    struct gateway_bearer holder; /* for the caller */
    struct mcp_call call;
    int64_t began_ms;     /* monotonic; 0: no upstream was asked */
    int logged;           /* log messages that were passed on */
    const char *approval; /* word for the audit row, or NULL if policy asks for no approval */
};

/* Answer with a text that the model reads, and keep the failure for the audit row and the log. */
enum az_status tool_call_error(struct tool_call *c, enum az_status st, const char *text);

/* Ask the person to link the account that the call needs. */
enum az_status tool_call_ask_for_link(struct tool_call *c);

/* Ask for the link before an approval that the call could not use. The upstream is not asked. */
enum az_status tool_call_link_first(struct tool_call *c);

/* Meet approve_by_ciba: AZ_OK without a result if the person has approved exactly this call. */
enum az_status tool_call_ask_for_approval(struct tool_call *c);

#endif
