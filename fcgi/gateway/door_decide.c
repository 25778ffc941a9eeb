#include "config.h"

#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/words.h"
#include "gateway/door_private.h"
#include "oauth/dpop/dpop.h"
#include "store/gateway/resources.h"
#include "token/issue.h"
#include "token/show.h"

/* ---- the question */

struct gateway_target
gateway_target_of(const struct managed_resource *resource, const bool *linked)
{
    return (struct gateway_target){
        .name = resource->name,
        .type = resource->resource_type,
        .upstream_type = managed_upstream_word(resource->upstream),
        .connector_id = resource->connector_id,
        .implies = resource->implies,
        .status = managed_status_word(resource->status),
        .linked = linked,
        .credential_header = resource->auth.header,
    };
}

static const char *
issued_text(const struct own_token *token, const char *part, const char *member)
{
    return json_string_value(json_object_get(json_object_get(token->issued, part), member));
}

/* Fill the members of the holder that come from the token and the request. */
static void
fill_holder(const struct request *req, const struct gateway_access *access,
            const struct own_token *token, struct gateway_holder *holder)
{
    const struct token_row *row = &token->lookup.row;
    holder->frame = (struct question){
        .endpoint = access->place == GATEWAY_CHECK ? GATEWAY_CHECK_ENDPOINT : req->route->path,
        .ip = req->ip,
        .user_agent = req->user_agent,
        .flow_id = issued_text(token, "request", "flow_id"),
        .client = &row->client,
        .delegation = row->delegation,
        .auth_method = issued_text(token, "client", "auth_method"),
    };
    holder->subject = json_object_get(token->issued, "subject");
    holder->act = row->act;
    holder->scopes = token->scopes;
    holder->resource = row->resource;
    holder->issued_at = row->issued_at;
    holder->expires_at = row->expires_at;
    holder->bound = row->jkt != NULL;
    holder->baseline = token->baseline;
}

/* A question, and the variables that get its answer. */
struct one_asked {
    const struct gateway_question *question;
    struct gateway_decision *decision;
};

struct tools_asked {
    const struct gateway_tools_question *question;
    enum gateway_verdict *verdicts;
};

static enum az_status
ask_one(struct op *op, void *arg, struct verdict *ret)
{
    const struct one_asked *asked = arg;
    return gateway_ask(op, asked->question, asked->decision, ret);
}

static enum az_status
ask_tools(struct op *op, void *arg, struct verdict *ret)
{
    const struct tools_asked *asked = arg;
    return gateway_tools_ask(op, asked->question, asked->verdicts, ret);
}

/* Ask policy, again if the revision that answered may not decide (as AuthZEN does), and note the
 * verdict, *ret. */
static enum az_status
ask_policy(struct request *req, const struct gateway_access *access, token_ask_fn *ask, void *arg,
           struct verdict *ret)
{
    *ret = (struct verdict){.input = NULL};
    enum az_status st = token_ask_acceptable(&req->op, &access->token->lookup, ask, arg, ret);
    const char *scope = req->audit.scope; /* of the token, as evaluation 2 shows it */
    req->audit_more = NULL;               /* the row tells of this decision */
    token_note_verdict(&req->op, &req->audit, ret);
    req->audit.scope = scope;
    return st == AZ_UNAVAILABLE
               ? az_fail_as(&req->op.fault, AZ_POLICY_UNAVAILABLE, "Policy gave no decision")
               : st;
}

enum az_status
gateway_decide(struct request *req, const struct gateway_access *access,
               struct gateway_question *question, struct gateway_decision *ret)
{
    struct one_asked asked = {question, ret};
    struct verdict verdict;
    fill_holder(req, access, access->token, &question->holder);
    enum az_status st = ask_policy(req, access, ask_one, &asked, &verdict);
    ret->revision = st == AZ_OK ? verdict.decision.revision : NULL;
    if (st != AZ_OK)
        ret->allow = false;
    return st;
}

enum az_status
gateway_decide_tools(struct request *req, const struct gateway_access *access,
                     struct gateway_tools_question *question, enum gateway_verdict *verdicts)
{
    struct tools_asked asked = {question, verdicts};
    struct verdict verdict;
    fill_holder(req, access, access->token, &question->holder);
    enum az_status st = ask_policy(req, access, ask_tools, &asked, &verdict);
    question->revision = st == AZ_OK ? verdict.decision.revision : NULL;
    return st;
}

