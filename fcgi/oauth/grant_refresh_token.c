/* New tokens for a refresh token (RFC 6749 6, oauth.md 3.3, decisions.md "Tokens"). */
#include "config.h"

#include <string.h>

#include "base/settings/settings.h"
#include "oauth/grant.h"
#include "token/redeem.h"

/* Scopes of OpenID Connect that clients send again with each refresh, granted or not. They name no
 * access, so that leaving them out grants nothing (decisions.md "Scopes at refresh"). */
static const char *const always_sent[] = {"openid", "offline_access", NULL};

/* A token has one first use and GRANT_REUSES_MAX more, and each branch is made and closed once. */
#define REFRESH_ATTEMPTS (1 + GRANT_REUSES_MAX + 2 * GRANT_BRANCHES_MAX)

/* Find the family of a token that may be used. A token that was replaced ends its family. */
static enum az_status
find_refresh(struct request *req, struct token_parts *shown, struct grant_row *ret)
{
    const char *text = request_param(req, "refresh_token"), *why, *told;
    enum token_kind kind;
    if (token_parse(text, strlen(text), &kind, shown) != AZ_OK || kind != TOKEN_REFRESH)
        return op_fail(&req->op, AZ_INVALID_GRANT, NULL, "not a refresh token of this service");
    enum az_status st = grant_find_refresh(&req->op, shown, ret);
    if (st == AZ_OK)
        st = grant_check_client(req, ret);
    if (st != AZ_OK)
        return st;
    switch (redeem_judge_refresh(ret, req->client, grant_jkt(req), &why, &told)) {
    case REDEEM_GOOD:
        return AZ_OK;
    case REDEEM_REPLAYED:
        return token_reused(&req->op, ret, shown, why, &req->audit);
    case REDEEM_BAD:
        break;
    }
    return op_fail(&req->op, AZ_INVALID_GRANT, told, "refresh token: %s", why);
}

/* True if programs of the client may share a sign-in: a public client's, whose tokens are replaced
 * (world.md R1). */
static bool
may_share(const struct request *req, const struct grant_row *grant)
{
    return strcmp(req->op.az->cfg->refresh_branches, SETTINGS_SAME_ADDRESS) == 0
           && client_is_public(req->client) && grant->jkt == NULL;
}

/* Return the place of a refresh by a token that may be used. `net` is the network of the request,
 * or NULL. */
static struct grant_place
refresh_place(const struct grant_row *grant, bool shares, const unsigned char *net)
{
    bool same = net != NULL && grant->net_length == GRANT_NET_OCTETS
                && memcmp(net, grant->net, GRANT_NET_OCTETS) == 0;
    bool opens = grant->rotated && shares && same && grant->branch_free;
    return (struct grant_place){
        .first = !grant->rotated,
        .opens = opens,
        .closes = grant->rotated && !same,
        .changed = !same,
        .branch = opens ? grant->branches : grant->branch,
        .branches = grant->branches + (opens ? 1 : 0),
        .net = net,
    };
}

static enum az_status
refresh_once(struct request *req, struct issued *ret)
{
    struct token_parts shown;
    struct grant_row grant;
    struct issue_question question = {.grant_type = NULL};
    unsigned char octets[GRANT_NET_OCTETS];
    const unsigned char *net = NULL;
    enum az_status st = find_refresh(req, &shown, &grant);
    if (st == AZ_OK)
        st = grant_read_family(req, &grant, false, &question);
    if (st == AZ_OK)
        st = grant_narrow_scopes(req, grant.granted_scope, always_sent, &question);
    /* A public client proves no more than that it has the token, unless that is bound to a DPoP
     * key. Each token is good once, so that the use of a stolen one is noticed (RFC 9700 4.14). */
    bool rotate =
        st == AZ_OK && (grant.rotated || (client_is_public(req->client) && grant.jkt == NULL));
    if (rotate)
        st = grant_network(req, grant.id, octets, &net);
    if (st != AZ_OK)
        return st;
    const struct question_user user = token_user(&grant);
    const struct grant_place place = refresh_place(&grant, may_share(req, &grant), net);
    const struct question_refresh refresh = {place.branch, place.branches, place.changed};
    const struct issue_family family = {
        .grant = &grant,
        .shown = &shown,
        .rotate = rotate,
        .place = place,
    };
    question.subject_id = grant.subject;
    question.user = &user;
    question.refresh = rotate ? &refresh : NULL;
    grant_frame(req, grant.flow_id, &question);
    request_fill_audit(req, 200, "allowed");
    if (!rotate)
        ret->kept_refresh = request_param(req, "refresh_token");
    return token_issue(&req->op, &question, &family, &req->audit, &req->audited, ret);
}

/* While requests of the same family come first, look again and ask policy about what is true then.
 * Each time another one has used this token, or made or closed a branch. */
enum az_status
grant_refresh_token(struct request *req, struct issued *ret)
{
    enum az_status st = AZ_RETRY;
    for (int i = 0; st == AZ_RETRY && i < REFRESH_ATTEMPTS; i++)
        st = refresh_once(req, ret);
    return st == AZ_RETRY
               ? op_fail(&req->op, AZ_UNAVAILABLE, NULL,
                         "the family changed during each of %d attempts", REFRESH_ATTEMPTS)
               : st;
}
