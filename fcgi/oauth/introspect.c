#include "config.h"

#include "oauth/introspect.h"

#include <string.h>
#include <strings.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/uuid7.h"
#include "base/words.h"
#include "crypto/jwk.h"
#include "crypto/jws.h"
#include "crypto/token.h"
#include "metrics/metrics.h"
#include "oauth/caller.h"
#include "oauth/client_auth/client_auth.h"
#include "oauth/parameters/parameters.h"
#include "store/tokens/signing_keys.h"
#include "store/tokens/tokens.h"
#include "token/access_jwt.h"
#include "token/issue.h"
#include "token/show.h"
#include "token/signing_key.h"

/* clang-format off */
const struct route_param introspect_params[] = {
    {.name = "token", .required = true, .help = "Access or refresh token that is asked about"},
    {.name = "token_type_hint", .help = "Ignored: the token itself says its kind"},
    {.name = "context", .help = "JSON object with facts of the request, for policy"},
    CLIENT_AUTH_PARAMS,
    {.name = NULL},
};
/* clang-format on */

/* One introspection. */
struct introspection {
    struct request *req;                 /* its request */
    struct token_parts token;            /* the token asked about */
    struct caller caller;                /* the client that asks */
    struct token_lookup lookup;          /* what is looked up, and the rows found */
    struct introspect_question question; /* the question to policy */
    struct shown shown;                  /* the outcome */
};

const struct route_credential credential_introspect = {
    .check = caller_authenticate,
    .schemes = (const char *const[]){"client", "token", "", NULL},
};

/* ---- the token */

/* Read the token asked about. The hint is ignored, because all kinds that can be shown are searched
 * (RFC 7662 2.1). */
static void
read_token(struct introspection *it)
{
    const char *text = request_param(it->req, "token");
    enum token_kind kind;
    if (text != NULL && access_jwt_parse(it->req->op.mem, text, &kind, &it->token) == AZ_OK
        && (kind == TOKEN_ACCESS || kind == TOKEN_REFRESH)) {
        it->lookup.token = &it->token;
        it->lookup.kind = kind;
    }
}

/* Find the token and check the caller in one trip. A token of the caller's needs one of the scopes
 * of specification 4.5. */
static enum az_status
find_token(struct introspection *it)
{
    const struct caller *caller = &it->caller;
    enum az_status st = caller_find(it->req, &it->lookup, &it->caller);
    if (st != AZ_OK)
        return st;
    if (caller->token != NULL && !caller_token_has(caller, "introspection")
        && !caller_token_has(caller, "uma_protection"))
        return caller_refuse_token(it->req,
                                   "the token lacks the scope introspection or uma_protection");
    it->question.caller = caller->client;
    it->question.caller_method = caller->method;
    it->question.caller_token = caller->token;
    return AZ_OK;
}

/* Return the id of the resource that the context states as delegated, or NULL. An id in another
 * form is of no resource. */
static const char *
stated_resource(const json_t *context)
{
    const json_t *stated = json_object_get(json_object_get(context, "delegation"), "resource_id");
    unsigned char id[UUID7_OCTETS];
    const char *text = json_string_value(stated);
    return text != NULL && uuid7_parse(text, id) == AZ_OK ? text : NULL;
}

/* Read the parameters that may be wrong; the fault is set. */
static enum az_status
check_question(struct introspection *it)
{
    struct request *req = it->req;
    if (request_param(req, "token") == NULL)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "token is missing", NULL);
    enum az_status st =
        context_parse(&req->op, request_param(req, "context"), &it->question.context);
    if (st == AZ_OK)
        it->lookup.stated = stated_resource(it->question.context);
    return st;
}

/* Check the caller before the question (oauth.md 3.4). If the question is wrong, look up the caller
 * alone: only a caller who may introspect learns what is wrong. */
static enum az_status
find_then_judge(struct introspection *it)
{
    struct op *op = &it->req->op;
    enum az_status asked = check_question(it);
    struct az_fault fault = op->fault;
    az_fault_clear(&op->fault);
    if (asked != AZ_OK)
        it->lookup.token = NULL;
    enum az_status st = find_token(it);
    if (st == AZ_OK && asked != AZ_OK)
        op->fault = fault;
    return st == AZ_OK ? asked : st;
}

/* ---- the decision */

