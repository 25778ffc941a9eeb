#include "config.h"

#include "gateway/mcp/message/stream.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/message/log_level.h"
#include "http/serve/dispatch.h"

#define EVENTS "text/event-stream"
#define COMMENT ": \n\n"
#define LEVEL_BY_DEFAULT "info"

bool
mcp_stream_takes(const struct mcp_exchange *it)
{
    const char *accept = request_header(it->req, "HTTP_ACCEPT");
    return accept != NULL && strstr(accept, EVENTS) != NULL;
}

const json_t *
mcp_stream_token(const struct mcp_exchange *it)
{
    const json_t *meta = json_object_get(it->message.params, "_meta");
    const json_t *token = json_object_get(meta, "progressToken");
    bool good = json_is_integer(token)
                || (json_is_string(token) && json_string_length(token) <= JSON_RPC_ID_MAX);
    return good && mcp_stream_takes(it) ? token : NULL;
}

int
mcp_stream_log_level(const struct mcp_exchange *it)
{
    const json_t *meta = json_object_get(it->message.params, "_meta");
    if (!mcp_stream_takes(it))
        return MCP_LOG_UNSAID;
    if (it->version.modern)
        return mcp_log_level(json_string_value(json_object_get(meta, MCP_META_LOG_LEVEL)));
    if (!it->session.named)
        return MCP_LOG_UNSAID;
    return it->session.row.log_level != MCP_LOG_UNSAID ? it->session.row.log_level
                                                       : mcp_log_level(LEVEL_BY_DEFAULT);
}

/* Return a message as an event, on mem, or NULL if out of memory. */
static const char *
event_of(TALLOC_CTX *mem, const json_t *message)
{
    const char *text = message != NULL ? jsonx_dump(mem, message) : NULL;
    return text != NULL ? talloc_asprintf(mem, "data: %s\n\n", text) : NULL;
}

static bool
send_event(struct request *req, const char *event)
{
    return response_write(req, event, strlen(event)) == AZ_OK
           && (req->io->flush == NULL || req->io->flush(req->io));
}

/* Send the head. Web servers may hold back what they pass on; this field tells them not to. */
static bool
begin_stream(struct request *req)
{
    if (req->res.begun)
        return true;
    respond_header(req, "X-Accel-Buffering", "no");
    return dispatch_begin_stream(req, EVENTS) == AZ_OK;
}

/* Send a notification with these params, which are taken. Without memory it is left out. */
static bool
notify(struct mcp_exchange *it, TALLOC_CTX *mem, const char *method, json_t *params)
{
    json_t *message = params != NULL ? jsonx_own(mem, json_pack("{s:s,s:s,s:o}", "jsonrpc", "2.0",
                                                                "method", method, "params", params))
                                     : NULL;
    const char *event = event_of(mem, message);
    return event == NULL || (begin_stream(it->req) && send_event(it->req, event));
}

bool
mcp_stream_progress(void *arg, const json_t *progress)
{
    struct mcp_exchange *it = arg;
    TALLOC_CTX *mem = talloc_new(it->req->op.mem);
    struct jsonx_build params = {mem != NULL ? jsonx_own(mem, jsonx_copy(progress)) : NULL, false};
    jsonx_set(&params, "progressToken", jsonx_copy(mcp_stream_token(it)));
    bool goes_on = notify(it, mem, "notifications/progress", json_incref(jsonx_built(&params)));
    talloc_free(mem);
    return goes_on;
}

bool
mcp_stream_log(void *arg, const json_t *params)
{
    struct mcp_exchange *it = arg;
    TALLOC_CTX *mem = talloc_new(it->req->op.mem);
    bool goes_on = notify(it, mem, "notifications/message", jsonx_copy(params));
    talloc_free(mem);
    return goes_on;
}

bool
mcp_stream_send(struct mcp_exchange *it, json_t *message)
{
    TALLOC_CTX *mem = talloc_new(it->req->op.mem);
    const char *event = message != NULL ? event_of(mem, jsonx_own(mem, message)) : NULL;
    bool sent = event != NULL && begin_stream(it->req) && send_event(it->req, event);
    talloc_free(mem);
    return sent;
}

bool
mcp_stream_comment(struct mcp_exchange *it)
{
    return begin_stream(it->req) && send_event(it->req, COMMENT);
}

static enum az_status
write_end(struct request *req)
{
    return send_event(req, req->res.stream_arg)
               ? AZ_OK
               : op_fail(&req->op, AZ_UNAVAILABLE, NULL, "the reader of the answer has gone");
}

enum az_status
mcp_stream_end(struct mcp_exchange *it, const json_t *message)
{
    struct request *req = it->req;
    const char *event = event_of(req->op.mem, message);
    if (event == NULL)
        return op_no_memory(&req->op);
    return respond_stream(req, EVENTS, write_end, (void *) (uintptr_t) event);
}