/* ---- a caller whose answer is still streamed */

/* Ask evaluation 2 about a token that was read anew. */
static enum az_status
judge_again(struct request *req, struct op *op, struct own_token *token, const char **ret_why)
{
    struct shown shown;
    struct introspect_question question = {
        .frame = {.endpoint = req->route->path, .ip = req->ip, .user_agent = req->user_agent},
        .caller = &token->lookup.row.client,
        .service = true,
    };
    enum az_status st = token_show(op, &token->lookup, &question, &shown);
    if (st != AZ_OK && st != AZ_FORBIDDEN)
        return st;
    if (st == AZ_FORBIDDEN || shown.as != SHOWN_ACTIVE || !token->lookup.row.found)
        *ret_why = "policy denies the token now";
    token->scopes = shown.verdict.decision.scopes;
    token->baseline = shown.baseline;
    token->issued = shown.issued;
    return AZ_OK;
}

/* Ask about the request once more, with what is known of the token now. Nothing can be redacted of
 * an answer that is streamed, so a rule that wants it ends the stream. */
static enum az_status
decide_again(struct request *req, struct op *op, const struct gateway_access *access,
             struct own_token *token, const struct gateway_question *asked, const char **ret_why)
{
    struct gateway_question question = *asked;
    struct gateway_decision decision = {.allow = false};
    struct one_asked one = {&question, &decision};
    struct verdict verdict = {.input = NULL};
    fill_holder(req, access, token, &question.holder);
    question.obligations &= ~(unsigned) GATEWAY_REDACT;
    enum az_status st = token_ask_acceptable(op, &token->lookup, ask_one, &one, &verdict);
    if (st == AZ_OK && !decision.allow)
        *ret_why = "policy denies the request now";
    return st;
}

/* Use an operation of its own, so that the request does not change. It shares the memory of the
 * request, where the resource is still read after it was dropped from the cache. */
enum az_status
gateway_look_again(struct request *req, const struct gateway_access *access,
                   const struct managed_resource *was, const struct gateway_question *asked,
                   const char **ret_why)
{
    struct op op = op_beside(&req->op, req->op.mem);
    struct own_token token = {.parts = access->token->parts};
    const struct managed_resource *resource = NULL;
    op.now_ms = clock_realtime_ms();
    token.lookup = (struct token_lookup){.token = &token.parts, .kind = TOKEN_ACCESS};
    *ret_why = NULL;
    enum az_status st = token_find(&op, &token.lookup);
    if (st == AZ_OK && !token.lookup.row.found)
        *ret_why = "the token has ended";
    if (st == AZ_OK && *ret_why == NULL)
        st = resource_find(&op, was->name, &resource);
    if (st == AZ_OK && *ret_why == NULL
        && (resource == NULL || !resource->enabled || resource->version != was->version))
        *ret_why = "the resource was changed, disabled or deleted";
    if (st == AZ_OK && *ret_why == NULL)
        st = judge_again(req, &op, &token, ret_why);
    if (st == AZ_OK && *ret_why == NULL)
        st = decide_again(req, &op, access, &token, asked, ret_why);
    return st;
}

/* ---- refusals */

const char *
gateway_codes(TALLOC_CTX *mem, const json_t *reasons)
{
    size_t index;
    const json_t *reason;
    struct jsonx_build codes = {jsonx_own(mem, json_array()), false};
    json_array_foreach (reasons, index, reason)
        jsonx_append(&codes, json_incref(json_object_get(reason, "code")));
    json_t *once = jsonx_built(&codes) != NULL ? words_array_once(mem, codes.value) : NULL;
    return once != NULL ? words_join(mem, once) : NULL;
}

/* Return {error, error_description, request_id} with one member more, which is handed over. */
static json_t *
failure_body(struct request *req, enum az_status st, const char *name, json_t *value)
{
    const struct az_status_row *row = az_status_row(st);
    return jsonx_own(req->op.mem, json_pack("{s:s,s:s,s:s,s:o*}", "error", row->error,
                                            "error_description", req->op.fault.public_text,
                                            "request_id", req->op.request_id, name, value));
}

