#include "config.h"

#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "crypto/digest.h"
#include "gateway/calls.h"
#include "gateway/mcp/message/log_level.h"
#include "gateway/mcp/message/scoped_uri.h"
#include "gateway/mcp/message/stream.h"
#include "gateway/mcp/reads/resources.h"
#include "gateway/mcp/tools/catalogue.h"
#include "gateway/process/gateway_process.h"
#include "store/gateway/resources.h"

/* ---- which there are */

enum az_status
mcp_serves_resources(struct mcp_exchange *it, bool *ret)
{
    struct managed_resources all;
    enum az_status st = mcp_find_resources(it, &all);
    *ret = false;
    for (size_t i = 0; st == AZ_OK && i < all.count; i++)
        *ret = *ret || all.item[i]->has_resources;
    return st;
}

enum az_status
resource_of_uri(struct mcp_exchange *it, const char *text, const struct managed_resource **ret,
                const char **ret_uri)
{
    struct managed_resources all;
    char name[MANAGED_NAME_MAX + 1];
    bool single = it->access.resource != NULL;
    *ret = NULL;
    *ret_uri = text;
    if (text == NULL || (!single && !scoped_uri_split(text, name, ret_uri)))
        return AZ_OK;
    enum az_status st = mcp_find_resources(it, &all);
    for (size_t i = 0; st == AZ_OK && i < all.count; i++)
        if (all.item[i]->has_resources && (single || strcmp(all.item[i]->name, name) == 0))
            *ret = all.item[i];
    return st;
}

/* ---- the upstream */

void
resource_ask_begin(struct mcp_exchange *it, const struct managed_resource *resource,
                   const char *method, struct resource_ask *ret)
{
    *ret = (struct resource_ask){
        .holder = {it->req,              it->access.token                                        },
        .request = {.resource = resource, .message = {.method = method, .trace = mcp_trace_of(it)}},
    };
    ret->caller = gateway_caller(&ret->holder);
    ret->request.caller = &ret->caller;
}

enum az_status
resource_ask_refuse(struct mcp_exchange *it, enum az_status st, const char *text)
{
    const char *message = text != NULL ? text : az_status_row(st)->description;
    op_fail(&it->req->op, st, NULL, "%s", message);
    return mcp_refuse(it, 200, az_status_row(st)->http * 100, message);
}

enum az_status
resource_ask_invalid(struct mcp_exchange *it)
{
    return resource_ask_refuse(it, AZ_UPSTREAM_INVALID, NULL);
}

enum az_status
resource_ask_failed(struct mcp_exchange *it, const struct resource_ask *ask, enum az_status st)
{
    const struct az_fault *fault = &it->req->op.fault;
    if (calls_is_cancelled(it->req->op.az->gateway->calls))
        return resource_ask_refuse(it, AZ_INVALID_REQUEST, "The client has cancelled the request");
    if (st == AZ_SERVER_ERROR || st == AZ_UNAVAILABLE || st == AZ_BUSY)
        return st;
    if (st != AZ_LINK_REQUIRED)
        return resource_ask_refuse(it, st, fault->status == st ? fault->public_text : NULL);
    const char *url = ask->reply.credential.link.url;
    return resource_ask_refuse(
        it, st,
        talloc_asprintf(it->req->op.mem, "Connect your %s account first, at %s",
                        ask->request.resource->display_name, url != NULL ? url : ""));
}

enum az_status
resource_ask_upstream(struct mcp_exchange *it, struct resource_ask *ask)
{
    struct op *op = &it->req->op;
    const struct managed_resource *resource = ask->request.resource;
    if (resource->missing != NULL || resource->status == MANAGED_ERROR)
        return resource_ask_refuse(it, AZ_RESOURCE_UNAVAILABLE, NULL);
    enum az_status st = ask->request.secrets == NULL
                            ? resource_secrets(op, resource, &ask->request.secrets)
                            : AZ_OK;
    if (st != AZ_OK)
        return st;
    if (ask->began_ms == 0)
        ask->began_ms = clock_monotonic_ms();
    st = peer_ask(op, &ask->request, &ask->reply);
    if (!mcp_goes_on(it)) /* denied while the upstream was asked */
        return AZ_OK;
    return st == AZ_OK ? st : resource_ask_failed(it, ask, st);
}

enum az_status
resource_refuse_prompt(struct mcp_exchange *it)
{
    return mcp_refuse(it, 200, RPC_INVALID_PARAMS, "Unknown prompt");
}

/* ---- policy */

void
resource_call_note(struct resource_call *c)
{
    char sha256[SHA256_HEX_SIZE];
    const char *name = c->action.name;
    bool hashed = !c->prompt && sha256_hex(name, strlen(name), sha256) == AZ_OK;
    struct jsonx_build summary = {
        jsonx_own(c->it->req->op.mem,
                  json_pack("{s:s,s:s,s:s*,s:s*,s:s}", "resource", c->ask.request.resource->name,
                            "kind", c->action.kind, "prompt", c->prompt ? name : NULL, "uri_sha256",
                            hashed ? sha256 : NULL, "mcp_version", c->it->version.name)),
        false};
    if (c->round.state.round > 0)
        jsonx_set(&summary, "round", mcp_round_note(&c->round));
    mcp_note(c->it, &summary, c->ask.began_ms, c->ask.reply.status, c->ask.reply.octets);
}

