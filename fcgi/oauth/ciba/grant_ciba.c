/* Tokens for an auth_req_id (OpenID Connect CIBA Core 1.0 section 10.1, poll mode). */
#include "config.h"

#include <string.h>

#include "oauth/ciba/ciba_rules.h"
#include "oauth/grant.h"
#include "token/redeem.h"

/* Fail with the outcome of a poll. */
static enum az_status
refuse_poll(struct request *req, enum az_status st, const struct ciba_poll *poll)
{
    if (st != AZ_INVALID_GRANT)
        return op_fail(&req->op, st, NULL, NULL);
    return op_fail(&req->op, st, NULL, "auth_req_id: %s",
                   !poll->owner.found                         ? "unknown"
                   : poll->owner.client.id != req->client->id ? "issued to another client"
                                                              : "the tokens were already issued");
}

/* Note the poll, and find the family that an approval made. */
static enum az_status
find_approval(struct request *req, struct grant_row *ret)
{
    const char *text = request_param(req, "auth_req_id"), *why;
    struct token_parts parts;
    struct ciba_poll poll;
    enum token_kind kind;
    if (token_parse(text, strlen(text), &kind, &parts) != AZ_OK || kind != TOKEN_AUTH_REQ)
        return op_fail(&req->op, AZ_INVALID_GRANT, NULL, "not an auth_req_id of this service");
    enum az_status st = ciba_request_poll(&req->op, &parts, req->client, &poll);
    if (st == AZ_OK)
        st = grant_check_client(req, &poll.owner);
    if (st != AZ_OK)
        return st;
    if ((st = ciba_poll_judge(&poll, req->client->id)) != AZ_OK)
        return refuse_poll(req, st, &poll);
    st = grant_find_code(&req->op, &parts, ret);
    if (st == AZ_OK)
        st = grant_check_client(req, ret);
    if (st == AZ_OK && redeem_judge_approval(ret, req->client, &why) != REDEEM_GOOD)
        return op_fail(&req->op, AZ_INVALID_GRANT, NULL, "auth_req_id: %s", why);
    return st;
}

enum az_status
grant_ciba(struct request *req, struct issued *ret)
{
    struct grant_row grant;
    enum az_status st = find_approval(req, &grant);
    const struct issue_family family = {
        .grant = &grant,
        .refreshable = grant_registered(req->client, "refresh_token"),
        .polled = true,
    };
    return st == AZ_OK ? grant_issue_first(req, &family, false, ret) : st;
}
