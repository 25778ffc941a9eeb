#include "config.h"

#include "gateway/mcp/endpoint.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "gateway/calls.h"
#include "gateway/mcp/ask/await.h"
#include "gateway/mcp/cancel.h"
#include "gateway/mcp/held.h"
#include "gateway/mcp/listen.h"
#include "gateway/mcp/message/exchange.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/message/stream.h"
#include "gateway/mcp/reads/instructions.h"
#include "gateway/mcp/reads/prompts.h"
#include "gateway/mcp/reads/resources.h"
#include "gateway/mcp/session.h"
#include "gateway/mcp/subscribe.h"
#include "gateway/mcp/tools/catalogue.h"
#include "gateway/mcp/tools/list.h"
#include "gateway/mcp/tools/search.h"
#include "gateway/process/gateway_process.h"
#include "http/form.h"

/* clang-format off */
static const char *const json_rpc_versions[] = {"2.0", NULL};
static const struct field mcp_message_fields[] = {
    {"jsonrpc", FIELD_TEXT,   .required = true, .max = 3, .words = json_rpc_versions, .help = "2.0",
     .example = "\"2.0\""},
    {"id",      FIELD_ANY,    .help = "A text or an integer; a notification has none",
     .example = "1"},
    {"method",  FIELD_TEXT,   .required = true, .max = JSON_RPC_METHOD_MAX,
     .help = "For example tools/list or tools/call", .example = "\"tools/list\""},
    {"params",  FIELD_ANY,    .help = "As the method says", .example = "{}"},
};
static const struct field mcp_answer_fields[] = {
    {"jsonrpc", FIELD_TEXT,   .required = true, .help = "2.0", .example = "\"2.0\""},
    {"id",      FIELD_ANY,    .help = "That of the request, if it could be read"},
    {"result",  FIELD_OBJECT, .help = "As the method says"},
    {"error",   FIELD_OBJECT, .help = "In place of a result: code, message, and data"},
};
/* A fault of a message is answered in JSON-RPC. A caller that is refused before its message is read
 * gets the answer of all endpoints below /gateway. */
static const struct field mcp_failure_fields[] = {
    {"jsonrpc",           FIELD_TEXT, .help = "2.0: an error of JSON-RPC", .example = "\"2.0\""},
    {"id",                FIELD_ANY,  .help = "That of the message, if it could be read"},
    {"error",             FIELD_ANY,  .required = true,
     .help = "code, message and data; or a code for programs, with a description beside it",
     .example = "{\"code\": -32601, \"message\": \"Unknown method\"}"},
    {"error_description", FIELD_TEXT, .help = "Text for people"},
};
/* clang-format on */
const struct field_table mcp_message_table =
    FIELD_TABLE("McpMessage", mcp_message_fields, FIELDS_IGNORE_UNKNOWN);
const struct field_table mcp_answer_table =
    FIELD_TABLE("McpAnswer", mcp_answer_fields, FIELDS_ANSWER);
const struct field_table mcp_failure_table =
    FIELD_TABLE("McpFailure", mcp_failure_fields, FIELDS_ANSWER | FIELDS_IGNORE_UNKNOWN);

/* ---- methods about the endpoint */

/* Find out what the endpoint has beside tools. */
static enum az_status
find_features(struct mcp_exchange *it, struct mcp_features *ret)
{
    struct managed_resources all;
    enum az_status st = mcp_find_resources(it, &all);
    ret->streams = mcp_holds_streams(it->req);
    for (size_t i = 0; st == AZ_OK && i < all.count; i++)
        ret->log = ret->log || all.item[i]->upstream == MANAGED_MCP;
    if (st == AZ_OK)
        st = mcp_serves_resources(it, &ret->resources);
    if (st == AZ_OK && ret->streams)
        st = mcp_listen_watches(it, &ret->watches);
    return st == AZ_OK ? mcp_serves_prompts(it, &ret->prompts) : st;
}

static enum az_status
give_discovery(struct mcp_exchange *it)
{
    struct mcp_features features = {.resources = false};
    enum az_status st = find_features(it, &features);
    if (st == AZ_OK)
        st = mcp_find_instructions(it, &features);
    if (st == AZ_OK)
        it->result = mcp_discover_result(it->req->op.mem, &features);
    return st;
}

static enum az_status
give_initialization(struct mcp_exchange *it)
{
    const char *asked = json_string_value(json_object_get(it->message.params, "protocolVersion"));
    const char *version = mcp_legacy_version(asked);
    struct mcp_features features = {.resources = false};
    enum az_status st = find_features(it, &features);
    if (st == AZ_OK)
        st = mcp_find_instructions(it, &features);
    if (st == AZ_OK)
        st = mcp_session_open(it, version);
    if (st == AZ_OK)
        it->result = mcp_initialize_result(it->req->op.mem, version, &features);
    return st;
}

