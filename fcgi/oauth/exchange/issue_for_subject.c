#include "config.h"

#include "oauth/exchange/issue_for_subject.h"

#include "base/json/jsonx.h"
#include "crypto/random.h"
#include "http/request.h"
#include "oauth/exchange/issued_user.h"
#include "token/issue.h"

/* Life of a subject token, in seconds: it is used once, immediately. */
#define SUBJECT_TOKEN_SECONDS 60
#define TOKEN_EXCHANGE "urn:ietf:params:oauth:grant-type:token-exchange"

/* Frame the question as one of the caller's client, which authenticated when its token was issued.
 */
static struct question
subject_frame(const struct request *req, const struct own_token *token)
{
    const struct token_row *row = &token->lookup.row;
    const json_t *client = json_object_get(token->issued, "client");
    return (struct question){
        .endpoint = req->route->path,
        .ip = req->ip,
        .user_agent = req->user_agent,
        .flow_id = row->flow_id,
        .client = &row->client,
        .delegation = row->delegation,
        .auth_method = json_string_value(json_object_get(client, "auth_method")),
        .dpop = {.required = row->client.dpop_bound},
    };
}

static int64_t
end_of(const struct op *op, const struct token_row *row)
{
    int64_t end = op_now(op) + SUBJECT_TOKEN_SECONDS;
    return row->expires_at < end ? row->expires_at : end;
}

/* Complete the question of an exchange of the caller's token for one of `resource`. */
static struct issue_question
subject_question(const struct request *req, const struct own_token *token, const char *resource,
                 json_t *none)
{
    const struct token_row *row = &token->lookup.row;
    return (struct issue_question){
        .frame = subject_frame(req, token),
        .grant_type = TOKEN_EXCHANGE,
        .default_ttl = SUBJECT_TOKEN_SECONDS,
        .subject_id = row->subject,
        .resource = resource,
        .scopes = none,
        .default_scopes = none,
        .ceiling = none,
        .act = row->act,
        .expires_before = end_of(&req->op, row),
        .grant = row->family,
        .idp = row->family == NULL ? row->provider : 0,
        .opaque = true,
    };
}

/* Return the failure of an issuance as the caller of the gateway sees it. */
static enum az_status
issue_failure(struct op *op, enum az_status st)
{
    if (st == AZ_SERVER_ERROR || st == AZ_BUSY)
        return st;
    if (st == AZ_UNAVAILABLE || st == AZ_POLICY_UNAVAILABLE || st == AZ_STALE)
        return az_fail_as(&op->fault, AZ_POLICY_UNAVAILABLE, NULL);
    return az_fail_as(&op->fault, AZ_FORBIDDEN,
                      "Policy allows no token of this user for the authorization server of the "
                      "resource");
}

enum az_status
issue_for_subject(struct request *req, const struct own_token *token, const char *resource,
                  struct token_text *ret)
{
    struct op *op = &req->op;
    const struct token_row *row = &token->lookup.row;
    const struct question_user user = issued_user(row, token->issued);
    const struct question_exchange exchange = {
        .type = "access_token",
        .client_id = row->client.client_id,
        .resource = row->resource,
        .scopes = token->scopes,
    };
    json_t *none = jsonx_own(op->mem, json_array());
    struct issue_question question = subject_question(req, token, resource, none);
    struct issued issued = {.scope = NULL};
    bool audited = false;
    question.user = &user;
    question.exchange = &exchange;
    if (none == NULL)
        return op_no_memory(op);
    if (issued_subject(token->issued) != ISSUED_USER)
        return op_fail(op, AZ_USER_REQUIRED, NULL, "the record of the token's issuance is gone");
    request_fill_audit(req, 200, "allowed");
    struct audit_entry audit =
        req->audit; /* a row of its own, because the request writes a row too */
    audit.summary = audit.explained = audit.codes = NULL;
    audit.grant_type = TOKEN_EXCHANGE;
    audit.resource = resource;
    enum az_status st = token_issue(op, &question, NULL, &audit, &audited, &issued);
    if (st == AZ_OK)
        *ret = issued.text;
    issued_done(&issued);
    return st == AZ_OK ? AZ_OK : issue_failure(op, st);
}
