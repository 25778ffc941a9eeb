#include "config.h"

#include "oidc/flow_preview.h"

#include "base/words.h"
#include "oauth/grant.h"
#include "policy/decide/outcome.h"
#include "store/tokens/tokens.h"
#include "token/issue.h"

/* Set what /token would ask for a code of this request. How a confidential client will authenticate
 * is not known yet. */
static enum az_status
read_question(struct request *req, const struct session *session, const struct authorization *asked,
              struct issue_question *question)
{
    question->details = asked->details; /* read next: without them a scope must be registered */
    question->resource = asked->resource;
    question->resource_types = asked->resource_types;
    enum az_status st = grant_read_scopes(req, asked->scope, question);
    if (st != AZ_OK)
        return st;
    grant_frame(req, asked->flow_id, question);
    question->preview = true;
    question->grant_type = "authorization_code";
    question->frame.auth_method = client_is_public(req->client) ? "none" : NULL;
    question->subject_id = session->subject;
    return AZ_OK;
}

/* Return the outcome of a denial at /authorize. invalid_grant is a code of /token alone (RFC 6749
 * 4.1.2.1, 5.2): there is no grant yet. */
static enum az_status
preview_refusal(struct op *op, const struct issue_question *question,
                const struct decision *decision, const char **ret_text)
{
    enum az_status st = outcome_issue(op, question, decision, ret_text);
    return st == AZ_INVALID_GRANT ? AZ_ACCESS_DENIED : st;
}

/* Write the audit row of a denial, and fail with it. */
static enum az_status
deny(struct request *req, const struct decision *decision, enum az_status no, const char *text,
     bool *ret_stale)
{
    bool stored = false;
    request_fill_audit(req, req->failure.by_link ? az_status_row(no)->http : 302, "denied");
    enum az_status st =
        token_insert_denial(&req->op, req->client, decision->revision, &req->audit, &stored);
    *ret_stale = st == AZ_OK && !stored;
    if (st != AZ_OK || !stored)
        return st;
    req->audited = true;
    failure_client_is_current(req); /* the write has checked its version */
    return op_fail(&req->op, no, text, "policy denied the preview, revision %s",
                   decision->revision);
}

/* Return the scopes that would be granted, in the order of the request. */
static const char *
granted_scope(struct op *op, const char *asked, const struct decision *decision)
{
    const json_t *words = words_split(op->mem, asked);
    const json_t *granted =
        words != NULL ? words_array_within(op->mem, words, decision->scopes) : NULL;
    return granted != NULL ? words_join(op->mem, granted) : NULL;
}

/* Cut the request to what would be granted, so that the consent page shows it and the code carries
 * exactly that. The types that the registry ties to the resource are found again at /token. */
static enum az_status
preview_narrow(struct op *op, const struct authorization *asked, const struct decision *decision,
               struct authorization *ret)
{
    struct authorization granted = *asked;
    bool types = json_array_size(asked->resource_types) > 0;
    granted.scope = granted_scope(op, asked->scope, decision);
    granted.requested_scope =
        asked->requested_scope != NULL ? asked->requested_scope : asked->scope;
    /* The engine may write the same details in another order. */
    if (asked->details != NULL && !json_equal(asked->details, decision->details))
        granted.details = json_array_size(decision->details) > 0 ? decision->details : NULL;
    if (types)
        granted.resource_types =
            words_array_within(op->mem, asked->resource_types, decision->resource_types);
    if (granted.scope == NULL || (types && granted.resource_types == NULL))
        return op_no_memory(op);
    /* No type at all would mean every type at /token. */
    if (types && json_array_size(granted.resource_types) == 0)
        return op_fail(op, AZ_INVALID_TARGET, "Policy grants none of the requested resource types",
                       NULL);
    *ret = granted;
    return AZ_OK;
}

enum az_status
flow_preview(struct request *req, const struct session *session, const struct authorization *asked,
             struct authorization *ret_granted, struct verdict *ret_verdict, bool *ret_stale)
{
    struct issue_question question = {.grant_type = NULL};
    const struct question_user user = {
        .iss = session->issuer,
        .idp = session->idp_id,
        .acr = session->acr,
        .amr = session->amr,
        .auth_time = session->auth_time,
        .claims = session->claims,
    };
    const char *text;
    enum az_status st = read_question(req, session, asked, &question);
    if (st != AZ_OK)
        return st;
    question.user = &user;
    st = ask_issue(&req->op, &question, ret_verdict);
    req->audit.grant_type = question.grant_type;
    token_note_verdict(&req->op, &req->audit, ret_verdict);
    if (st != AZ_OK)
        return st;
    enum az_status no = preview_refusal(&req->op, &question, &ret_verdict->decision, &text);
    if (no != AZ_OK)
        req->audit.scope = words_join(req->op.mem, question_asked(&question));
    audit_explain(&req->op, &req->audit);
    if (no != AZ_OK)
        return deny(req, &ret_verdict->decision, no, text, ret_stale);
    return preview_narrow(&req->op, asked, &ret_verdict->decision, ret_granted);
}
