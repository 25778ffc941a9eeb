#include "config.h"

#include "oauth/introspect.h"

#include <string.h>

#include "base/jsonx.h"
#include "base/settings.h"
#include "crypto/token.h"
#include "oauth/client_auth.h"
#include "oauth/parameters.h"
#include "token/issue.h"
#include "store/tokens/tokens.h"
#include "token/show.h"

/* `context` of the resource server (oauth.md 3.4, decisions.md "Readings"). */
#define CONTEXT_TEXT_MAX 16384 /* octets */
#define CONTEXT_DEPTH_MAX 16   /* nesting */

const struct route_param introspect_params[] = {
    {"token",           false},
    {"token_type_hint", false},
    {"context",         false},
    CLIENT_AUTH_PARAMS,
    {NULL,              false},
};

/* Scopes of a Bearer caller, either of which lets it introspect (specification 4.5). */
static const char *const caller_scopes[] = {"introspection", "uma_protection"};

static enum az_status
bad_bearer(struct request *req, const char *detail)
{
    req->challenge = "Bearer error=\"invalid_token\"";
    return op_fail(&req->op, AZ_INVALID_TOKEN, NULL, "%s", detail);
}

static bool
text_to_parts(const char *text, enum token_kind wanted, struct token_parts *ret)
{
    enum token_kind kind;
    return text != NULL && token_parse(text, strlen(text), &kind, ret) == AZ_OK && kind == wanted;
}

static enum az_status
check_caller(struct request *req)
{
    const char *bearer = bearer_token_text(req);
    struct token_parts parts;
    if (bearer != NULL) {
        if (request_param(req, "client_secret") != NULL
            || request_param(req, "client_assertion") != NULL)
            return op_fail(&req->op, AZ_INVALID_REQUEST,
                           "Only one way of authentication may be used", NULL);
        return text_to_parts(bearer, TOKEN_ACCESS, &parts) ? AZ_OK
                                                           : bad_bearer(req, "no token of ours");
    }
    enum az_status st = credential_client.check(req);
    if (st == AZ_OK && strcmp(req->client->type, "public") == 0) {
        req->challenge =
            talloc_asprintf(req->op.mem, "Basic realm=\"%s\"", req->op.az->cfg->oidc_issuer);
        return op_fail(&req->op, AZ_INVALID_CLIENT, NULL, "public clients cannot introspect");
    }
    return st;
}

const struct route_credential credential_introspect = {"client or Bearer", check_caller, false};

/* The members policy knows are lifted into their documented types; scopes may come as one text. */
enum az_status
introspect_read_context(struct request *req, json_t **ret)
{
    const char *text = request_param(req, "context"), *why = NULL;
    json_t *context = NULL, *words;
    if (text == NULL)
        return AZ_OK;
    if (strlen(text) > CONTEXT_TEXT_MAX)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "context is too long", NULL);
    if (jsonx_parse(req->op.mem, text, strlen(text), CONTEXT_DEPTH_MAX, &context, &why) != AZ_OK
        || !json_is_object(context))
        return op_fail(&req->op, AZ_INVALID_REQUEST, "context must be a JSON object", "%s",
                       why != NULL ? why : "no object");
    const json_t *scopes = json_object_get(context, "scopes");
    if (json_is_string(scopes)) {
        enum az_status st = scope_parse(&req->op, json_string_value(scopes), &words);
        if (st != AZ_OK)
            return st;
        json_object_set(context, "scopes", words);
    } else if (scopes != NULL) {
        size_t index;
        json_t *word;
        bool good = json_is_array(scopes);
        json_array_foreach ((json_t *) (uintptr_t) scopes, index, word)
            good = good && json_is_string(word);
        if (!good)
            return op_fail(&req->op, AZ_INVALID_REQUEST,
                           "context.scopes must be an array of strings or a string", NULL);
    }
    *ret = context;
    return AZ_OK;
}

/* A Bearer caller's own token: live, not single-use, with a scope that lets it ask (RFC
 * 7662 2.1, 2.3). */
