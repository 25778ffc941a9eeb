#include "config.h"

#include "oauth/exchange/issue_for_subject.h"

#include "base/json/jsonx.h"
#include "crypto/random.h"
#include "http/request.h"
#include "oauth/exchange/issued_user.h"
#include "token/issue.h"

/* Life of a subject token, in seconds: it is used once, at once. */
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

enum az_status
gateway_subject_token(void *arg, const char *resource, struct token_text *ret)
{
    const struct gateway_bearer *holder = arg;
    struct request *req = holder->req;
    struct op *op = &req->op;
    const struct token_row *row = &holder->token->lookup.row;
    const struct question_user user = issued_user(row, holder->token->issued);
    const struct question_exchange exchange = {
        .type = "access_token",
        .client_id = row->client.client_id,
        .resource = row->resource,
        .scopes = holder->token->scopes,
    };
    json_t *none = jsonx_own(op->mem, json_array());
    const struct issue_question question = {
        .frame = subject_frame(req, holder->token),
        .grant_type = TOKEN_EXCHANGE,
        .default_ttl = SUBJECT_TOKEN_SECONDS,
        .subject_id = row->subject,
        .user = &user,
        .resource = resource,
        .scopes = none,
        .default_scopes = none,
        .ceiling = none,
        .exchange = &exchange,
        .act = row->act,
        .expires_before = end_of(op, row),
        .grant = row->family,
        .idp = row->family == NULL ? row->provider : 0,
    };
    struct issued issued = {.scope = NULL};
    bool audited = false;
    if (none == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
    if (issued_subject(holder->token->issued) != ISSUED_USER)
        return op_fail(op, AZ_USER_REQUIRED, NULL, "the record of the token's issuance is gone");
    request_fill_audit(req, 200, "allowed");
    struct audit_entry audit = req->audit; /* a row of its own; the request writes another one */
    audit.summary = audit.explained = audit.codes = NULL;
    audit.grant_type = TOKEN_EXCHANGE;
    audit.resource = resource;
    enum az_status st = token_issue(op, &question, NULL, &audit, &audited, &issued);
    if (st == AZ_OK)
        *ret = issued.text;
    issued_done(&issued);
    if (st == AZ_OK || st == AZ_SERVER_ERROR || st == AZ_BUSY)
        return st;
    if (st == AZ_UNAVAILABLE || st == AZ_POLICY_UNAVAILABLE || st == AZ_STALE)
        return az_fail_as(&op->fault, AZ_POLICY_UNAVAILABLE, NULL);
    return az_fail_as(&op->fault, AZ_FORBIDDEN,
                      "Policy allows no token of this user for the authorization server of the "
                      "resource");
}

static bool
caller_has_gone(void *arg)
{
    const struct http_io *io = ((const struct gateway_bearer *) arg)->req->io;
    return io->gone != NULL && io->gone(io);
}

struct upstream_caller
gateway_caller(struct gateway_bearer *bearer)
{
    const struct token_row *row = &bearer->token->lookup.row;
    return (struct upstream_caller){
        .subject = row->idp != NULL ? row->subject : NULL,
        .idp = row->idp,
        .client_id = row->client.client_id,
        .act = row->act,
        .flow_id = row->flow_id,
        .make_token = gateway_subject_token,
        .gone = caller_has_gone,
        .arg = bearer,
    };
}