static enum az_status
give_pong(struct mcp_exchange *it)
{
    it->result = jsonx_own(it->req->op.mem, json_object());
    return AZ_OK;
}

/* Features of an endpoint, of which a method may need one to exist there. */
enum { ANYWHERE = 0, RESOURCES = 1, PROMPTS = 2 };

/* The methods, and the eras that have them. */
/* clang-format off */
static const struct mcp_method {
    const char *name;
    bool modern, legacy;
    int needs;
    enum az_status (*handle)(struct mcp_exchange *it);
} methods[] = {
    {"initialize",               false, true,  ANYWHERE,            give_initialization},
    {"ping",                     false, true,  ANYWHERE,            give_pong},
    {"logging/setLevel",         false, true,  ANYWHERE,            mcp_set_level},
    {"server/discover",          true,  false, ANYWHERE,            give_discovery},
    {"subscriptions/listen",     true,  false, ANYWHERE,            mcp_listen},
    {"tools/list",               true,  true,  ANYWHERE,            mcp_list_tools},
    {"tools/call",               true,  true,  ANYWHERE,            mcp_use_tool},
    {"resources/list",           true,  true,  RESOURCES,           mcp_list_resources},
    {"resources/templates/list", true,  true,  RESOURCES,           mcp_list_templates},
    {"resources/read",           true,  true,  RESOURCES,           mcp_read_resource},
    {"resources/subscribe",      false, true,  RESOURCES,           mcp_subscribe},
    {"resources/unsubscribe",    false, true,  RESOURCES,           mcp_unsubscribe},
    {"prompts/list",             true,  true,  PROMPTS,             mcp_list_prompts},
    {"prompts/get",              true,  true,  PROMPTS,             mcp_get_prompt},
    {"completion/complete",      true,  true,  RESOURCES | PROMPTS, mcp_complete},
};
/* clang-format on */

/* Find the row of a method that exists here; *ret is NULL if there is no such method. */
static enum az_status
find_method(struct mcp_exchange *it, const struct mcp_method **ret)
{
    const struct mcp_method *method = NULL;
    struct mcp_features has = {.resources = false};
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (strcmp(methods[i].name, it->message.method) == 0
            && (it->version.modern ? methods[i].modern : methods[i].legacy))
            method = &methods[i];
    if (method != NULL && method->needs != ANYWHERE) {
        st = find_features(it, &has);
        int here = (has.resources ? RESOURCES : 0) | (has.prompts ? PROMPTS : 0);
        method = (method->needs & here) != 0 ? method : NULL;
    }
    *ret = method;
    return st;
}

/* ---- reading */

/* Read the message and its version. */
static enum az_status
read_exchange(struct mcp_exchange *it)
{
    struct request *req = it->req;
    const struct mcp_headers headers = {
        .version = request_header(req, "HTTP_MCP_PROTOCOL_VERSION"),
        .method = request_header(req, "HTTP_MCP_METHOD"),
        .name = request_header(req, "HTTP_MCP_NAME"),
    };
    enum az_status st;
    if (req->body_length > (size_t) req->op.az->cfg->gateway_max_body_size)
        return op_fail(&req->op, AZ_TOO_LARGE, NULL, NULL);
    if (!request_media_type_is_json(req->io->variable(req->io, "CONTENT_TYPE")))
        return op_fail(&req->op, AZ_MEDIA_TYPE, NULL, NULL);
    st = json_rpc_read(req->op.mem, req->body, req->body_length, &it->message, &it->fault);
    if (st == AZ_OK && it->message.method == NULL && it->session.named) {
        it->version = (struct mcp_version){.name = MCP_LEGACY_NEWEST};
        return AZ_OK;
    }
    if (st == AZ_OK && it->message.method == NULL) {
        it->fault = (struct json_rpc_fault){
            .http = 400, .code = RPC_INVALID_REQUEST, .message = "No request waits for an answer"};
        st = AZ_INVALID;
    }
    if (st == AZ_OK)
        st = mcp_version_find(req->op.mem, &it->message, &headers, &it->version, &it->fault);
    return st == AZ_SERVER_ERROR ? op_fail(&req->op, st, NULL, "out of memory for a message") : st;
}

/* ---- answering */

