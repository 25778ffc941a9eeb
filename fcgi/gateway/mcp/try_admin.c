#include "config.h"

#include "gateway/mcp/try_admin.h"

#include <string.h>

#include "admin/credential.h"
#include "admin/trial_place.h"
#include "base/clock.h"
#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "gateway/door.h"
#include "gateway/mcp/message/tool_schema.h"
#include "gateway/mcp/message/version.h"
#include "gateway/mcp/tools/call_upstream.h"
#include "gateway/mcp/try_token.h"
#include "managed/auth.h"
#include "policy/decide/gateway_answer.h"
#include "policy/trial/evaluate.h"
#include "store/clients/clients.h"

/* One request and what comes of it. */
struct tool_trial {
    struct request *req;
    const char *client_id, *subject, *idp, *scope;
    json_t *given; /* arguments */
    bool call;
    const struct managed_resource *resource;
    struct mcp_tool tool;
    struct trial_place place; /* while policy is asked */
    json_t *arguments;
    struct upstream_caller caller;
    struct client *client;
    struct try_token token;
    const char *asked; /* the question that decided: token or call */
    struct gateway_decision decision;
    json_t *reasons, *output;
    const char *revision;
    struct mcp_round round; /* in which the upstream may ask nothing */
    struct mcp_call done;
    const char *why; /* nothing was sent although policy allows it; or NULL */
    bool sent;
    int64_t ms;
};

/* clang-format off */
static const struct field try_fields[] = {
    {"clientId",  FIELD_TEXT,    .required = true, .max = FIELD_URI_MAX,
     FIELD_INTO(struct tool_trial, client_id), .help = "Client that would call the tool",
     .example = "\"support-agent\""},
    {"subject",   FIELD_TEXT,    .max = FIELD_SUBJECT_MAX, FIELD_INTO(struct tool_trial, subject),
     .help = "Person for whom it would; the client itself if it is left out",
     .example = "\"u-48213\""},
    {"idp",       FIELD_TEXT,    .max = FIELD_NAME_MAX, FIELD_INTO(struct tool_trial, idp),
     .help = "Identity provider of the person; that of the last sign-in if it is left out. A "
             "person who has not signed in yet needs it"},
    {"scope",     FIELD_TEXT,    .may_be_empty = true, .max = FIELD_URI_MAX,
     FIELD_INTO(struct tool_trial, scope),
     .help = "Scopes of its token, with blanks between; those that the tool needs if it is "
             "left out", .example = "\"orders.refund\""},
    {"arguments", FIELD_OBJECT,  FIELD_INTO(struct tool_trial, given),
     .help = "Arguments of the call", .example = "{\"order\": \"H-20931\"}"},
    {"call",      FIELD_BOOLEAN, FIELD_INTO(struct tool_trial, call),
     .help = "true: call the tool if policy allows it; the upstream gets a real request",
     .example = "false"},
};
static const struct field answer_try_fields[] = {
    {"allow",          FIELD_BOOLEAN,   .required = true, .help = "Policy allows the call",
     .example = "true"},
    {"denyReasons",    FIELD_ARRAY,     .required = true,
     .help = "Reasons of a denial: code, category, message, control", .example = "[]"},
    {"stepUp",         FIELD_TEXT_LIST, .help = "Scopes that the token would need"},
    {"obligations",    FIELD_OBJECT,    .help = "What policy demands of an allowed call"},
    {"asked",          FIELD_TEXT,      .required = true,
     .help = "The question that decided: token (would there be one that is good at the gateway) or "
             "call", .example = "\"call\""},
    {"revision",       FIELD_TEXT,      .required = true,
     .help = "Revision of the policy that decided", .example = "\"d677d5b1db35b469\""},
    {"sent",           FIELD_BOOLEAN,   .required = true, .help = "The upstream was asked",
     .example = "false"},
    {"why",            FIELD_TEXT,
     .help = "Reason why nothing was sent, or no result came, although policy allows the call"},
    {"result",         FIELD_OBJECT,    .help = "Result of tools/call"},
    {"upstreamStatus", FIELD_INTEGER,   .help = "Status code of the upstream"},
    {"ms",             FIELD_INTEGER,   .help = "Milliseconds of the call"},
};
/* clang-format on */
const struct field_table tool_try_table = FIELD_TABLE("ToolTrial", try_fields, 0);
const struct field_table answer_tool_try =
    FIELD_TABLE("ToolTrialReport", answer_try_fields, FIELDS_ANSWER);

/* ---- reading */

