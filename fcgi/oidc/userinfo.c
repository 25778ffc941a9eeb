#include "config.h"

#include "oidc/userinfo.h"

#include <string.h>

#include "base/jsonx.h"
#include "base/words.h"
#include "crypto/token.h"
#include "oauth/client_auth.h"
#include "token/issue.h"
#include "token/show.h"

const struct route_param userinfo_params[] = {
    {"access_token", false},
    {NULL,           false},
};

/* The claims that each scope gives (OpenID Connect Core 5.4), of those that discovery names. */
static const struct {
    const char *scope, *claim;
} claims_of[] = {
    {"profile", "name"              },
    {"profile", "preferred_username"},
    {"email",   "email"             },
    {"email",   "email_verified"    },
};

static enum az_status
userinfo_refuse(struct request *req, const char *detail)
{
    req->challenge = "Bearer error=\"invalid_token\"";
    return op_fail(&req->op, AZ_INVALID_TOKEN, NULL, "%s", detail);
}

/* Read the token from the header or from a form (RFC 6750 2.1, 2.2), but not from both. A token in
 * the query does not count, because URLs end up in logs. */
static enum az_status
userinfo_read_token(struct request *req, struct token_parts *ret)
{
    const char *header = request_header(req, "HTTP_AUTHORIZATION");
    const char *text = strcmp(req->method, "POST") == 0 ? request_param(req, "access_token") : NULL;
    enum token_kind kind;
    if (header != NULL && text != NULL)
        return userinfo_refuse(req, "the request has a token in the header and in the form");
    if (header != NULL)
        text = bearer_token_text(req);
    if (text == NULL)
        return userinfo_refuse(req, "the request has no Bearer token");
    if (token_parse(text, strlen(text), &kind, ret) != AZ_OK || kind != TOKEN_ACCESS)
        return userinfo_refuse(req, "the token is not an access token of this server");
    return AZ_OK;
}

/* Check the token before policy is asked. A token that can be introspected once is no credential,
 * and a token of a client's own has no user. */
static enum az_status
userinfo_check_row(struct request *req, const struct token_row *row)
{
    if (!row->found)
        return userinfo_refuse(req, "the token is unknown, expired or revoked");
    req->proved = true;
    req->audit.client_id = row->client.client_id;
    req->audit.subject_id = row->subject;
    if (row->jit)
        return userinfo_refuse(req, "the token is a single-use token");
    if (row->claims == NULL)
        return userinfo_refuse(req, "the token has no user");
    return AZ_OK;
}

/* Build the answer: the known claims that the scopes give. */
static json_t *
body(struct request *req, const struct token_row *row, const json_t *scopes)
{
    json_t *answer = jsonx_own(req->op.mem, json_pack("{s:s}", "sub", row->subject));
    for (size_t i = 0; i < sizeof(claims_of) / sizeof(claims_of[0]); i++) {
        json_t *value = json_object_get(row->claims, claims_of[i].claim);
        if (value == NULL || json_is_null(value) || !words_array_has(scopes, claims_of[i].scope))
            continue;
        if (json_object_set(answer, claims_of[i].claim, value) != 0)
            return NULL;
    }
    return answer;
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
    return userinfo_refuse(req, "policy denies the token");
}

/* Ask policy for evaluation 2, as introspection does; the caller is the service itself. */
static enum az_status
userinfo_judge(struct request *req, struct token_lookup *lookup, struct shown *ret)
{
    struct introspect_question question = {
        .frame = {.endpoint = req->route->path, .ip = req->ip, .user_agent = req->user_agent},
        .caller = &lookup->row.client,
        .service = true,
    };
    enum az_status st = token_show(&req->op, lookup, &question, ret);
    token_note_shown(&req->op, &req->audit, ret);
    if (st == AZ_FORBIDDEN) {
        az_fault_clear(&req->op.fault);
        return userinfo_refuse(req, "policy does not let the service introspect the token");
    }
    if (st != AZ_OK)
        return st;
    if (!lookup->row.found)
        return userinfo_refuse(req, "the token became invalid while policy was asked");
    if (ret->as != SHOWN_ACTIVE)
        return refuse_denied(req);
    if (ret->verdict.decision.jit)
        return userinfo_refuse(req, "the token is a single-use token");
    if (!words_array_has(ret->verdict.decision.scopes, "openid"))
        return userinfo_refuse(req, "the token lacks the scope openid");
    return AZ_OK;
}

enum az_status
userinfo_handle(struct request *req)
{
    struct token_parts token;
    struct token_lookup lookup = {.token = &token, .kind = TOKEN_ACCESS};
    struct shown shown = {.as = SHOWN_INVALID};
    enum az_status st = userinfo_read_token(req, &token);
    if (st == AZ_OK)
        st = token_find(&req->op, &lookup);
    if (st == AZ_OK)
        st = userinfo_check_row(req, &lookup.row);
    if (st != AZ_OK)
        return st;
    if ((st = userinfo_judge(req, &lookup, &shown)) != AZ_OK)
        return st;
    request_fill_audit(req, 200, "allowed");
    if ((st = audit_send(&req->op, &req->audit)) != AZ_OK)
        return st;
    req->audited = true;
    return respond_json(req, 200, body(req, &lookup.row, shown.verdict.decision.scopes));
}
