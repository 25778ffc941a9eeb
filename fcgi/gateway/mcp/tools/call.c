#include "config.h"

#include "gateway/mcp/tools/call.h"

#include <ctype.h>
#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "gateway/calls.h"
#include "gateway/mcp/message/log_level.h"
#include "gateway/mcp/message/param_header.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/message/stream.h"
#include "gateway/mcp/message/tool_schema.h"
#include "gateway/mcp/tools/tool_call.h"
#include "gateway/process/gateway_process.h"
#include "managed/auth.h"
#include "metrics/metrics.h"
#include "policy/decide/gateway_answer.h"
#include "store/gateway/resources.h"

/* ---- reading */

/* Find the tool that the message names. */
static enum az_status
read_tool_call(struct tool_call *c)
{
    struct mcp_exchange *it = c->it;
    const json_t *params = it->message.params;
    const char *name = json_string_value(json_object_get(params, "name"));
    json_t *arguments = json_object_get(params, "arguments");
    TALLOC_CTX *mem = it->req->op.mem;
    enum az_status st;
    if (name == NULL)
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS, "params.name is not a text");
    if (arguments != NULL && !json_is_object(arguments))
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS, "params.arguments is not an object");
    if ((st = mcp_catalogue_read(it, &c->catalogue)) != AZ_OK)
        return st;
    c->tool = mcp_catalogue_find(&c->catalogue, name);
    if (c->tool == NULL)
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS, "Unknown tool");
    c->arguments = arguments != NULL
                       ? tool_schema_drop_nulls(mem, c->tool->row->input_schema, arguments)
                       : jsonx_own(mem, json_object());
    return c->arguments != NULL ? AZ_OK : op_no_memory(&it->req->op);
}

enum az_status
tool_call_error(struct tool_call *c, enum az_status st, const char *text)
{
    struct op *op = &c->it->req->op;
    op_fail(op, st, NULL, "%s", text);
    c->it->result = mcp_text_result(op->mem, text, true);
    return AZ_OK;
}

/* True if the field that repeats an argument is there and says the same, or is absent with it. One
 * without its argument could have made a proxy decide for what the tool does not do. */
static bool
field_says(void *arg, const char *name, const json_t *value)
{
    const struct request *req = arg;
    char *variable = talloc_asprintf(req->op.mem, "HTTP_MCP_PARAM_%s", name);
    if (variable == NULL)
        return false;
    for (char *c = variable; *c != '\0'; c++)
        *c = isalnum((unsigned char) *c) ? (char) toupper((unsigned char) *c) : '_';
    if (req->io->variable(req->io, variable) == NULL)
        return !param_header_carries(value);
    return value != NULL && param_header_says(req->op.mem, request_header(req, variable), value);
}

/* Compare the Mcp-Param-... headers of a modern client with the arguments that they repeat: a proxy
 * may have decided by the headers (MCP 2026-07-28, transports). The schema of authz_call_tool has
 * no such header. */
static enum az_status
check_fields(struct tool_call *c)
{
    struct mcp_exchange *it = c->it;
    if (!it->version.modern || it->via_search
        || param_headers_each(c->tool->row->input_schema, c->arguments, field_says, it->req))
        return AZ_OK;
    return mcp_refuse(it, 400, RPC_HEADER_MISMATCH,
                      "A header Mcp-Param-... is missing, differs from the arguments, or has none");
}

/* Begin the call, or go on with it where the upstream asked for answers. */
static enum az_status
begin_call(struct tool_call *c)
{
    const struct stated_call call = {
        .person = c->caller.person,
        .subject = c->caller.subject,
        .idp = c->caller.idp,
        .client_id = c->caller.client_id,
        .method = c->it->message.method,
        .resource = c->tool->resource->name,
        .server = c->tool->resource->upstream_url,
        .name = c->tool->row->name,
        .arguments = c->arguments,
    };
    c->action = mcp_describe_tool(c->tool);
    return mcp_round_begin(c->it, c->tool->resource, &call, &c->round);
}

/* ---- what is noted */