static enum az_status
find_tool(struct tool_trial *it)
{
    struct op *op = &it->req->op;
    enum az_status st = resource_find(op, it->req->path_value[0], &it->resource);
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; it->resource != NULL && i < it->resource->tools; i++)
        if (strcmp(it->resource->tool[i].name, it->req->path_value[1]) == 0)
            it->tool = (struct mcp_tool){it->resource, &it->resource->tool[i],
                                         it->resource->tool[i].single.shown, NULL};
    return it->tool.row != NULL ? AZ_OK
                                : op_fail(op, AZ_NOT_FOUND, NULL, "no such resource or tool");
}

static enum az_status
find_client(struct tool_trial *it)
{
    enum az_status st = client_fetch(&it->req->op, it->client_id, true, &it->client);
    return st == AZ_OK && it->client == NULL
               ? request_invalid_field(it->req, "clientId", "names no client")
               : st;
}

static enum az_status
read_arguments(struct tool_trial *it)
{
    TALLOC_CTX *mem = it->req->op.mem;
    it->arguments = it->given != NULL
                        ? tool_schema_drop_nulls(mem, it->tool.row->input_schema, it->given)
                        : jsonx_own(mem, json_object());
    return it->arguments != NULL ? AZ_OK : op_no_memory(&it->req->op);
}

static enum az_status
read_trial(struct tool_trial *it)
{
    struct request *req = it->req;
    enum az_status st =
        fields_read(req->op.mem, &tool_try_table, req->json, request_field_fault, req, it, NULL);
    if (st == AZ_INVALID)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    return st == AZ_OK ? AZ_OK : op_fail(&req->op, st, NULL, "out of memory for a trial");
}

enum az_status
tool_try_check(struct request *req)
{
    return json_is_true(json_object_get(req->json, "call"))
               ? admin_require(req, ADMIN_ROLE_OPERATOR)
               : AZ_OK;
}

/* An auditor's arguments need not be such as a call may have, so a rule may not end for them. */
static enum az_status
check_rules(struct tool_trial *it)
{
    return trial_check_live(&it->req->op, "a tool is tried by the questions of its call");
}

/* ---- asking */

/* Ask if the client would have a token for the call. A denial is one of the call. */
static enum az_status
ask_token(struct tool_trial *it)
{
    struct op *op = &it->req->op;
    it->token = (struct try_token){
        .req = it->req,
        .client = it->client,
        .subject = it->subject,
        .idp = it->idp,
        .wanted = it->scope != NULL ? words_split(op->mem, it->scope) : it->tool.row->scopes,
        .address = talloc_asprintf(op->mem, "%s/gateway/mcp/%s", op->az->cfg->oidc_issuer,
                                   it->resource->name),
    };
    if (it->token.wanted == NULL || it->token.address == NULL)
        return op_no_memory(op);
    enum az_status st = try_token_ask(&it->token);
    it->caller = (struct upstream_caller){
        .subject = it->subject, .idp = it->token.idp, .client_id = it->client_id};
    it->revision = it->token.revision;
    it->reasons = it->token.reasons;
    return st;
}

/* Return what the token would say of its holder. */
static struct gateway_holder
trial_holder(const struct tool_trial *it)
{
    return (struct gateway_holder){
        .frame = {.endpoint = TRY_CALLED_AT,
                  .ip = it->req->ip,
                  .user_agent = it->req->user_agent,
                  .client = it->client,
                  .auth_method = it->token.auth_method},
        .subject = it->token.holder,
        .scopes = it->token.scopes,
        .resource = it->token.address,
        .issued_at = op_now(&it->req->op),
        .expires_at = it->token.expires_at,
        .bound = it->client->dpop_bound,
        .baseline = it->token.baseline,
        .mcp_version = MCP_MODERN,
        .mcp_method = "tools/call",
    };
}

static enum az_status
ask_call(struct op *op, const void *question, void *answer, struct verdict *ret)
{
    return gateway_ask(op, question, answer, ret);
}

static enum az_status
decide_trial(struct tool_trial *it)
{
    struct op *op = &it->req->op;
    const struct managed_route *route = it->tool.row->route;
    struct verdict verdict = {.input = NULL};
    struct gateway_question question = {
        .holder = trial_holder(it),
        .action = mcp_describe_tool(&it->tool),
        .arguments = it->arguments,
        .always = route != NULL ? route->obligations : NULL,
        .obligations =
            gateway_obligations_of("tool", managed_upstream_word(it->resource->upstream)),
    };
    bool linked;
    if (it->reasons != NULL) /* there is no token */
        return AZ_OK;
    enum az_status st = mcp_target(op, &it->caller, it->resource, &linked, &question.resource);
    if (st == AZ_OK)
        st = try_ask_until(op, ask_call, &question, &it->decision, &verdict);
    it->asked = "call";
    it->revision = verdict.decision.revision;
    it->reasons = it->decision.reasons;
    it->output = verdict.decision.output;
    return st;
}

/* ---- calling */