enum az_status
resource_call_list(struct resource_call *c, const struct gateway_target *target,
                   const struct gateway_tool *asked, size_t count, enum gateway_verdict *verdicts)
{
    struct mcp_exchange *it = c->it;
    struct gateway_tools_question question = {
        .holder = {.mcp_version = it->version.name, .mcp_method = it->message.method},
        .resources = target,
        .resource_count = 1,
        .tools = asked,
        .tool_count = count,
    };
    return gateway_decide_tools(it->req, &it->access, &question, verdicts);
}

/* Find out if a list hides the prompt of a call from the caller, who then gets the answer for an
 * unknown prompt. */
static enum az_status
is_hidden(struct resource_call *c, const struct gateway_target *target, bool *ret)
{
    enum gateway_verdict verdict = GATEWAY_DENY;
    struct gateway_tool prompt = {0, c->action};
    prompt.action.kind = "prompt";
    enum az_status st = resource_call_list(c, target, &prompt, 1, &verdict);
    *ret = verdict == GATEWAY_DENY;
    return st;
}

/* Answer that policy denies the call. The audit row keeps the decision about it. */
static enum az_status
refuse_call(struct resource_call *c, const struct gateway_target *target)
{
    struct mcp_exchange *it = c->it;
    const struct audit_entry decided = it->req->audit;
    const char *codes = gateway_codes(it->req->op.mem, c->decision.reasons);
    bool hidden = false;
    enum az_status st = c->prompt ? is_hidden(c, target, &hidden) : AZ_OK;
    it->req->audit = decided;
    if (st != AZ_OK)
        return st;
    resource_ask_refuse(it, AZ_FORBIDDEN,
                        talloc_asprintf(it->req->op.mem, "Denied: %s", codes != NULL ? codes : ""));
    return hidden ? resource_refuse_prompt(it) : AZ_OK;
}

/* Refuse the completion of a prompt that a list hides. */
static enum az_status
look_for_prompt(struct resource_call *c, const struct gateway_target *target)
{
    bool hidden = false;
    if (!c->prompt || strcmp(c->action.kind, "completion") != 0)
        return AZ_OK;
    enum az_status st = is_hidden(c, target, &hidden);
    if (st != AZ_OK || !hidden)
        return st;
    op_fail(&c->it->req->op, AZ_FORBIDDEN, NULL, "Denied: the list hides the prompt");
    return resource_refuse_prompt(c->it);
}

/* Return the question about a call. Unless the action says otherwise, the obligations are those
 * that a tool call can meet, except approval: a person approves a tool call only. */
static struct gateway_question
question_of(const struct resource_call *c, const struct gateway_target *target)
{
    const struct mcp_exchange *it = c->it;
    return (struct gateway_question){
        .holder = {.mcp_version = it->version.name, .mcp_method = it->message.method},
        .resource = *target,
        .action = c->action,
        .arguments = c->arguments,
        .answers = c->round.answers,
        .always = c->always,
        .obligations =
            c->obligations != 0 ? c->obligations : GATEWAY_RESPONSE_MAX_BYTES | GATEWAY_HEADERS,
    };
}

enum az_status
resource_call_may(struct resource_call *c, const char **ret_revision)
{
    struct request *req = c->it->req;
    const struct audit_entry before = req->audit;
    void (*const more)(struct request *) = req->audit_more; /* that the row still needs */
    struct gateway_target target;
    bool linked;
    enum az_status st =
        mcp_target(&req->op, &c->ask.caller, c->ask.request.resource, &linked, &target);
    if (st != AZ_OK)
        return st;
    struct gateway_question question = question_of(c, &target);
    st = gateway_decide(req, &c->it->access, &question, &c->decision);
    req->audit = before;
    req->audit_more = more;
    *ret_revision = st == AZ_OK && c->decision.allow ? c->decision.revision : NULL;
    return st;
}

/* Ask policy. */
static enum az_status
decide_call(struct resource_call *c, const struct gateway_target *target)
{
    struct mcp_exchange *it = c->it;
    struct gateway_question question = question_of(c, target);
    const char *why;
    enum az_status st = mcp_round_look(&c->round, &question, &why);
    if (st == AZ_OK && why != NULL)
        return resource_ask_refuse(it, AZ_FORBIDDEN,
                                   talloc_asprintf(it->req->op.mem, "Denied: %s", why));
    if (st == AZ_OK)
        st = gateway_decide(it->req, &it->access, &question, &c->decision);
    if (st != AZ_OK || c->decision.allow)
        return st;
    if (c->decision.step_up == NULL)
        return refuse_call(c, target);
    resource_call_note(c); /* before the row is written */
    return gateway_refuse(it->req, &it->access, &question, &c->decision);
}

