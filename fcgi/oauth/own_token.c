#include "config.h"

#include "oauth/own_token.h"

#include <string.h>

#include "base/words.h"
#include "crypto/token.h"
#include "oauth/dpop/dpop.h"
#include "token/issue.h"
#include "token/show.h"

enum az_status
own_token_refuse(struct request *req, const char *detail)
{
    access_token_challenge(req, "error=\"invalid_token\"");
    return op_fail(&req->op, AZ_INVALID_TOKEN, NULL, "%s", detail);
}

enum az_status
own_token_find(struct request *req, const char *text, struct own_token *ret)
{
    enum token_kind kind;
    const char *why;
    if (token_parse(text, strlen(text), &kind, &ret->parts) != AZ_OK || kind != TOKEN_ACCESS)
        return own_token_refuse(req, "the token is not an access token of this server");
    ret->lookup.token = &ret->parts;
    ret->lookup.kind = TOKEN_ACCESS;
    enum az_status st = token_find(&req->op, &ret->lookup);
    if (st != AZ_OK)
        return st;
    const struct token_row *row = &ret->lookup.row;
    if (!row->found)
        return own_token_refuse(req, "the token is unknown, expired or revoked");
    req->proved = true;
    req->audit.client_id = row->client.client_id;
    req->audit.subject_id = row->subject;
    if (row->jit)
        return own_token_refuse(req, "the token is a single-use token");
    st = dpop_check_token(req, text, row->jkt, &why);
    return st == AZ_INVALID ? own_token_refuse(req, why) : st;
}

/* Write the audit row with policy's refusal, and give the caller the answer of any bad token. */
static enum az_status
refuse_denied(struct request *req)
{
    request_fill_audit(req, az_status_row(AZ_INVALID_TOKEN)->http, "denied");
    audit_explain(&req->op, &req->audit);
    enum az_status st = audit_send(&req->op, &req->audit);
    if (st != AZ_OK)
        return st;
    req->audited = true;
    return own_token_refuse(req, "policy denies the token");
}

/* Pack evaluation 2 for the audit row, if no other decision stands there. */
static void
pack_asked(struct request *req)
{
    struct verdict *asked = req->asked;
    struct az_fault fault = req->op.fault;
    req->audit_more = NULL;
    if (req->audit.input != NULL)
        return;
    ask_pack(&req->op, asked); /* on failure the row is written without it */
    req->op.fault = fault;
    req->audit.input = asked->input;
    req->audit.input_length = asked->input_length;
    req->audit.decision = asked->output;
    req->audit.decision_length = asked->output_length;
}

void
own_token_note(struct request *req, const struct shown *shown)
{
    token_note_shown(&req->op, &req->audit, shown);
    /* The row of a refusal is written after its handler has returned. */
    req->asked = talloc_memdup(req->op.mem, &shown->verdict, sizeof(shown->verdict));
    req->audit_more = req->asked != NULL ? pack_asked : NULL;
}

enum az_status
own_token_ask(struct request *req, struct own_token *token, struct shown *ret)
{
    *ret = (struct shown){.as = SHOWN_INVALID};
    struct introspect_question question = {
        .frame = {.endpoint = req->route->path, .ip = req->ip, .user_agent = req->user_agent},
        .caller = &token->lookup.row.client,
        .service = true,
        .unpacked = true,
    };
    enum az_status st = token_show(&req->op, &token->lookup, &question, ret);
    own_token_note(req, ret);
    if (st == AZ_FORBIDDEN) {
        az_fault_clear(&req->op.fault);
        return own_token_refuse(req, "policy does not let the service introspect the token");
    }
    if (st != AZ_OK)
        return st;
    if (!token->lookup.row.found)
        return own_token_refuse(req, "the token became invalid while policy was asked");
    if (ret->as == SHOWN_ACTIVE && ret->verdict.decision.jit)
        return own_token_refuse(req, "the token is a single-use token");
    token->scopes = ret->verdict.decision.scopes;
    token->baseline = ret->baseline;
    token->issued = ret->issued;
    return AZ_OK;
}

enum az_status
own_token_judge(struct request *req, struct own_token *token)
{
    struct shown shown;
    enum az_status st = own_token_ask(req, token, &shown);
    if (st != AZ_OK)
        return st;
    return shown.as == SHOWN_ACTIVE ? AZ_OK : refuse_denied(req);
}

enum az_status
own_token_note_read(struct request *req)
{
    request_fill_audit(req, 200, "allowed");
    enum az_status st = audit_send(&req->op, &req->audit);
    req->audited = st == AZ_OK;
    return st;
}

static enum az_status
refuse_scope(struct request *req, const char *const *scopes)
{
    char *list = talloc_strdup(req->op.mem, *scopes);
    for (const char *const *scope = scopes + 1; *scope != NULL; scope++)
        list = talloc_asprintf_append(list, " or %s", *scope);
    /* The challenge names one scope, because its list would mean that all of them are needed (RFC
     * 6750 3). */
    access_token_challenge(
        req, talloc_asprintf(req->op.mem, "error=\"insufficient_scope\", scope=\"%s\"", *scopes));
    return op_fail(&req->op, AZ_INSUFFICIENT_SCOPE, NULL, "the token lacks the scope %s",
                   list != NULL ? list : *scopes);
}

enum az_status
own_token_require(struct request *req, const char *const *scopes)
{
    const char *text = access_token_text(req);
    struct own_token *token = talloc_zero(req->op.mem, struct own_token);
    if (token == NULL)
        return op_no_memory(&req->op);
    if (text == NULL) {
        access_token_challenge(req, NULL);
        return op_fail(&req->op, AZ_INVALID_TOKEN, "The request needs a Bearer token",
                       "the request has no access token");
    }
    enum az_status st = own_token_find(req, text, token);
    if (st == AZ_OK)
        st = own_token_judge(req, token);
    if (st != AZ_OK)
        return st;
    req->token = token;
    for (const char *const *scope = scopes; *scope != NULL; scope++)
        if (words_array_has(token->scopes, *scope))
            return AZ_OK;
    return refuse_scope(req, scopes);
}
