#include "config.h"

#include "authzen/evaluation.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "authzen/access_request.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "http/form.h"
#include "oauth/caller.h"
#include "oauth/dpop/dpop.h"
#include "policy/decide/access.h"
#include "token/issue.h"
#include "token/show.h"

/* Octets of a subject's id in the column of the audit row. An id has up to four times as many,
 * which an index of PostgreSQL does not take; the row would be lost. The policy input has it whole.
 */
#define AUDIT_SUBJECT_MAX 1024

/* One request. */
struct evaluation {
    struct request *req;         /* its request */
    struct access_request asked; /* what is asked */
    struct caller caller;        /* who asks */
    struct token_lookup lookup;  /* of the caller */
    struct access access;        /* the question to policy, and the decisions */
    struct verdict verdict;      /* both as they are stored */
    json_t *body;                /* the answer */
    size_t permits, denies;      /* decisions in it */
};

/* ---- the caller */

/* Name both credentials to a caller that shows none (RFC 9110 11.6.1). */
static enum az_status
authzen_authenticate(struct request *req)
{
    const char *issuer = req->op.az->cfg->oidc_issuer;
    enum az_status st = caller_authenticate(req);
    if (st == AZ_INVALID_CLIENT && request_header(req, "HTTP_AUTHORIZATION") == NULL)
        req->challenge =
            talloc_asprintf(req->op.mem, "Basic realm=\"%s\", Bearer realm=\"%s\"", issuer, issuer);
    return st;
}

const struct route_credential credential_authzen = {
    .check = authzen_authenticate,
    .before_body = true,
    .schemes = (const char *const[]){"client", "token", NULL},
};

/* Find the caller in one trip, with the revisions that may decide. */
static enum az_status
find_caller(struct evaluation *it)
{
    struct request *req = it->req;
    enum az_status st = caller_find(req, &it->lookup, &it->caller);
    if (st != AZ_OK || it->caller.token == NULL || caller_token_has(&it->caller, "authzen"))
        return st;
    access_token_challenge(req, "error=\"insufficient_scope\", scope=\"authzen\"");
    return op_fail(&req->op, AZ_INSUFFICIENT_SCOPE, NULL, "the token lacks the scope authzen");
}

/* ---- the question */

static enum az_status
evaluation_read_body(struct request *req, bool several, struct access_request *ret)
{
    char text[160];
    const char *why = NULL;
    json_t *body = NULL;
    /* 400, as the certification scenario of AuthZEN demands (2.4.3). */
    if (!request_media_type_is_json(req->io->variable(req->io, "CONTENT_TYPE")))
        return op_fail(&req->op, AZ_INVALID_REQUEST, "Content-Type must be application/json", NULL);
    enum az_status st =
        jsonx_parse(req->op.mem, req->body, req->body_length, ACCESS_DEPTH_MAX, &body, &why);
    if (st == AZ_SERVER_ERROR)
        return op_fail(&req->op, st, NULL, "out of memory");
    snprintf(text, sizeof(text), "The body is not valid JSON: %s", why != NULL ? why : "malformed");
    return st == AZ_OK ? access_request_read(&req->op, body, several, ret)
                       : op_fail(&req->op, AZ_INVALID_REQUEST, text, NULL);
}

/* Read the body and find the caller. A caller that may not ask does not learn what is wrong with
 * its body. */
static enum az_status
read_then_judge(struct evaluation *it, bool several)
{
    struct op *op = &it->req->op;
    enum az_status read = evaluation_read_body(it->req, several, &it->asked);
    struct az_fault fault = op->fault;
    az_fault_clear(&op->fault);
    enum az_status st = find_caller(it);
    if (st == AZ_OK && read != AZ_OK)
        op->fault = fault;
    return st == AZ_OK ? read : st;
}

static const char *
entity_text(const json_t *request, const char *entity, const char *member)
{
    return json_string_value(json_object_get(json_object_get(request, entity), member));
}

/* Return the id of the subject that all requests are about; NULL: there are several, or it is too
 * long for a column. */