enum az_status
resource_call_decide(struct resource_call *c, struct gateway_target *ret)
{
    struct op *op = &c->it->req->op;
    bool linked;
    enum az_status st = mcp_target(op, &c->ask.caller, c->ask.request.resource, &linked, ret);
    if (c->action.scopes == NULL)
        c->action.scopes = mcp_default_scopes(op->mem, c->ask.request.resource);
    if (st == AZ_OK && c->action.scopes == NULL)
        st = op_no_memory(op);
    if (st == AZ_OK)
        st = look_for_prompt(c, ret);
    return st == AZ_OK && mcp_goes_on(c->it) ? decide_call(c, ret) : st;
}

/* ---- rounds */

static bool
may_be_asked(const struct resource_call *c)
{
    return strcmp(c->action.kind, "completion") != 0;
}

/* Begin the call, or go on with it where the upstream asked for answers. */
static enum az_status
begin_call(struct resource_call *c)
{
    const struct upstream_caller *caller = &c->ask.caller;
    const struct stated_call call = {
        .person = caller->person,
        .subject = caller->subject,
        .idp = caller->idp,
        .client_id = caller->client_id,
        .method = c->it->message.method,
        .resource = c->ask.request.resource->name,
        .server = c->ask.request.resource->upstream_url,
        .name = c->action.name,
        .arguments = c->arguments,
    };
    return may_be_asked(c) ? mcp_round_begin(c->it, c->ask.request.resource, &call, &c->round)
                           : AZ_OK;
}

/* Take the answer of the upstream: it may ask for input, or want to. */
static enum az_status
take_reply(struct resource_call *c, const struct gateway_target *target)
{
    struct mcp_exchange *it = c->it;
    if (!may_be_asked(c))
        return AZ_OK;
    json_t *lacks = mcp_round_lacks(&c->round, c->ask.reply.error);
    if (lacks != NULL)
        return mcp_round_refuse(it, lacks);
    if (!mcp_round_is_asked(&c->ask.reply))
        return AZ_OK;
    enum az_status st = mcp_round_ask(&c->round, target, &c->action, c->ask.reply.result);
    return st == AZ_FORBIDDEN || st == AZ_UPSTREAM_INVALID || st == AZ_RESOURCE_UNAVAILABLE
               ? resource_ask_refuse(it, st, it->req->op.fault.public_text)
               : st;
}

/* Decide the call once more, while an upstream of an older version answers. The obligations must be
 * those that the running call meets. */
static enum az_status
decide_again(void *arg)
{
    struct resource_call *c = arg;
    const struct gateway_obligations before = c->decision.obligations;
    enum az_status st = decide_call(c, &c->target);
    if (st == AZ_OK && mcp_goes_on(c->it)
        && !mcp_round_same_duties(&before, &c->decision.obligations))
        st = resource_ask_refuse(c->it, AZ_FORBIDDEN,
                                 "Denied: with the answers policy demands other things");
    return st == AZ_OK && !mcp_goes_on(c->it) ? AZ_FORBIDDEN : st;
}

/* Pass on to the caller what the upstream sends before its answer, and answer its questions. */
static void
listen_to_upstream(struct resource_call *c)
{
    struct mcp_exchange *it = c->it;
    struct peer_request *request = &c->ask.request;
    int level = mcp_stream_log_level(it);
    if (!may_be_asked(c))
        return;
    c->progress = (struct peer_progress){.tell = mcp_stream_progress, .arg = it};
    request->message.progress = mcp_stream_token(it) != NULL;
    request->progress = request->message.progress ? &c->progress : NULL;
    c->log =
        (struct peer_log){.tell = mcp_stream_log, .arg = it, .level = level, .sent = c->log.sent};
    request->log = level != MCP_LOG_UNSAID ? &c->log : NULL;
    request->message.log_level = mcp_log_word(level);
    c->round.decide = decide_again;
    c->round.decide_arg = c;
    c->round.target = &c->target;
    c->round.action = &c->action;
    request->asker = mcp_round_asker(&c->round);
}

/* Ask policy and the upstream once. */
static enum az_status
ask_once(struct resource_call *c, json_t *params)
{
    struct mcp_exchange *it = c->it;
    enum az_status st = resource_call_decide(c, &c->target);
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    if (params == NULL || !mcp_round_add(&c->round, params))
        return op_no_memory(&it->req->op);
    c->ask.request.message.params = params;
    c->ask.request.message.capabilities = c->round.capabilities;
    c->ask.request.message.round = c->round.state.round;
    c->ask.request.policy_headers = c->decision.obligations.headers;
    c->ask.request.max_answer = (size_t) c->decision.obligations.response_max_bytes;
    listen_to_upstream(c);
    st = resource_ask_upstream(it, &c->ask);
    return st == AZ_OK && mcp_goes_on(it) ? take_reply(c, &c->target) : st;
}

enum az_status
resource_call_ask(struct resource_call *c, json_t *params)
{
    enum az_status st = begin_call(c);
    while (st == AZ_OK && mcp_goes_on(c->it)) {
        c->round.repeats = false;
        st = ask_once(c, params);
        if (!c->round.repeats)
            break;
    }
    return st;
}