/* Note the call for readers of the audit log (gateway-admin.md 3.8). */
static void
note_call(struct tool_call *c)
{
    const struct managed_resource *resource = c->tool->resource;
    struct jsonx_build summary = {
        jsonx_own(c->it->req->op.mem,
                  json_pack("{s:s,s:s,s:s}", "resource", resource->name, "tool", c->tool->row->name,
                            "mcp_version", c->it->version.name)),
        false};
    if (managed_auth_is_linked(resource->auth.type) && c->began_ms != 0)
        jsonx_set(&summary, "linked", json_boolean(c->call.credential.link.url == NULL));
    if (c->it->via_search)
        jsonx_set(&summary, "via", json_string("search"));
    if (c->round.state.round > 0)
        jsonx_set(&summary, "round", mcp_round_note(&c->round));
    if (c->approval != NULL)
        jsonx_set(&summary, "approval", json_string(c->approval));
    mcp_note(c->it, &summary, c->began_ms, c->call.status, c->call.octets);
}

/* Count the call by the kind of its upstream; the names of resources and tools are no labels,
 * because a mapped table has room for known values alone. */
static void
count_call(const struct tool_call *c)
{
    const struct az_fault *fault = &c->it->req->op.fault;
    const char *values[] = {managed_upstream_word(c->tool->resource->upstream),
                            fault->status != AZ_OK ? az_status_row(fault->status)->audit_outcome
                            : c->call.failed       ? "failed"
                                                   : "done"};
    metrics_add(c->it->req->op.az->metrics, METRIC_TOOL_CALLS, 0, values);
}

/* ---- policy */

/* Ask policy about the call. A denial that more scopes would lift becomes a challenge; the model
 * sees every other denial (gateway-admin.md 1.5). */
static enum az_status
decide_call(struct tool_call *c)
{
    struct mcp_exchange *it = c->it;
    TALLOC_CTX *mem = it->req->op.mem;
    const struct managed_route *route = c->tool->row->route;
    enum az_status st =
        mcp_target(&it->req->op, &c->caller, c->tool->resource, &c->linked, &c->target);
    if (st != AZ_OK)
        return st;
    struct gateway_question question = {
        .holder = {.mcp_version = it->version.name, .mcp_method = it->message.method},
        .resource = c->target,
        .action = c->action,
        .arguments = c->arguments,
        .answers = c->round.answers,
        .always = route != NULL ? route->obligations : NULL,
        .obligations =
            gateway_obligations_of("tool", managed_upstream_word(c->tool->resource->upstream)),
    };
    const char *codes, *why;
    st = mcp_round_look(&c->round, &question, &why);
    if (st == AZ_OK && why != NULL)
        return tool_call_error(c, AZ_FORBIDDEN, talloc_asprintf(mem, "Denied: %s", why));
    if (st == AZ_OK)
        st = gateway_decide(it->req, &it->access, &question, &c->decision);
    if (st != AZ_OK || c->decision.allow)
        return st;
    if (c->decision.step_up != NULL) {
        note_call(c); /* before the row is written */
        return gateway_refuse(it->req, &it->access, &question, &c->decision);
    }
    codes = gateway_codes(mem, c->decision.reasons);
    return tool_call_error(c, AZ_FORBIDDEN,
                           talloc_asprintf(mem, "Denied: %s", codes != NULL ? codes : ""));
}

/* Decide the call once more, while an older upstream is asked: it must be what is done already. */
static enum az_status
decide_again(void *arg)
{
    struct tool_call *c = arg;
    const struct gateway_obligations before = c->decision.obligations;
    enum az_status st = decide_call(c);
    if (st == AZ_OK && mcp_goes_on(c->it)
        && !mcp_round_same_duties(&before, &c->decision.obligations))
        st = tool_call_error(c, AZ_FORBIDDEN,
                             "Denied: with the answers policy demands other things of the "
                             "call");
    return st == AZ_OK && !mcp_goes_on(c->it) ? AZ_FORBIDDEN : st;
}

/* ---- the upstream */

/* Turn the outcome of a call into the answer. A failure of the upstream is a failure of the tool,
 * which the model can report to its user; only a failure of this service is a failure of the
 * request. */
