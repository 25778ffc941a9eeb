#include "config.h"

#include "gateway/mcp/session_stream.h"

#include <string.h>

#include "gateway/mcp/held.h"
#include "gateway/mcp/message/stream.h"
#include "gateway/mcp/subscribe.h"
#include "http/form.h"

/* The methods of the path without a stream. */
#define OTHER_METHODS "POST, DELETE, OPTIONS"
/* The first and the last octets of the stream, which readers pass over: a first event shows that it
 * has begun, and nothing of MCP ends it. */
#define COMMENT ": \n\n"

/* True for a GET that opens a session's event stream which the relay can hold (not in MCP
 * 2026-07-28). */
static bool
asks_for_stream(const struct mcp_exchange *it)
{
    const char *version = request_header(it->req, "HTTP_MCP_PROTOCOL_VERSION");
    return it->session.named && (version == NULL || strcmp(version, MCP_MODERN) != 0)
           && mcp_stream_takes(it) && mcp_holds_streams(it->req);
}

static enum az_status
refuse_method(struct request *req)
{
    respond_header(req, "Allow", OTHER_METHODS);
    return op_fail(&req->op, AZ_METHOD_NOT_ALLOWED, NULL, NULL);
}

/* Let the request go on in its session. */
static enum az_status
join_session(struct mcp_exchange *it)
{
    struct op *op = &it->req->op;
    const char *version = request_header(it->req, "HTTP_MCP_PROTOCOL_VERSION");
    if (!mcp_session_stands(op, &it->session, &it->access))
        return op_fail(op, AZ_NOT_FOUND, NULL, "there is no such session");
    it->version.name = version != NULL ? mcp_known_version(version) : it->session.version;
    return it->version.name != NULL
               ? AZ_OK
               : op_fail(op, AZ_INVALID_REQUEST,
                         "MCP-Protocol-Version names a revision that is not known", NULL);
}

enum az_status
mcp_session_stream(struct request *req)
{
    struct mcp_exchange it = {.req = req};
    struct mcp_subscribed subscribed = {.topics = 0};
    const struct gateway_rows rows = mcp_session_rows(&it.session);
    enum az_status st = mcp_session_read(req, &it.session);
    if (st == AZ_OK)
        st = gateway_enter_with(req, GATEWAY_MCP, req->path_value[0], &rows, &it.access);
    if (st == AZ_OK && !asks_for_stream(&it))
        return refuse_method(req);
    if (st == AZ_OK)
        st = join_session(&it);
    if (st == AZ_OK)
        st = mcp_find_topics(&it, NULL, &subscribed.topics);
    if (st == AZ_OK)
        st = mcp_find_subscribed(&it, &subscribed);
    return st == AZ_OK ? mcp_hold(&it, &subscribed, COMMENT, COMMENT) : st;
}
