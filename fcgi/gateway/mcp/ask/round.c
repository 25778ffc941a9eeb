#include "config.h"

#include "gateway/mcp/ask/round.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "gateway/mcp/ask/answer.h"
#include "gateway/mcp/ask/await.h"
#include "gateway/mcp/ask/round_private.h"
#include "gateway/mcp/peer/peer.h"
#include "gateway/mcp/peer/peer_message.h"

/* ---- the call as it came */

/* Answer that the call does not fit what was asked. */
static enum az_status
refuse_round(struct mcp_exchange *it, const char *why)
{
    return mcp_refuse(it, 400, RPC_INVALID_PARAMS, why);
}

static enum az_status
read_state(struct mcp_round *round)
{
    struct mcp_exchange *it = round->it;
    const json_t *state = json_object_get(it->message.params, "requestState");
    if (state == NULL)
        return AZ_OK;
    enum az_status st = json_is_string(state) ? request_state_read(
                            &it->req->op, json_string_value(state), &round->call, &round->state)
                                              : AZ_INVALID;
    round->again = st == AZ_OK;
    return st == AZ_INVALID ? refuse_round(it, "requestState is not of this call, or has expired")
                            : st;
}

static enum az_status
read_answers(struct mcp_round *round)
{
    struct mcp_exchange *it = round->it;
    const json_t *responses = json_object_get(it->message.params, "inputResponses");
    const char *key = NULL;
    if (responses == NULL || round->state.questions == NULL)
        return AZ_OK;
    enum az_status st =
        answers_read(it->req->op.mem, round->state.questions, responses, &round->answers, &key);
    if (st != AZ_INVALID)
        return st;
    round->answers = NULL;
    return refuse_round(
        it, key != NULL ? talloc_asprintf(it->req->op.mem,
                                          "inputResponses.%s does not fit its question", key)
                        : "inputResponses is not an object of answers, or too large");
}

enum az_status
mcp_round_begin(struct mcp_exchange *it, const struct managed_resource *resource,
                const struct stated_call *call, struct mcp_round *ret)
{
    struct op *op = &it->req->op;
    enum az_status st = AZ_OK;
    *ret = (struct mcp_round){.it = it, .resource = resource, .call = *call};
    ret->capabilities = question_capabilities(op->mem, it->version.capabilities,
                                              &resource->interaction, call->subject != NULL);
    if (ret->capabilities == NULL)
        st = AZ_SERVER_ERROR;
    if (st == AZ_OK && !it->version.modern && !mcp_may_await(it))
        json_object_clear(ret->capabilities);
    if (st == AZ_OK && it->version.modern)
        st = read_state(ret);
    if (st == AZ_OK && mcp_goes_on(it))
        st = read_answers(ret);
    return st == AZ_SERVER_ERROR ? op_fail(op, st, NULL, "out of memory for the state of a call")
                                 : st;
}

void
mcp_round_silence(struct mcp_round *round)
{
    json_object_clear(round->capabilities);
}

bool
mcp_round_add(const struct mcp_round *round, json_t *params)
{
    json_object_del(params, "inputResponses");
    json_object_del(params, "requestState"); /* of an earlier round */
    return (json_object_size(round->answers) == 0
            || json_object_set(params, "inputResponses", round->answers) == 0)
           && (round->state.upstream == NULL
               || json_object_set_new(params, "requestState", json_string(round->state.upstream))
                      == 0);
}

json_t *
mcp_round_note(const struct mcp_round *round)
{
    return json_integer(round->state.round);
}

json_t *
mcp_round_lacks(const struct mcp_round *round, const json_t *error)
{
    const json_t *has =
        round->it != NULL && round->it->version.modern ? round->it->version.capabilities : NULL;
    json_t *needed = has != NULL && peer_error_is(error, RPC_MISSING_CAPABILITY)
                         ? peer_capabilities(round->it->req->op.mem, error)
                         : NULL;
    return needed != NULL && !mcp_has_capabilities(has, needed) ? needed : NULL;
}

enum az_status
mcp_round_refuse(struct mcp_exchange *it, json_t *lacks)
{
    mcp_refuse(it, 400, RPC_MISSING_CAPABILITY, "The upstream needs capabilities of the client");
    it->fault.data = jsonx_own(it->req->op.mem, json_pack("{s:O}", "requiredCapabilities", lacks));
    return AZ_OK;
}

/* ---- the upstream asks */

bool
mcp_round_is_asked(const struct peer_reply *reply)
{
    const char *type = json_string_value(json_object_get(reply->result, "resultType"));
    return reply->modern && type != NULL && strcmp(type, "input_required") == 0;
}