static const char *
one_subject(const json_t *requests)
{
    size_t index;
    const json_t *request;
    const char *subject = entity_text(json_array_get(requests, 0), "subject", "id");
    json_array_foreach (requests, index, request)
        if (strcmp(entity_text(request, "subject", "id"), subject) != 0)
            return NULL;
    return subject != NULL && strlen(subject) <= AUDIT_SUBJECT_MAX ? subject : NULL;
}

static enum az_status
ask_access(struct op *op, void *arg, struct verdict *ret)
{
    return access_ask(op, arg, ret);
}

/* Ask policy once for all of it. Without a decision the answer is 500 (decisions.md "Engine down,
 * slow or answering nonsense"). */
static enum az_status
decide_access(struct evaluation *it)
{
    struct request *req = it->req;
    it->access.question = (struct access_question){
        .frame = {.endpoint = req->route->path, .ip = req->ip, .user_agent = req->user_agent},
        .caller = it->caller.client,
        .caller_method = it->caller.method,
        .caller_token = it->caller.token,
        .requests = it->asked.requests,
        .batch = it->asked.batch,
    };
    req->audit.subject_id = one_subject(it->asked.requests);
    enum az_status st =
        token_ask_acceptable(&req->op, &it->lookup, ask_access, &it->access, &it->verdict);
    token_note_verdict(&req->op, &req->audit, &it->verdict);
    req->audit.scope = NULL;
    if (st == AZ_UNAVAILABLE)
        return az_fail_as(&req->op.fault, AZ_SERVER_ERROR, "Policy gave no decision");
    if (st == AZ_OK && !it->access.entitled)
        return op_fail(&req->op, AZ_FORBIDDEN,
                       "The client is not allowed to ask for access decisions", NULL);
    return st;
}

/* ---- the answer */

/* Return the reasons that the caller sees: the reasons of rules. That no rule matched says no more
 * than the decision does. */
static json_t *
shown_reasons(struct op *op, const json_t *reasons)
{
    size_t index;
    json_t *reason;
    struct jsonx_build shown = {jsonx_own(op->mem, json_array()), false};
    json_array_foreach ((json_t *) (uintptr_t) reasons, index, reason) {
        const char *control = json_string_value(json_object_get(reason, "control"));
        if (control == NULL || strcmp(control, "authzen") != 0)
            jsonx_append(&shown, json_incref(reason));
    }
    return jsonx_built(&shown);
}

/* Return {decision, context?}. The context is that of policy; a deny adds its reasons. */
static json_t *
decision_body(struct op *op, const struct access_decision *decision)
{
    struct jsonx_build body = {
        jsonx_own(op->mem, json_pack("{s:b}", "decision", (int) decision->allow)), false};
    struct jsonx_build context = {jsonx_own(op->mem, decision->context != NULL
                                                         ? jsonx_copy(decision->context)
                                                         : json_object()),
                                  false};
    json_t *reasons = shown_reasons(op, decision->reasons);
    if (reasons == NULL)
        return NULL;
    if (!decision->allow && json_array_size(reasons) > 0
        && json_object_get(context.value, "reasons") == NULL)
        jsonx_set(&context, "reasons", json_incref(reasons));
    if (decision->context != NULL || json_object_size(context.value) > 0)
        jsonx_set(&body, "context", json_incref(jsonx_built(&context)));
    return jsonx_built(&body);
}

/* Return the decision on an evaluation that is not well-formed (AuthZEN 1.0, 7.2.1). */
static json_t *
fault_body(struct op *op, const char *fault)
{
    return jsonx_own(op->mem, json_pack("{s:b,s:{s:{s:i,s:s}}}", "decision", 0, "context", "error",
                                        "status", 400, "message", fault));
}

/* Build {evaluations} in the order of the request, up to the evaluation at which the semantic ends.
 */