static enum az_status
judge_bearer(struct request *req, const struct token_row *row, struct introspect_question *question)
{
    json_t *words, *answer = NULL;
    bool entitled = false;
    if (!row->found)
        return bad_bearer(req, "unknown, expired or revoked token");
    req->audit.client_id = row->client.client_id;
    if (row->jit)
        return bad_bearer(req, "a single-use token is no credential");
    enum az_status st = scope_parse(&req->op, row->scope, &words);
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; i < 2; i++) {
        json_t *wanted = jsonx_own(req->op.mem, json_pack("[s]", caller_scopes[i]));
        entitled = entitled || json_array_size(scope_within(&req->op, words, wanted)) > 0;
    }
    if (!entitled)
        return bad_bearer(req, "token lacks the scope introspection or uma_protection");
    if ((st = token_row_output(&req->op, row, &answer)) != AZ_OK)
        return st;
    json_t *types = json_object_get(answer, "resource_types");
    question->caller = &row->client;
    question->caller_method = "bearer";
    question->caller_token =
        jsonx_own(req->op.mem, json_pack("{s:O,s:s*,s:o}", "scopes", words, "resource",
                                         row->resource, "resource_types",
                                         json_is_array(types) ? json_incref(types) : json_array()));
    return AZ_OK;
}

/* Finds the token and settles who the caller is, in one trip; one more when the cached caller is
 * stale. */
static enum az_status
find(struct request *req, struct token_lookup *lookup, struct introspect_question *question)
{
    enum az_status st;
    for (int pass = 0; pass < 2; pass++) {
        lookup->caller = req->client;
        if ((st = token_find(&req->op, lookup)) != AZ_OK)
            return st;
        if (lookup->caller_token != NULL)
            return judge_bearer(req, &lookup->caller_row, question);
        if (lookup->caller_current) {
            question->caller = req->client;
            question->caller_method = req->client_method;
            return AZ_OK;
        }
        if ((st = client_authenticate_again(req)) != AZ_OK)
            return st;
    }
    return op_fail(&req->op, AZ_UNAVAILABLE, NULL,
                   "the caller's row changes faster than it can be read");
}

static void
set_unless_empty(json_t *body, const char *name, json_t *value)
{
    bool empty = value == NULL || json_is_null(value)
                 || (json_is_array(value) && json_array_size(value) == 0)
                 || (json_is_object(value) && json_object_size(value) == 0);
    if (!empty)
        json_object_set(body, name, value);
}

/* A name that people know the user by, when the provider said one. */
static const char *
username(const struct token_row *row)
{
    return json_string_value(json_object_get(row->claims, "preferred_username"));
}

/* Specification 2.13; empty members are left out, never null. */
static json_t *
active_body(struct request *req, const struct token_row *row, const struct shown *shown)
{
    const struct decision *decision = &shown->verdict.decision;
    const json_t *request = json_object_get(shown->issued, "request");
    const char *resource = decision->resource != NULL ? decision->resource : row->resource;
    /* The type says how an access token is used; a refresh token is for us alone. */
    const char *type = row->grant == NULL ? "Bearer" : NULL;
    json_t *body = jsonx_own(
        req->op.mem,
        json_pack("{s:b,s:s,s:s,s:s,s:s*,s:s*,s:s*,s:s,s:I,s:I,s:s*,s:s*}", "active", 1, "scope",
                  scope_join(req->op.mem, decision->scopes), "client_id", row->client.client_id,
                  "sub", row->subject, "username", username(row), "idp", row->idp, "token_type",
                  type, "iss", req->op.az->cfg->oidc_issuer, "iat", (json_int_t) row->issued_at,
                  "exp", (json_int_t) row->expires_at, "resource", resource, "aud", resource));
    set_unless_empty(body, "flow_id", json_object_get(request, "flow_id"));
    set_unless_empty(body, "resource_types", decision->resource_types);
    set_unless_empty(body, "authorization_details", decision->details);
    set_unless_empty(body, "matched_segments", decision->segments);
    set_unless_empty(body, "obligations", decision->obligations);
    set_unless_empty(body, "extensions", decision->extensions);
    set_unless_empty(body, "deny_reasons", decision->reasons);
    return body;
}

static json_t *
denied_body(struct request *req, const struct decision *decision)
{
    const char *text;
    decision_deny_status(decision, &text);
    json_t *body =
        jsonx_own(req->op.mem, json_pack("{s:b,s:s,s:s*}", "active", 0, "inactive_reason",
                                         "policy_denied", "reason", text));
    set_unless_empty(body, "deny_reasons", decision->reasons);
    return body;
}