static enum az_status
finish_call(struct tool_call *c, enum az_status st)
{
    struct op *op = &c->it->req->op;
    const struct az_status_row *row = az_status_row(st);
    if (!mcp_goes_on(c->it)) /* denied while the upstream was asked */
        return AZ_OK;
    if (st == AZ_OK && c->call.missing != NULL)
        return mcp_round_refuse(c->it, c->call.missing);
    if (st == AZ_OK && c->call.asked != NULL)
        st = mcp_round_ask(&c->round, &c->target, &c->action, c->call.asked);
    else if (st == AZ_OK && c->call.addresses != NULL)
        st = mcp_round_ask_addresses(&c->round, &c->target, &c->action, c->call.addresses);
    else if (st == AZ_OK)
        c->it->result = c->call.result;
    if (st == AZ_OK)
        return AZ_OK;
    if (calls_is_cancelled(op->az->gateway->calls))
        return tool_call_error(c, AZ_INVALID_REQUEST, "The client has cancelled the call");
    if (st == AZ_INVALID)
        return tool_call_error(c, AZ_INVALID_REQUEST, c->call.why);
    if (st == AZ_LINK_REQUIRED)
        return tool_call_ask_for_link(c);
    if (st == AZ_SERVER_ERROR || st == AZ_UNAVAILABLE || st == AZ_BUSY
        || st == AZ_POLICY_UNAVAILABLE)
        return st;
    return tool_call_error(c, st,
                           op->fault.status == st ? op->fault.public_text : row->description);
}

static enum az_status
call_upstream(struct tool_call *c)
{
    struct mcp_exchange *it = c->it;
    const struct managed_resource *resource = c->tool->resource;
    enum az_status st;
    if (resource->missing != NULL || resource->status == MANAGED_ERROR)
        return tool_call_error(c, AZ_RESOURCE_UNAVAILABLE, "The resource is not ready");
    struct peer_progress progress = {.tell = mcp_stream_progress, .arg = it};
    struct peer_log log = {
        .tell = mcp_stream_log, .arg = it, .level = mcp_stream_log_level(it), .sent = c->logged};
    c->call = (struct mcp_call){
        .op = &it->req->op,
        .tool = c->tool,
        .arguments = c->arguments,
        .caller = &c->caller,
        .obligations = &c->decision.obligations,
        .scope = mcp_scope_of(it, resource),
        .address = it->access.address,
        .round = &c->round,
        .trace = mcp_trace_of(it),
        .progress = mcp_stream_token(it) != NULL ? &progress : NULL,
        .log = log.level != MCP_LOG_UNSAID ? &log : NULL,
    };
    if ((st = resource_secrets(&it->req->op, resource, &c->call.secrets)) != AZ_OK)
        return st;
    /* An approval is for exactly one call: with an answered question it would be another call. */
    if (c->decision.obligations.approve_by_ciba)
        mcp_round_silence(&c->round);
    if (c->began_ms == 0)
        c->began_ms = clock_monotonic_ms();
    c->round.decide = decide_again;
    c->round.decide_arg = c;
    c->round.target = &c->target;
    c->round.action = &c->action;
    st = resource->upstream == MANAGED_MCP ? mcp_call_peer(&c->call) : mcp_call_route(&c->call);
    c->logged = log.sent;
    return finish_call(c, st);
}

/* Check the arguments, after policy: a denied caller learns nothing of the schema from faults. */
static enum az_status
check_arguments(struct tool_call *c)
{
    struct op *op = &c->it->req->op;
    const char *why = NULL;
    enum az_status st = tool_schema_check(op->mem, c->tool->row->input_schema, c->arguments, &why);
    return st == AZ_INVALID ? tool_call_error(c, AZ_INVALID_REQUEST, why)
           : st == AZ_OK    ? st
                            : op_fail(op, st, NULL, "out of memory for a tool call");
}

enum az_status
mcp_call_tool(struct mcp_exchange *it)
{
    static enum az_status (*const steps[])(struct tool_call *) = {
        begin_call,      decide_call,          check_fields,
        check_arguments, tool_call_link_first, tool_call_ask_for_approval,
        call_upstream};
    struct tool_call c = {.it = it};
    enum az_status st = read_tool_call(&c);
    if (st != AZ_OK || c.tool == NULL)
        return st;
    c.holder = (struct gateway_bearer){it->req, it->access.token};
    c.caller = gateway_caller(&c.holder);
    for (size_t i = 0; st == AZ_OK && mcp_goes_on(it) && i < sizeof(steps) / sizeof(steps[0]);
         i++) {
        st = steps[i](&c);
        if (c.round.repeats) /* the next step decides the call again */
            i = 0;
        c.round.repeats = false;
    }
    note_call(&c);
    count_call(&c);
    return st;
}