static json_t *
batch_body(struct evaluation *it)
{
    struct op *op = &it->req->op;
    const struct access_request *asked = &it->asked;
    const struct access_decision *next = it->access.decisions;
    struct jsonx_build list = {jsonx_own(op->mem, json_array()), false};
    for (size_t i = 0; i < asked->count; i++) {
        bool valid = asked->faults[i] == NULL, allow = valid && next->allow;
        json_t *body = valid ? decision_body(op, next++) : fault_body(op, asked->faults[i]);
        jsonx_append(&list, json_incref(body));
        *(allow ? &it->permits : &it->denies) += 1;
        if (allow ? asked->semantic == ACCESS_PERMIT_ON_FIRST_PERMIT
                  : asked->semantic == ACCESS_DENY_ON_FIRST_DENY)
            break;
    }
    json_t *built = jsonx_built(&list);
    return built != NULL ? jsonx_own(op->mem, json_pack("{s:O}", "evaluations", built)) : NULL;
}

static enum az_status
build_answer(struct evaluation *it)
{
    struct op *op = &it->req->op;
    if (it->asked.batch) {
        it->body = batch_body(it);
    } else {
        it->body = decision_body(op, it->access.decisions);
        *(it->access.decisions[0].allow ? &it->permits : &it->denies) = 1;
    }
    return it->body != NULL ? AZ_OK : op_no_memory(op);
}

/* ---- the audit row */

/* Return the codes of all reasons of a batch, once each. */
static const char *
batch_codes(struct evaluation *it)
{
    TALLOC_CTX *mem = it->req->op.mem;
    size_t index;
    json_t *reason, *all = jsonx_own(mem, json_array());
    for (size_t i = 0; i < json_array_size(it->asked.requests); i++)
        json_array_foreach (it->access.decisions[i].reasons, index, reason)
            if (json_array_append(all, json_object_get(reason, "code")) != 0)
                return NULL;
    return json_array_size(all) > 0 ? words_join_texts(mem, all) : NULL;
}

/* Note what was asked and how it ended, for a reader of the audit log who does not unpack the
 * policy input. */
static void
note_access(struct evaluation *it)
{
    struct request *req = it->req;
    const struct access_request *asked = &it->asked;
    const json_t *first = json_array_get(asked->requests, 0);
    json_t *summary;
    if (asked->batch) {
        req->audit.codes = batch_codes(it);
        summary = json_pack("{s:I,s:I,s:I,s:s}", "evaluations", (json_int_t) asked->count,
                            "permits", (json_int_t) it->permits, "denies", (json_int_t) it->denies,
                            "semantic", access_semantic_words[asked->semantic]);
    } else {
        summary =
            json_pack("{s:s*,s:s*,s:s*,s:s*}", "subjectType", entity_text(first, "subject", "type"),
                      "action", entity_text(first, "action", "name"), "resourceType",
                      entity_text(first, "resource", "type"), "resourceId",
                      entity_text(first, "resource", "id"));
    }
    req->audit.summary = jsonx_dump(req->op.mem, jsonx_own(req->op.mem, summary));
}

/* True if what was asked for is permitted: with permit_on_first_permit one is enough. */
static bool
is_permitted(const struct evaluation *it)
{
    return it->asked.semantic == ACCESS_PERMIT_ON_FIRST_PERMIT ? it->permits > 0 : it->denies == 0;
}

/* Send the audit row; its result is read after the answer (decisions.md "Deferred audit rows"). */
static enum az_status
record_access(struct evaluation *it)
{
    struct request *req = it->req;
    note_access(it);
    request_fill_audit(req, 200, is_permitted(it) ? "allowed" : "denied");
    audit_explain(&req->op, &req->audit);
    enum az_status st = audit_send(&req->op, &req->audit);
    req->audited = st == AZ_OK;
    return st;
}

static enum az_status
evaluate(struct request *req, bool several)
{
    struct evaluation it = {.req = req, .lookup.may_lag = true};
    enum az_status st = read_then_judge(&it, several);
    if (st == AZ_OK)
        st = decide_access(&it);
    if (st == AZ_OK)
        st = build_answer(&it);
    if (st == AZ_OK)
        st = record_access(&it);
    return st == AZ_OK ? respond_json(req, 200, it.body) : st;
}

enum az_status
evaluation_handle(struct request *req)
{
    return evaluate(req, false);
}

enum az_status
evaluations_handle(struct request *req)
{
    return evaluate(req, true);
}