/* Ask policy. The audit row of a failure shows the question too (policy.md 6.6). */
static enum az_status
decide_shown(struct introspection *it)
{
    struct request *req = it->req;
    struct shown *shown = &it->shown;
    it->question.frame = (struct question){
        .endpoint = req->route->path, .ip = req->ip, .user_agent = req->user_agent};
    enum az_status st = token_show(&req->op, &it->lookup, &it->question, shown);
    token_note_shown(&req->op, &req->audit, shown);
    if (req->audit.flow_id == NULL)
        req->audit.flow_id = it->lookup.row.flow_id; /* of a token that is not live */
    req->audit.subject_id = it->lookup.row.found ? it->lookup.row.subject : NULL;
    return st;
}

/* True if this answer is the only one that shows the token. */
static bool
is_shown_once(const struct introspection *it)
{
    const struct token_row *row = &it->lookup.row;
    return row->grant == NULL && (row->jit || it->shown.verdict.decision.jit);
}

/* Write the audit row and, with it, consume a single-use token. Only the caller whose request
 * deletes the row may see the token. */
static enum az_status
record_shown(struct introspection *it)
{
    static const char *const outcomes[] = {
        [SHOWN_ACTIVE] = "allowed",
        [SHOWN_INVALID] = "rejected",
        [SHOWN_POLICY_DENIED] = "denied",
    };
    struct request *req = it->req;
    const struct token_lookup *lookup = &it->lookup;
    bool consumed = false;
    enum az_status st;
    request_fill_audit(req, 200, outcomes[it->shown.as]);
    req->audit.inactive = it->shown.as == SHOWN_POLICY_DENIED ? "policy_denied" : it->shown.dead;
    audit_explain(&req->op, &req->audit);
    if (it->shown.as != SHOWN_ACTIVE || !is_shown_once(it)) {
        st = audit_send(&req->op, &req->audit);
    } else {
        st = token_consume(&req->op, lookup->token, &req->audit, &consumed);
        if (st == AZ_OK && !consumed) {
            it->shown.as = SHOWN_INVALID;
            req->audit.inactive = "consumed"; /* by another request, a moment before */
        }
    }
    req->audited = st == AZ_OK;
    return st;
}

/* ---- the answer */

static void
set_unless_empty(struct jsonx_build *body, const char *name, json_t *value)
{
    bool empty = value == NULL || json_is_null(value)
                 || (json_is_array(value) && json_array_size(value) == 0)
                 || (json_is_object(value) && json_object_size(value) == 0);
    if (!empty)
        jsonx_set(body, name, json_incref(value));
}

/* Return the extensions of the answer. An answer that is the only one may not be kept and used
 * again (decisions.md "Kept introspections"). */
static json_t *
shown_extensions(const struct introspection *it, struct jsonx_build *body)
{
    json_t *extensions = it->shown.verdict.decision.extensions;
    if (!is_shown_once(it) || json_object_get(extensions, "cache_seconds") == NULL)
        return extensions;
    json_t *rest = jsonx_own(it->req->op.mem, jsonx_copy(extensions));
    body->lost = body->lost || rest == NULL;
    json_object_del(rest, "cache_seconds");
    return rest;
}

/* Specification 2.13. Empty members are left out, never null. */
static json_t *
active_body(const struct introspection *it)
{
    const struct request *req = it->req;
    const struct token_row *row = &it->lookup.row;
    const struct shown *shown = &it->shown;
    const struct decision *decision = &shown->verdict.decision;
    const json_t *request = json_object_get(shown->issued, "request"),
                 *subject = json_object_get(shown->issued, "subject");
    const char *resource = decision->resource != NULL ? decision->resource : row->resource;
    /* The type says how an access token is used. A refresh token is used at this service alone. */
    const char *type = row->grant != NULL ? NULL : row->jkt != NULL ? "DPoP" : "Bearer";
    const char *username = json_string_value(json_object_get(row->claims, "preferred_username"));
    struct jsonx_build body = {
        jsonx_own(req->op.mem,
                  json_pack("{s:b,s:s,s:s,s:s,s:s*,s:s*,s:s*,s:s,s:I,s:I,s:s*,s:s*}", "active", 1,
                            "scope", words_join(req->op.mem, decision->scopes), "client_id",
                            row->client.client_id, "sub", row->subject, "username", username, "idp",
                            row->idp, "token_type", type, "iss", req->op.az->cfg->oidc_issuer,
                            "iat", (json_int_t) row->issued_at, "exp", (json_int_t) row->expires_at,
                            "resource", resource, "aud", resource)),
        false};
    set_unless_empty(&body, "flow_id", json_object_get(request, "flow_id"));
    set_unless_empty(&body, "resource_types", decision->resource_types);
    set_unless_empty(&body, "authorization_details", decision->details);
    set_unless_empty(&body, "matched_segments", decision->segments);
    set_unless_empty(&body, "obligations", decision->obligations);
    set_unless_empty(&body, "extensions", shown_extensions(it, &body));
    set_unless_empty(&body, "acr", json_object_get(subject, "acr"));
    set_unless_empty(&body, "auth_time", json_object_get(subject, "auth_time"));
    set_unless_empty(&body, "deny_reasons", decision->reasons);
    set_unless_empty(&body, "act", row->act);
    if (row->jkt != NULL)
        jsonx_set(&body, "cnf", json_pack("{s:s}", "jkt", row->jkt));
    return jsonx_built(&body);
}