static json_t *
invalid_body(struct request *req)
{
    return jsonx_own(req->op.mem,
                     json_pack("{s:b,s:s}", "active", 0, "inactive_reason", "invalid_token"));
}

static void
note_verdict(struct request *req, const struct shown *shown, const struct token_row *row)
{
    req->audit.input = shown->verdict.input;
    req->audit.input_length = shown->verdict.input_length;
    req->audit.decision = shown->verdict.output;
    req->audit.decision_length = shown->verdict.output_length;
    req->audit.flow_id =
        json_string_value(json_object_get(json_object_get(shown->issued, "request"), "flow_id"));
    req->audit.subject_id = row->found ? row->subject : NULL;
}

/* The audit row, and for a single-use token its end: whoever deletes the row may show it, nobody
 * else. */
static enum az_status
record(struct request *req, const struct token_lookup *lookup, struct shown *shown)
{
    static const char *const outcomes[] = {"allowed", "rejected", "denied"};
    bool consumed = false;
    enum az_status st;
    request_fill_audit(req, 200, outcomes[shown->as]);
    bool once = lookup->row.grant == NULL && (lookup->row.jit || shown->verdict.decision.jit);
    if (shown->as != SHOWN_ACTIVE || !once) {
        st = audit_send(&req->op, &req->audit);
    } else {
        st = token_consume(&req->op, lookup->token, &req->audit, &consumed);
        if (st == AZ_OK && !consumed)
            shown->as = SHOWN_INVALID;
    }
    req->audited = st == AZ_OK;
    return st;
}

/* What is asked; the fault of a bad parameter is recorded. */
static enum az_status
read_question(struct request *req, struct introspect_question *question)
{
    if (request_param(req, "token") == NULL)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "token is missing", NULL);
    return introspect_read_context(req, &question->context);
}

/* The caller comes first (oauth.md 3.4), also when the question is bad: then it is looked up alone,
 * and only one who may ask hears what is wrong. */
static enum az_status
find_then_judge(struct request *req, struct token_lookup *lookup,
                struct introspect_question *question)
{
    enum az_status asked = read_question(req, question);
    struct az_fault fault = req->op.fault;
    az_fault_clear(&req->op.fault);
    if (asked != AZ_OK)
        lookup->token = NULL;
    enum az_status st = find(req, lookup, question);
    if (st == AZ_OK && asked != AZ_OK)
        req->op.fault = fault;
    return st == AZ_OK ? asked : st;
}

/* Whatever the hint says: all kinds that can be shown are searched (RFC 7662 2.1). */
static bool
read_token(struct request *req, enum token_kind *ret_kind, struct token_parts *ret)
{
    const char *text = request_param(req, "token");
    return text != NULL && token_parse(text, strlen(text), ret_kind, ret) == AZ_OK
           && (*ret_kind == TOKEN_ACCESS || *ret_kind == TOKEN_REFRESH);
}

enum az_status
introspect_handle(struct request *req)
{
    struct token_parts token, caller;
    struct token_lookup lookup = {.token = NULL};
    struct introspect_question question = {.context = NULL};
    struct shown shown = {.as = SHOWN_INVALID};
    const char *bearer = bearer_token_text(req);
    if (bearer != NULL && !text_to_parts(bearer, TOKEN_ACCESS, &caller))
        return bad_bearer(req, "no token of ours");
    lookup.caller_token = bearer != NULL ? &caller : NULL;
    if (read_token(req, &lookup.kind, &token))
        lookup.token = &token;
    enum az_status st = find_then_judge(req, &lookup, &question);
    if (st != AZ_OK)
        return st;
    question.frame = (struct question){
        .endpoint = req->route->path, .ip = req->ip, .user_agent = req->user_agent};
    st = token_show(&req->op, &lookup, &question, &shown);
    note_verdict(req, &shown, &lookup.row);
    if (st == AZ_OK)
        st = record(req, &lookup, &shown);
    if (st != AZ_OK)
        return st;
    if (shown.as == SHOWN_ACTIVE)
        return respond_json(req, 200, active_body(req, &lookup.row, &shown));
    return respond_json(req, 200,
                        shown.as == SHOWN_INVALID ? invalid_body(req)
                                                  : denied_body(req, &shown.verdict.decision));
}