/* Answer with a fault. The status of HTTP decides what the audit row and the log say. */
static enum az_status
answer_rpc_fault(struct mcp_exchange *it)
{
    struct request *req = it->req;
    const struct json_rpc_fault *fault = &it->fault;
    enum az_status st;
    json_t *body = jsonx_own(req->op.mem, json_rpc_error(it->message.id, fault));
    if (body == NULL)
        return op_no_memory(&req->op);
    req->error_body = body;
    if (fault->http == 200 && req->op.fault.status != AZ_OK)
        return respond_json(req, 200, body); /* the handler said why, for the audit row */
    st = op_fail(&req->op, fault->http == 404 ? AZ_NOT_FOUND : AZ_INVALID_REQUEST, NULL,
                 "JSON-RPC error %d: %s", fault->code, fault->message);
    return fault->http == 200 ? respond_json(req, 200, body) : st;
}

/* Give a failure of a handler a body that an MCP client reads. Its HTTP status and challenge stay
 * (gateway-admin.md 1.5). */
static enum az_status
explain_failure(struct mcp_exchange *it, enum az_status st)
{
    struct request *req = it->req;
    const struct json_rpc_fault fault = {
        .code = st == AZ_SERVER_ERROR ? RPC_INTERNAL_ERROR : az_status_row(st)->http * 100,
        .message = req->op.fault.public_text,
    };
    req->error_body = jsonx_own(req->op.mem, json_rpc_error(it->message.id, &fault));
    return st;
}

/* End a stream that a call has begun: a failure is its last message too, and the audit row has it.
 */
static enum az_status
answer_stream(struct mcp_exchange *it, enum az_status st)
{
    struct request *req = it->req;
    json_t *body = NULL;
    if (st != AZ_OK) {
        explain_failure(it, st);
        body = req->error_body;
    } else if (it->result == NULL) {
        body = jsonx_own(req->op.mem, json_rpc_error(it->message.id, &it->fault));
        if (req->op.fault.status == AZ_OK)
            op_fail(&req->op, AZ_INVALID_REQUEST, NULL, "JSON-RPC error %d: %s", it->fault.code,
                    it->fault.message);
    } else if (mcp_result_finish(it->result, &it->version)) {
        body = jsonx_own(req->op.mem, json_rpc_result(it->message.id, json_incref(it->result)));
    }
    return mcp_stream_end(it, body);
}

static enum az_status
answer_result(struct mcp_exchange *it)
{
    struct request *req = it->req;
    json_t *body = NULL;
    if (mcp_result_finish(it->result, &it->version))
        body = jsonx_own(req->op.mem, json_rpc_result(it->message.id, json_incref(it->result)));
    return body != NULL ? respond_json(req, 200, body) : op_no_memory(&req->op);
}

static enum az_status
answer_request(struct mcp_exchange *it)
{
    const struct mcp_method *method;
    enum az_status st = find_method(it, &method);
    if (st == AZ_OK && method == NULL)
        mcp_refuse(it, it->version.modern ? 404 : 200, RPC_METHOD_NOT_FOUND, "Unknown method");
    else if (st == AZ_OK) {
        mcp_cancel_begin(it);
        st = method->handle(it);
        calls_end(it->req->op.az->gateway->calls);
    }
    if (it->req->res.begun)
        return answer_stream(it, st);
    if (st != AZ_OK)
        return explain_failure(it, st);
    if (it->req->res.status != 0)
        return AZ_OK; /* it has answered */
    if (it->result == NULL && it->fault.code == 0)
        return op_no_memory(&it->req->op);
    return it->result != NULL ? answer_result(it) : answer_rpc_fault(it);
}

static enum az_status
handle_message(struct request *req, const char *name)
{
    struct mcp_exchange it = {.req = req};
    const struct gateway_rows rows = mcp_session_rows(&it.session);
    enum az_status st = mcp_session_read(req, &it.session);
    if (st == AZ_OK)
        st = gateway_enter_with(req, GATEWAY_MCP, name, &rows, &it.access);
    if (st != AZ_OK)
        return st;
    if ((st = read_exchange(&it)) == AZ_OK)
        st = mcp_session_join(&it);
    if (st == AZ_INVALID)
        return answer_rpc_fault(&it);
    if (st != AZ_OK)
        return st;
    if (it.message.kind == JSON_RPC_NOTIFICATION)
        return mcp_take_notification(&it);
    if (it.message.method == NULL) {
        st = mcp_give_answer(&it);
        return st != AZ_OK || req->res.status != 0 ? st : answer_rpc_fault(&it);
    }
    return answer_request(&it);
}

enum az_status
mcp_handle(struct request *req)
{
    return handle_message(req, NULL);
}

enum az_status
mcp_resource_handle(struct request *req)
{
    return handle_message(req, req->path_value[0]);
}
