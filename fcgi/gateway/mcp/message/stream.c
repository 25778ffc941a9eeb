#include "config.h"

#include "gateway/mcp/message/stream.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "http/serve/dispatch.h"

#define EVENTS "text/event-stream"

const json_t *
mcp_stream_token(const struct mcp_exchange *it)
{
    const json_t *meta = json_object_get(it->message.params, "_meta");
    const json_t *token = json_object_get(meta, "progressToken");
    const char *accept = request_header(it->req, "HTTP_ACCEPT");
    bool good = json_is_integer(token)
                || (json_is_string(token) && json_string_length(token) <= JSON_RPC_ID_MAX);
    return good && accept != NULL && strstr(accept, EVENTS) != NULL ? token : NULL;
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

bool
mcp_stream_progress(void *arg, const json_t *progress)
{
    struct mcp_exchange *it = arg;
    TALLOC_CTX *mem = talloc_new(it->req->op.mem);
    struct jsonx_build params = {mem != NULL ? jsonx_own(mem, jsonx_copy(progress)) : NULL, false};
    jsonx_set(&params, "progressToken", jsonx_copy(mcp_stream_token(it)));
    json_t *whole = jsonx_built(&params);
    json_t *message = whole != NULL
                          ? jsonx_own(mem, json_pack("{s:s,s:s,s:O}", "jsonrpc", "2.0", "method",
                                                     "notifications/progress", "params", whole))
                          : NULL;
    const char *event = event_of(mem, message);
    bool goes_on = event == NULL || (begin_stream(it->req) && send_event(it->req, event));
    talloc_free(mem);
    return goes_on;
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
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "out of memory for a result");
    return respond_stream(req, EVENTS, write_end, (void *) (uintptr_t) event);
}