/* Decide about one question. The call keeps its place in the audit row unless a question is denied:
 * then the row says which. */
static enum az_status
decide_question(struct mcp_round *round, const struct gateway_target *target,
                const struct gateway_action *call, const struct asked_question *asked)
{
    struct mcp_exchange *it = round->it;
    const struct audit_entry before = it->req->audit;
    struct gateway_decision decision = {.allow = false};
    struct gateway_question question = {
        .holder = {.mcp_version = it->version.name, .mcp_method = it->message.method},
        .resource = *target,
        .action = { .kind = asked->kind,            .name = asked->name,           .scopes = call->scopes},
        .arguments = asked->seen,
        .answers = round->answers,
        .call = call,
        .obligations = GATEWAY_RESPONSE_MAX_BYTES | GATEWAY_HEADERS,
    };
    enum az_status st = gateway_decide(it->req, &it->access, &question, &decision);
    if (st == AZ_OK && decision.allow)
        it->req->audit = before;
    if (st != AZ_OK || decision.allow)
        return st;
    const char *codes = gateway_codes(it->req->op.mem, decision.reasons);
    const char *text = talloc_asprintf(it->req->op.mem, "Denied: %s", codes != NULL ? codes : "");
    return op_fail(&it->req->op, AZ_FORBIDDEN, text, "a question of the upstream of %s is denied",
                   round->resource->name);
}

/* Return the host of an address in lower case, or "" if the address has no host. */
static const char *
host_of(TALLOC_CTX *mem, const char *address)
{
    struct uri uri;
    return address != NULL && uri_parse(mem, address, &uri) == AZ_OK && uri.host != NULL ? uri.host
                                                                                         : "";
}

enum az_status
round_take_questions(struct mcp_round *round, const struct gateway_target *target,
                     const struct gateway_action *call, const json_t *requests,
                     struct asked_questions *ret)
{
    struct op *op = &round->it->req->op;
    const struct managed_resource *resource = round->resource;
    const struct question_rules rules = {
        .name = resource->display_name,
        .capabilities = round->capabilities,
        .host = host_of(op->mem, resource->upstream_url),
        .hosts = resource->interaction.url_hosts,
        .issuer_host = host_of(op->mem, op->az->cfg->oidc_issuer),
    };
    const char *why = NULL;
    enum az_status st = questions_read(op->mem, &rules, requests, ret, &why);
    if (st == AZ_FORBIDDEN)
        return op_fail(op, st, talloc_asprintf(op->mem, "Denied: %s", why),
                       "the upstream of %s may not ask this: %s", resource->name, why);
    if (st != AZ_OK)
        return op_fail(op, st == AZ_INVALID ? AZ_UPSTREAM_INVALID : st, NULL,
                       "a question of the upstream of %s is not one that MCP has", resource->name);
    for (size_t i = 0; st == AZ_OK && i < ret->count; i++)
        st = decide_question(round, target, call, &ret->item[i]);
    return st;
}

enum az_status
round_give_questions(struct mcp_round *round, const struct asked_questions *questions,
                     const char *upstream)
{
    struct op *op = &round->it->req->op;
    struct jsonx_build asked = {jsonx_own(op->mem, json_object()), false},
                       fits = {jsonx_own(op->mem, json_object()), false};
    for (size_t i = 0; i < questions->count; i++) {
        jsonx_set(&asked, questions->item[i].key, json_incref(questions->item[i].request));
        jsonx_set(&fits, questions->item[i].key, json_incref(questions->item[i].fits));
    }
    round->state = (struct request_state){
        .round = round->state.round + 1, .questions = jsonx_built(&fits), .upstream = upstream};
    const char *state = jsonx_built(&fits) != NULL && jsonx_built(&asked) != NULL
                            ? request_state_make(op, &round->call, &round->state)
                            : NULL;
    json_t *requests = questions->count > 0 ? asked.value : NULL;
    round->it->result =
        state != NULL
            ? jsonx_own(op->mem, json_pack("{s:s,s:O*,s:s}", "resultType", "input_required",
                                           "inputRequests", requests, "requestState", state))
            : NULL;
    return round->it->result != NULL ? AZ_OK : op_no_memory(op);
}

/* ---- older clients */

/* Key of a request of an older upstream, which has no name. */
#define REQUEST_KEY "request"