static json_t *
denied_body(const struct introspection *it)
{
    const struct decision *decision = &it->shown.verdict.decision;
    const char *text;
    decision_deny_status(it->req->op.mem, decision, NULL, NULL, &text);
    struct jsonx_build body = {
        jsonx_own(it->req->op.mem, json_pack("{s:b,s:s,s:s*}", "active", 0, "inactive_reason",
                                             "policy_denied", "reason", text)),
        false};
    set_unless_empty(&body, "deny_reasons", decision->reasons);
    return jsonx_built(&body);
}

static json_t *
invalid_body(const struct introspection *it)
{
    return jsonx_own(it->req->op.mem,
                     json_pack("{s:b,s:s}", "active", 0, "inactive_reason", "invalid_token"));
}

/* ---- signed answers (RFC 9701) */

#define SIGNED_TYP "token-introspection+jwt"
#define SIGNED_TYPE "application/" SIGNED_TYP

/* True if the first media type that the caller accepts is that of a signed answer. */
static bool
wants_signature(const struct request *req)
{
    const char *accept = request_header(req, "HTTP_ACCEPT");
    size_t length = strlen(SIGNED_TYPE);
    return accept != NULL && strncasecmp(accept, SIGNED_TYPE, length) == 0
           && strchr(" ,;", accept[length]) != NULL;
}

/*
 * Answer with a JWT for this caller alone (RFC 9701 5). It has no sub and no exp at its top, and a
 * type of its own, so that no reader takes it for an ID token or an access token. Of a token that
 * is not active it says nothing more.
 */
static enum az_status
respond_signed(const struct introspection *it, json_t *body)
{
    struct request *req = it->req;
    struct op *op = &req->op;
    const struct jwk *key;
    char *text = NULL;
    if (body != NULL && it->shown.as != SHOWN_ACTIVE)
        body = jsonx_own(op->mem, json_pack("{s:b}", "active", 0));
    json_t *claims =
        jsonx_own(op->mem, json_pack("{s:s,s:s,s:I,s:O}", "iss", op->az->cfg->oidc_issuer, "aud",
                                     it->caller.client->client_id, "iat", (json_int_t) op_now(op),
                                     "token_introspection", body));
    if (claims == NULL)
        return op_no_memory(op);
    enum az_status st = signing_key_get(op, SIGNING_ALG_ALWAYS, &key);
    if (st == AZ_OK && jws_sign_json(op->mem, key, key->alg, SIGNED_TYP, claims, &text) != AZ_OK)
        st = op_fail(op, AZ_SERVER_ERROR, NULL, "cannot sign an answer");
    return st == AZ_OK ? respond_octets(req, 200, SIGNED_TYPE, text, strlen(text)) : st;
}

enum az_status
introspect_handle(struct request *req)
{
    struct introspection it = {.req = req, .lookup.may_lag = true, .shown.as = SHOWN_INVALID};
    read_token(&it);
    enum az_status st = find_then_judge(&it);
    if (st == AZ_OK)
        st = decide_shown(&it);
    if (st == AZ_OK)
        st = record_shown(&it);
    if (st != AZ_OK)
        return st;
    metrics_add(req->op.az->metrics, METRIC_INTROSPECTIONS, 0,
                (const char *const[]){it.shown.as == SHOWN_ACTIVE ? "true" : "false"});
    json_t *body = it.shown.as == SHOWN_ACTIVE    ? active_body(&it)
                   : it.shown.as == SHOWN_INVALID ? invalid_body(&it)
                                                  : denied_body(&it);
    return wants_signature(req) ? respond_signed(&it, body) : respond_json(req, 200, body);
}
