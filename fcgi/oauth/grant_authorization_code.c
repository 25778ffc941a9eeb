/* Tokens for an authorization code (RFC 6749 4.1.3, oauth.md 3.3). */
#include "config.h"

#include <string.h>

#include "oauth/grant.h"
#include "token/redeem.h"

/* Find the family of a code that may be redeemed. A code that is used twice ends its family. */
static enum az_status
find_code(struct request *req, struct grant_row *ret)
{
    const char *text = request_param(req, "code"), *why;
    struct token_parts code;
    enum token_kind kind;
    if (token_parse(text, strlen(text), &kind, &code) != AZ_OK || kind != TOKEN_CODE)
        return op_fail(&req->op, AZ_INVALID_GRANT, NULL, "not a code of this service");
    enum az_status st = grant_find_code(&req->op, &code, ret);
    if (st == AZ_OK)
        st = grant_check_client(req, ret);
    if (st != AZ_OK)
        return st;
    switch (redeem_judge_code(ret, req->client, request_param(req, "redirect_uri"),
                              request_param(req, "code_verifier"), grant_jkt(req), &why)) {
    case REDEEM_GOOD:
        return AZ_OK;
    case REDEEM_REPLAYED:
        return token_reused(&req->op, ret, NULL, why, &req->audit);
    case REDEEM_BAD:
        break;
    }
    return op_fail(&req->op, AZ_INVALID_GRANT, NULL, "code: %s", why);
}

enum az_status
grant_authorization_code(struct request *req, struct issued *ret)
{
    struct grant_row grant;
    struct issue_question question = {.grant_type = NULL};
    enum az_status st = find_code(req, &grant);
    if (st == AZ_OK)
        st = grant_read_family(req, &grant, true, &question);
    if (st == AZ_OK)
        st = grant_read_scopes(req, grant.scope, &question);
    if (st != AZ_OK)
        return st;
    const struct question_user user = token_user(&grant);
    const struct issue_family family = {
        .grant = &grant,
        .refreshable = grant_registered(req->client, "refresh_token"),
    };
    question.subject_id = grant.subject;
    question.user = &user;
    grant_frame(req, grant.flow_id, &question);
    request_fill_audit(req, 200, "allowed");
    return token_issue(&req->op, &question, &family, &req->audit, &req->audited, ret);
}
