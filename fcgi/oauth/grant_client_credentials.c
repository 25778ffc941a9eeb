#include "config.h"

#include <string.h>

#include "base/jsonx.h"
#include "base/settings.h"
#include "base/uuid7.h"
#include "crypto/random.h"
#include "oauth/client_auth.h"
#include "oauth/parameters.h"
#include "oauth/token.h"
#include "policy/registry.h"
#include "token/issue.h"

/* One token has one resource: equal repetitions count once, two different ones are invalid_target
 * (decisions.md). */
static enum az_status
read_resource(struct request *req, const char **ret)
{
    const char *resource = NULL;
    for (size_t i = 0; i < req->params; i++) {
        if (strcmp(req->param[i].name, "resource") != 0)
            continue;
        enum az_status st = resource_check(&req->op, req->param[i].value);
        if (st != AZ_OK)
            return st;
        if (resource != NULL && !resource_equal(resource, req->param[i].value))
            return op_fail(&req->op, AZ_INVALID_TARGET, "A token is for one resource only", NULL);
        if (resource == NULL)
            resource = req->param[i].value;
    }
    *ret = resource;
    return AZ_OK;
}

/* The requested scopes within the registered ceiling; the registered ones are the default when none
 * are requested (policy.md 6.2). */
static enum az_status
read_scopes(struct request *req, struct issue_question *question)
{
    const char *asked = request_param(req, "scope"), *registered = req->client->scope;
    json_t *words, *all;
    enum az_status st = scope_parse(&req->op, registered, &all);
    if (st == AZ_OK)
        st = scope_parse(&req->op, asked, &words);
    if (st != AZ_OK)
        return st;
    if (registered != NULL)
        question->ceiling = all;
    question->scopes = scope_within(&req->op, words, question->ceiling);
    question->default_scopes = asked == NULL ? all : jsonx_own(req->op.mem, json_array());
    if (json_array_size(words) > 0 && json_array_size(question->scopes) == 0)
        return op_fail(&req->op, AZ_INVALID_SCOPE,
                       "None of the requested scopes is registered for the client", NULL);
    return AZ_OK;
}

/* An id that ties the audit rows of this token's issue and introspections together. */
static const char *
make_flow_id(struct request *req)
{
    unsigned char random[UUID7_RANDOM_OCTETS], id[UUID7_OCTETS];
    char text[UUID7_TEXT_LENGTH + 1];
    if (random_nonce(random, sizeof(random)) != AZ_OK)
        return NULL;
    uuid7_make((uint64_t) req->op.now_ms, random, id);
    uuid7_format(id, text);
    return talloc_strdup(req->op.mem, text);
}

static enum az_status
read_question(struct request *req, struct issue_question *question)
{
    memset(question, 0, sizeof(*question));
    enum az_status st = read_scopes(req, question);
    if (st == AZ_OK)
        st = read_resource(req, &question->resource);
    if (st == AZ_OK)
        st = resource_types_parse(&req->op, request_param(req, "resource_types"),
                                  &question->resource_types);
    if (st == AZ_OK)
        st = details_parse(&req->op, request_param(req, "authorization_details"),
                           &question->details);
    if (st != AZ_OK)
        return st;
    question->grant_type = "client_credentials";
    question->default_ttl = req->op.az->cfg->access_token_validity;
    question->subject_type = "client";
    question->subject_id = req->client->client_id;
    question->frame = (struct question){
        .endpoint = req->route->path,
        .ip = req->ip,
        .user_agent = req->user_agent,
        .flow_id = make_flow_id(req),
        .client = req->client,
        .auth_method = req->client_method,
    };
    return AZ_OK;
}

static enum az_status
answer(struct request *req, struct issued *issued)
{
    json_t *body =
        jsonx_own(req->op.mem,
                  json_pack("{s:s,s:s,s:I,s:s,s:O*}", "access_token", issued->text.text,
                            "token_type", "Bearer", "expires_in", (json_int_t) issued->expires_in,
                            "scope", issued->scope, "authorization_details", issued->details));
    token_text_done(&issued->text);
    return body != NULL ? respond_json(req, 200, body)
                        : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "no memory for the answer");
}

enum az_status
grant_client_credentials(struct request *req)
{
    struct issue_question question;
    struct client_credentials shown;
    struct issued issued;
    enum az_status st = AZ_INVALID;
    for (int pass = 0; pass < 2 && st == AZ_INVALID; pass++) {
        /* The cached client was stale: it must authenticate against the row as it is now. */
        if (pass == 1
            && ((st = client_credentials_read(req, &shown)) != AZ_OK
                || (st = client_authenticate(req, &shown, true)) != AZ_OK))
            return st;
        if ((st = read_question(req, &question)) != AZ_OK)
            return st;
        request_fill_audit(req, 200, "allowed");
        req->audit.subject_id = question.subject_id;
        req->audit.flow_id = question.frame.flow_id;
        st = token_issue(&req->op, &question, &req->audit, &req->audited, &issued);
    }
    if (st == AZ_INVALID)
        return op_fail(&req->op, AZ_UNAVAILABLE, NULL,
                       "the client's row changes faster than it can be read");
    return st == AZ_OK ? answer(req, &issued) : st;
}