/* Ask the client, and wait for the answers. */
static enum az_status
await_answers(struct mcp_round *round, const struct asked_questions *questions,
              const char *upstream)
{
    const struct upstream_caller caller = {.person = round->call.person,
                                           .subject = round->call.subject,
                                           .idp = round->call.idp,
                                           .client_id = round->call.client_id};
    enum az_status st = AZ_OK;
    round->answers = NULL;
    if (questions->count > 0)
        st = mcp_await_answers(round->it, round->resource->name, &caller, questions,
                               &round->answers);
    round->state = (struct request_state){.round = round->state.round + 1, .upstream = upstream};
    round->waited = true;
    return st;
}

enum az_status
mcp_round_look(const struct mcp_round *round, const struct gateway_question *question,
               const char **ret_why)
{
    *ret_why = NULL;
    return round->waited ? gateway_look_again(round->it->req, &round->it->access, round->resource,
                                              question, ret_why)
                         : AZ_OK;
}

bool
mcp_round_same_duties(const struct gateway_obligations *one,
                      const struct gateway_obligations *other)
{
    const json_t *a = one->headers, *b = other->headers;
    bool same_headers = json_object_size(a) == 0 ? json_object_size(b) == 0 : json_equal(a, b) != 0;
    return same_headers && one->response_max_bytes == other->response_max_bytes
           && one->approve_by_ciba == other->approve_by_ciba;
}

enum az_status
round_refuse_more(const struct mcp_round *round)
{
    return op_fail(&round->it->req->op, AZ_UPSTREAM_INVALID, "The upstream asks too often",
                   "the upstream of %s asks more than %d times in one call", round->resource->name,
                   ROUNDS_MAX);
}

/* Read and decide the question that a request of an older upstream is. */
static enum az_status
take_request(struct mcp_round *round, const struct json_rpc *request, struct asked_questions *ret)
{
    struct op *op = &round->it->req->op;
    json_t *asked = jsonx_own(op->mem, json_pack("{s:{s:s,s:O*}}", REQUEST_KEY, "method",
                                                 request->method, "params", request->params));
    if (round->state.round >= ROUNDS_MAX)
        return round_refuse_more(round);
    return asked != NULL ? round_take_questions(round, round->target, round->action, asked, ret)
                         : op_no_memory(op);
}

/* Answer a request of an older upstream. It is a question like the questions of modern upstreams,
 * and the call is decided again with the answer before the upstream gets it. */
static enum az_status
answer_request(void *arg, const struct json_rpc *request, const char **ret_answer)
{
    struct mcp_round *round = arg;
    struct op *op = &round->it->req->op;
    struct asked_questions questions;
    if (!question_is_known(request->method)) {
        *ret_answer = peer_answer(op->mem, request);
        return *ret_answer != NULL ? AZ_OK : AZ_SERVER_ERROR;
    }
    enum az_status st = take_request(round, request, &questions);
    if (st == AZ_OK)
        st = await_answers(round, &questions, NULL);
    if (st == AZ_OK)
        st = round->decide(round->decide_arg);
    if (st != AZ_OK)
        return st;
    json_t *answer = json_object_get(round->answers, REQUEST_KEY);
    *ret_answer =
        jsonx_dump(op->mem, jsonx_own(op->mem, json_rpc_result(request->id, json_incref(answer))));
    return *ret_answer != NULL ? AZ_OK : op_no_memory(op);
}

const struct peer_asker *
mcp_round_asker(struct mcp_round *round)
{
    if (round->it == NULL || round->it->version.modern
        || json_object_size(round->capabilities) == 0)
        return NULL;
    round->asker = (struct peer_asker){answer_request, round};
    return &round->asker;
}

/* ---- a result that asks */

enum az_status
mcp_round_ask(struct mcp_round *round, const struct gateway_target *target,
              const struct gateway_action *action, const json_t *result)
{
    struct op *op = &round->it->req->op;
    const json_t *requests = json_object_get(result, "inputRequests"),
                 *state = json_object_get(result, "requestState");
    const char *upstream = json_string_value(state);
    bool modern = round->it->version.modern;
    struct asked_questions questions;
    if ((!modern && json_object_size(round->capabilities) == 0)
        || (json_object_size(requests) == 0 && state == NULL)
        || (state != NULL
            && (!json_is_string(state) || json_string_length(state) > REQUEST_STATE_UPSTREAM_MAX)))
        return op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                       "the upstream of %s asks for input, but not as MCP says",
                       round->resource->name);
    if (round->state.round >= ROUNDS_MAX)
        return round_refuse_more(round);
    enum az_status st = round_take_questions(round, target, action, requests, &questions);
    if (st == AZ_OK && !modern)
        st = await_answers(round, &questions, upstream);
    else if (st == AZ_OK)
        st = round_give_questions(round, &questions, upstream);
    round->repeats = st == AZ_OK && !modern;
    return st;
}
