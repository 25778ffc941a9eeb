#include "config.h"

#include "gateway/mcp/message/trace.h"

#include <string.h>

#include "gateway/mcp/message/exchange.h"
#include "trace/trace.h"

/* Return a context of these texts, or none. */
static struct mcp_trace
trace_from(const char *parent, const char *state)
{
    struct mcp_trace ret = {.parent = NULL};
    if (parent == NULL || !trace_parent_is_good(parent))
        return ret;
    ret.parent = parent;
    if (state == NULL || *state == '\0' || strlen(state) > TRACE_STATE_MAX)
        return ret;
    for (const char *c = state; *c != '\0'; c++)
        if (*c < ' ' || *c > '~')
            return ret;
    ret.state = state;
    return ret;
}

struct mcp_trace
mcp_trace_of(const struct mcp_exchange *it)
{
    const json_t *meta = json_object_get(it->message.params, "_meta");
    struct mcp_trace ret = trace_from(json_string_value(json_object_get(meta, "traceparent")),
                                      json_string_value(json_object_get(meta, "tracestate")));
    if (ret.parent != NULL)
        return ret;
    ret = trace_from(request_header(it->req, "HTTP_TRACEPARENT"),
                     request_header(it->req, "HTTP_TRACESTATE"));
    const char *own = trace_parent(it->req->op.az->tracer); /* of the trace of the header */
    if (own != NULL)
        ret.parent = talloc_strdup(it->req->op.mem, own);
    return ret;
}
