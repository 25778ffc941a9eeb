#include "config.h"

#include "base/json/jsonx.h"
#include "gateway/mcp/message/log_level.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/message/tool_schema.h"
#include "gateway/mcp/peer/peer.h"
#include "gateway/mcp/tools/call_upstream.h"

/* Show an error of the protocol. The model sees it: the tool is ours, and the message is the
 * server's. Only a capability that the client lacks is the client's affair (MCP 2026-07-28,
 * versioning); one that it has was held back, and the client would ask for ever. */
static enum az_status
show_error(struct mcp_call *call, const json_t *error, bool modern)
{
    TALLOC_CTX *mem = call->op->mem;
    const char *text = peer_error_text(mem, error);
    call->failed = true;
    call->missing = mcp_round_lacks(call->round, error);
    if (call->missing != NULL)
        return AZ_OK;
    if (!modern && peer_error_is(error, RPC_URL_ELICITATION)) {
        call->addresses = error;
        return AZ_OK;
    }
    if (peer_error_is(error, RPC_MISSING_CAPABILITY))
        text = "The upstream wants to ask what its resource (interaction), this call or this token "
               "does not allow";
    call->result = text != NULL ? mcp_text_result(mem, text, true) : NULL;
    return call->result != NULL ? AZ_OK : AZ_SERVER_ERROR;
}

/* Check the structured content against the outputSchema that was approved: a server MUST give what
 * it declared (MCP 2025-11-25, tools, "Output Schema"), and hosts act on it. What breaks it is not
 * shown. */
static enum az_status
check_structure(struct mcp_call *call)
{
    TALLOC_CTX *mem = call->op->mem;
    const json_t *schema = call->tool->row->output_schema;
    const json_t *content = json_object_get(call->result, "structuredContent");
    const char *why = "The answer of the upstream has no structuredContent, which the tool's "
                      "outputSchema promises";
    enum az_status st = schema == NULL    ? AZ_OK
                        : content == NULL ? AZ_INVALID
                                          : tool_schema_check_result(mem, schema, content, &why);
    if (st != AZ_INVALID)
        return st;
    call->failed = true;
    call->result = mcp_text_result(mem, why, true);
    return call->result != NULL ? AZ_OK : AZ_SERVER_ERROR;
}

/* Show the answer of the server. */
static enum az_status
show_reply(struct mcp_call *call, const struct peer_reply *reply)
{
    TALLOC_CTX *mem = call->op->mem;
    if (reply->error != NULL)
        return show_error(call, reply->error, reply->modern);
    if (mcp_round_is_asked(reply)) {
        call->asked = reply->result;
        return AZ_OK;
    }
    call->result = mcp_relayed_result(mem, call->scope, reply->result);
    if (call->result == NULL)
        return op_fail(call->op, AZ_UPSTREAM_INVALID, NULL,
                       "the result of a tool of %s is not a valid answer to tools/call",
                       call->tool->resource->name);
    call->failed = json_is_true(json_object_get(call->result, "isError"));
    return call->failed ? AZ_OK : check_structure(call);
}

enum az_status
mcp_call_peer(struct mcp_call *call)
{
    const struct managed_tool *row = call->tool->row;
    struct peer_reply reply;
    struct peer_request request = {
        .resource = call->tool->resource,
        .secrets = call->secrets,
        .caller = call->caller,
        .policy_headers = call->obligations->headers,
        .max_answer = (size_t) call->obligations->response_max_bytes,
        .progress = call->progress,
        .log = call->log,
        .asker = mcp_round_asker(call->round),
        .message =
            {
                      .method = "tools/call",
                      .params =
                    jsonx_own(call->op->mem,
                      json_pack("{s:s,s:O}", "name",
                      row->upstream_name != NULL ? row->upstream_name : row->name,
                      "arguments", call->arguments)),
                      .schema = row->input_schema,
                      .capabilities = call->round->capabilities,
                      .log_level = call->log != NULL ? mcp_log_word(call->log->level) : NULL,
                      .round = call->round->state.round,
                      .progress = call->progress != NULL,
                      .trace = call->trace,
                      },
    };
    enum az_status st;
    if (request.message.params == NULL || !mcp_round_add(call->round, request.message.params))
        return op_no_memory(call->op);
    st = peer_ask(call->op, &request, &reply);
    call->status = reply.status;
    call->octets = reply.octets;
    call->credential = reply.credential;
    return st == AZ_OK ? show_reply(call, &reply) : st;
}
