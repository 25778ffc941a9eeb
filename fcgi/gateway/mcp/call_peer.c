#include "config.h"

#include "base/json/jsonx.h"
#include "gateway/mcp/call_upstream.h"
#include "gateway/mcp/peer.h"
#include "gateway/mcp/result.h"

/* Show the answer of the server. An error of the protocol is told to the model: the tool is
 * ours, and the message is the server's. */
static enum az_status
show_reply(struct mcp_call *call, const struct peer_reply *reply)
{
    TALLOC_CTX *mem = call->op->mem;
    if (reply->error != NULL) {
        const char *text = peer_error_text(mem, reply->error);
        call->failed = true;
        call->result = text != NULL ? mcp_text_result(mem, text, true) : NULL;
        return call->result != NULL ? AZ_OK : AZ_SERVER_ERROR;
    }
    call->result = mcp_relayed_result(mem, reply->result);
    if (call->result == NULL)
        return op_fail(call->op, AZ_UPSTREAM_INVALID, NULL,
                       "the result of a tool of %s is none of tools/call",
                       call->tool->resource->name);
    call->failed = json_is_true(json_object_get(call->result, "isError"));
    return AZ_OK;
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
        .message =
            {
                      .method = "tools/call",
                      .params =
                    jsonx_own(call->op->mem,
                      json_pack("{s:s,s:O}", "name",
                      row->upstream_name != NULL ? row->upstream_name : row->name,
                      "arguments", call->arguments)),
                      .schema = row->input_schema,
                      },
    };
    enum az_status st;
    if (request.message.params == NULL)
        return op_fail(call->op, AZ_SERVER_ERROR, NULL, "out of memory for a tool call");
    st = peer_ask(call->op, &request, &reply);
    call->status = reply.status;
    call->octets = reply.octets;
    call->credential = reply.credential;
    return st == AZ_OK ? show_reply(call, &reply) : st;
}