static json_t *
shown_parts(const json_t *reasons)
{
    static const char *const parts[] = {"code", "category", "message"};
    size_t index;
    const json_t *reason;
    struct jsonx_build shown = {json_array(), false};
    json_array_foreach (reasons, index, reason) {
        struct jsonx_build one = {json_object(), false};
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
            json_t *part = json_object_get(reason, parts[i]);
            if (part != NULL)
                jsonx_set(&one, parts[i], json_incref(part));
        }
        jsonx_append(&shown, one.value);
    }
    if (shown.lost)
        json_decref(shown.value);
    return jsonx_built(&shown);
}

enum az_status
gateway_forbid(struct request *req, const json_t *reasons)
{
    enum az_status st =
        op_fail(&req->op, AZ_FORBIDDEN, "Policy denies the request", "policy denies the request");
    req->error_body = failure_body(req, st, "deny_reasons", shown_parts(reasons));
    return st;
}

void
gateway_challenge(struct request *req, const struct gateway_access *access, const char *error,
                  const char *scope)
{
    TALLOC_CTX *mem = req->op.mem;
    const char *metadata = gateway_metadata_address(mem, access->address);
    char *params = talloc_strdup(mem, "");
    if (error != NULL)
        params = talloc_asprintf_append(params, "error=\"%s\", ", error);
    /* RFC 9110 5.6.4: refuse characters that would end the quoted-string. */
    if (metadata != NULL && strpbrk(metadata, "\"\\") == NULL)
        params = talloc_asprintf_append(params, "resource_metadata=\"%s\"", metadata);
    if (scope != NULL && scope_characters(scope))
        params = talloc_asprintf_append(params, ", scope=\"%s\"", scope);
    access_token_challenge(req, params);
}

/* Write the audit row of a denial: another failure with the same status is `rejected`. */
static enum az_status
write_denial(struct request *req, enum az_status failure)
{
    const struct az_status_row *row = az_status_row(failure);
    struct az_fault fault = req->op.fault;
    az_fault_clear(&req->op.fault);
    request_fill_audit(req, row->http, "denied");
    req->audit.error = row->error;
    req->audit.reason = talloc_strdup(req->op.mem, fault.public_text);
    audit_explain(&req->op, &req->audit);
    enum az_status st = audit_send(&req->op, &req->audit);
    if (st != AZ_OK)
        return st;
    req->audited = true;
    req->op.fault = fault;
    return failure;
}

/*
 * Return the scopes that a step-up asks for: those of the operation, and at the MCP endpoint,
 * before them, those that the token has. Clients of MCP ask for what the challenge names and
 * replace their token, so without the latter a call of one tool would take the scopes of another
 * (MCP 2025-11-25, authorization, "Scope Challenge Handling"). offline_access is never in a
 * challenge.
 */
static const char *
step_up_scopes(struct request *req, const struct gateway_access *access,
               const struct gateway_action *action)
{
    struct jsonx_build wanted = {jsonx_own(req->op.mem, json_array()), false};
    json_t *scope;
    size_t i;
    if (access->place == GATEWAY_MCP)
        json_array_foreach (access->token->scopes, i, scope)
            if (strcmp(json_string_value(scope), "offline_access") != 0)
                jsonx_append(&wanted, json_incref(scope));
    if (jsonx_built(&wanted) == NULL || json_array_extend(wanted.value, action->scopes) != 0)
        return NULL;
    return words_join(req->op.mem, words_array_once(req->op.mem, wanted.value));
}

enum az_status
gateway_refuse(struct request *req, const struct gateway_access *access,
               const struct gateway_question *question, const struct gateway_decision *decision)
{
    enum az_status st;
    if (decision->step_up == NULL) {
        st = gateway_forbid(req, decision->reasons);
    } else {
        const char *scopes = step_up_scopes(req, access, &question->action);
        st = op_fail(&req->op, AZ_INSUFFICIENT_SCOPE, NULL, "the token lacks %s",
                     words_join(req->op.mem, decision->step_up));
        gateway_challenge(req, access, "insufficient_scope", scopes);
        req->error_body =
            failure_body(req, st, "scope", scopes != NULL ? json_string(scopes) : NULL);
    }
    return write_denial(req, st);
}
