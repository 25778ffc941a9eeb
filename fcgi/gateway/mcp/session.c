#include "config.h"

#include "gateway/mcp/session.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/message/log_level.h"
#include "http/form.h"

enum az_status
mcp_session_open(struct mcp_exchange *it, const char *version)
{
    struct op *op = &it->req->op;
    const char *id = mcp_session_make(op, &it->access,
                                      json_object_get(it->message.params, "capabilities"), version);
    if (id == NULL)
        return op_no_memory(op);
    respond_header(it->req, MCP_SESSION_FIELD, id);
    return AZ_OK;
}

/* A session of another caller gets the same answer as an ended session, so that the caller learns
 * nothing. */
enum az_status
mcp_session_join(struct mcp_exchange *it)
{
    const struct mcp_session *session = &it->session;
    bool begins = it->message.method != NULL && strcmp(it->message.method, "initialize") == 0;
    if (it->version.modern || !session->named || begins)
        return AZ_OK;
    if (!mcp_session_stands(&it->req->op, session, &it->access)) {
        mcp_refuse(it, 404, RPC_NOT_THERE,
                   "There is no such session; open another one with initialize");
        return AZ_INVALID;
    }
    it->version.capabilities = session->capabilities;
    if (request_header(it->req, "HTTP_MCP_PROTOCOL_VERSION") == NULL)
        it->version.name = session->version;
    return AZ_OK;
}

enum az_status
mcp_set_level(struct mcp_exchange *it)
{
    const char *word = json_string_value(json_object_get(it->message.params, "level"));
    int level = mcp_log_level(word);
    if (level == MCP_LOG_UNSAID)
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS, "params.level is no level of a log");
    if (!it->session.named)
        return mcp_refuse(it, 400, RPC_INVALID_REQUEST,
                          "The level is of a session: send the " MCP_SESSION_FIELD
                          " of the answer to initialize");
    enum az_status st = session_keep(&it->req->op, &it->session.key, level, false);
    if (st == AZ_OK)
        it->result = jsonx_own(it->req->op.mem, json_object());
    return st;
}

enum az_status
mcp_session_end(struct request *req)
{
    struct mcp_session session;
    struct gateway_access access;
    const struct gateway_rows rows = mcp_session_rows(&session);
    enum az_status st = mcp_session_read(req, &session);
    if (st == AZ_OK)
        st = gateway_enter_with(req, GATEWAY_MCP, req->path_value[0], &rows, &access);
    if (st != AZ_OK)
        return st;
    if (!session.named)
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "The request names no session (" MCP_SESSION_FIELD ")", NULL);
    if (!mcp_session_stands(&req->op, &session, &access))
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "there is no such session");
    st = session_keep(&req->op, &session.key, MCP_LOG_UNSAID, true);
    return st == AZ_OK ? respond_empty(req, 204) : st;
}
