/* New tokens for a refresh token (RFC 6749 6, oauth.md 3.3, decisions.md "Tokens"). */
#include "config.h"

#include <string.h>

#include "oauth/grant.h"
#include "token/redeem.h"

/* Scopes of OpenID Connect that clients send again with each refresh, granted or not. They name no
 * access, so that leaving them out grants nothing (decisions.md "Scopes at refresh"). */
static const char *const always_sent[] = {"openid", "offline_access", NULL};

/* Find the family of a token that may be used. A token that was replaced ends its family. */
static enum az_status
find_refresh(struct request *req, struct token_parts *shown, struct grant_row *ret)
{
    const char *text = request_param(req, "refresh_token"), *why;
    enum token_kind kind;
    if (token_parse(text, strlen(text), &kind, shown) != AZ_OK || kind != TOKEN_REFRESH)
        return op_fail(&req->op, AZ_INVALID_GRANT, NULL, "not a refresh token of this service");
    enum az_status st = grant_find_refresh(&req->op, shown, ret);
    if (st == AZ_OK)
        st = grant_check_client(req, ret);
    if (st != AZ_OK)
        return st;
    switch (redeem_judge_refresh(ret, req->client, grant_jkt(req), &why)) {
    case REDEEM_GOOD:
        return AZ_OK;
    case REDEEM_REPLAYED:
        return token_reused(&req->op, ret, shown, why, &req->audit);
    case REDEEM_BAD:
        break;
    }
    return op_fail(&req->op, AZ_INVALID_GRANT, NULL, "refresh token: %s", why);
}

enum az_status
grant_refresh_token(struct request *req, struct issued *ret)
{
    struct token_parts shown;
    struct grant_row grant;
    struct issue_question question = {.grant_type = NULL};
    enum az_status st = find_refresh(req, &shown, &grant);
    if (st == AZ_OK)
        st = grant_read_family(req, &grant, false, &question);
    if (st == AZ_OK)
        st = grant_narrow_scopes(req, grant.granted_scope, always_sent, &question);
    if (st != AZ_OK)
        return st;
    const struct question_user user = token_user(&grant);
    /* A public client proves no more than that it has the token, unless that is bound to a DPoP
     * key. Each token is good once, so that the use of a stolen one is noticed (RFC 9700 4.14). */
    bool rotate = grant.rotated || (client_is_public(req->client) && grant.jkt == NULL);
    const struct issue_family family = {.grant = &grant, .shown = &shown, .rotate = rotate};
    question.subject_id = grant.subject;
    question.user = &user;
    grant_frame(req, grant.flow_id, &question);
    request_fill_audit(req, 200, "allowed");
    if (!rotate)
        ret->kept_refresh = request_param(req, "refresh_token");
    return token_issue(&req->op, &question, &family, &req->audit, &req->audited, ret);
}
