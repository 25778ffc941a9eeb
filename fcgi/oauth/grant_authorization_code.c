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
    enum az_status st = find_code(req, &grant);
    const struct issue_family family = {
        .grant = &grant,
        .refreshable = grant_registered(req->client, "refresh_token"),
    };
    return st == AZ_OK ? grant_issue_first(req, &family, true, ret) : st;
}