/* Return why the call is not made although policy allows it, or NULL. */
static const char *
call_held_back(struct tool_trial *it)
{
    const char *why = NULL;
    if (!it->resource->enabled || !it->tool.row->served)
        return "The gateway does not serve the tool: it is off, hidden, or waits for approval";
    if (it->resource->missing != NULL || it->resource->status == MANAGED_ERROR)
        return "The resource is not ready";
    if (it->subject != NULL && !it->token.met)
        return "The person has not signed in by this provider";
    if (it->subject != NULL && managed_auth_is_linked(it->resource->auth.type))
        return "The upstream wants the account that the person connected, which is for the person "
               "alone";
    if (it->decision.obligations.approve_by_ciba)
        return "Policy demands that the person approves each call, which an operator cannot do";
    return tool_schema_check(it->req->op.mem, it->tool.row->input_schema, it->arguments, &why)
                   == AZ_OK
               ? NULL
           : why != NULL ? why
                         : "The arguments could not be checked";
}

/* Make the call. A failure of the upstream is a part of the answer. */
static enum az_status
call_trial(struct tool_trial *it)
{
    struct op *op = &it->req->op;
    if (!it->call || !it->decision.allow || (it->why = call_held_back(it)) != NULL)
        return AZ_OK;
    it->round = (struct mcp_round){.capabilities = jsonx_own(op->mem, json_object())};
    if (it->round.capabilities == NULL)
        return op_no_memory(op);
    it->done = (struct mcp_call){
        .op = op,
        .tool = &it->tool,
        .arguments = it->arguments,
        .caller = &it->caller,
        .obligations = &it->decision.obligations,
        .address = it->token.address,
        .round = &it->round,
    };
    enum az_status st = resource_secrets(op, it->resource, &it->done.secrets);
    const int64_t began = clock_monotonic_ms();
    if (st != AZ_OK)
        return st;
    st = it->resource->upstream == MANAGED_MCP ? mcp_call_peer(&it->done)
                                               : mcp_call_route(&it->done);
    it->ms = clock_monotonic_ms() - began;
    it->sent = st != AZ_INVALID && st != AZ_USER_REQUIRED;
    if (it->done.asked != NULL)
        it->why = "The upstream asks for input, which only a client can give";
    if (st == AZ_OK || st == AZ_SERVER_ERROR || st == AZ_UNAVAILABLE || st == AZ_BUSY)
        return st;
    it->why = st == AZ_INVALID ? it->done.why : az_status_row(st)->description;
    az_fault_clear(&op->fault);
    return AZ_OK;
}

/* ---- answering */

/* Note the trial in the audit row, which is the operator's: no question or answer is stored, or the
 * row would count as a decision for the client. */
static void
note_trial(const struct tool_trial *it)
{
    struct request *req = it->req;
    req->audit.summary = jsonx_dump(
        req->op.mem,
        jsonx_own(req->op.mem, json_pack("{s:s,s:s,s:s*,s:s*,s:s,s:b,s:b}", "resource",
                                         req->path_value[0], "tool", req->path_value[1],
                                         "triedClient", it->client_id, "triedSubject", it->subject,
                                         "decided", it->decision.allow ? "allow" : "deny", "call",
                                         it->call, "sent", it->sent)));
}

static enum az_status
respond_try(struct tool_trial *it)
{
    struct jsonx_build body = {
        jsonx_own(it->req->op.mem,
                  json_pack("{s:b,s:O,s:O*,s:O*,s:s,s:s,s:b,s:s*,s:O*}", "allow",
                            it->decision.allow, "denyReasons", it->reasons, "stepUp",
                            it->decision.step_up, "obligations",
                            it->decision.allow ? json_object_get(it->output, "obligations") : NULL,
                            "revision", it->revision, "asked", it->asked, "sent", it->sent, "why",
                            it->why, "result", it->done.result)),
        false};
    if (it->sent && it->done.status != 0)
        jsonx_set(&body, "upstreamStatus", json_integer(it->done.status));
    if (it->sent)
        jsonx_set(&body, "ms", json_integer((json_int_t) it->ms));
    return respond_json(it->req, 200, jsonx_built(&body));
}

static enum az_status
take_place(struct tool_trial *it)
{
    return trial_place_take(it->req, &it->place);
}

enum az_status
tool_try_handle(struct request *req)
{
    static enum az_status (*const steps[])(struct tool_trial *) = {
        read_trial, find_tool, find_client,  read_arguments, check_rules,
        take_place, ask_token, decide_trial, call_trial};
    struct tool_trial it = {.req = req, .asked = "token"};
    enum az_status st = AZ_OK;
    for (size_t i = 0; st == AZ_OK && i < sizeof(steps) / sizeof(steps[0]); i++)
        st = steps[i](&it);
    trial_place_drop(&it.place);
    note_trial(&it);
    return st == AZ_OK ? respond_try(&it) : st;
}
