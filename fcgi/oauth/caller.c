#include "config.h"

#include "oauth/caller.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "oauth/client_auth/client_auth.h"
#include "oauth/dpop/dpop.h"
#include "oauth/parameters/parameters.h"
#include "token/show.h"

enum az_status
caller_refuse_token(struct request *req, const char *detail)
{
    access_token_challenge(req, "error=\"invalid_token\"");
    return op_fail(&req->op, AZ_INVALID_TOKEN, NULL, "%s", detail);
}

static enum az_status
caller_read_token(struct request *req, const char *text, struct token_parts *ret)
{
    enum token_kind kind;
    return token_parse(text, strlen(text), &kind, ret) == AZ_OK && kind == TOKEN_ACCESS
               ? AZ_OK
               : caller_refuse_token(req, "not an access token of this service");
}

enum az_status
caller_authenticate(struct request *req)
{
    const char *bearer = access_token_text(req);
    struct token_parts parts;
    if (bearer != NULL && request_param(req, "client_secret") == NULL
        && request_param(req, "client_assertion") == NULL
        && request_param(req, "client_assertion_type") == NULL)
        return caller_read_token(req, bearer, &parts);
    if (bearer != NULL)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "Only one authentication method may be used",
                       NULL);
    enum az_status st = credential_client.check(req);
    if (st == AZ_OK && client_is_public(req->client)) {
        req->challenge =
            talloc_asprintf(req->op.mem, "Basic realm=\"%s\"", req->op.az->cfg->oidc_issuer);
        return op_fail(&req->op, AZ_INVALID_CLIENT, NULL,
                       "a public client cannot authenticate here");
    }
    return st;
}

/* Check the token: it must be live and not single-use (RFC 7662 2.1, 2.3). */
static enum az_status
judge_token(struct request *req, const struct token_row *row, struct caller *caller)
{
    json_t *words, *output = NULL;
    const char *why;
    if (!row->found)
        return caller_refuse_token(req, "unknown, expired or revoked token");
    req->proved = true;
    req->audit.client_id = row->client.client_id;
    if (row->jit)
        return caller_refuse_token(req, "a single-use token is not a credential");
    enum az_status st = dpop_check_token(req, access_token_text(req), row->jkt, &why);
    if (st == AZ_INVALID)
        return caller_refuse_token(req, why);
    if (st == AZ_OK)
        st = scope_parse(&req->op, row->scope, &words);
    if (st == AZ_OK)
        st = token_row_output(&req->op, row, &output);
    if (st != AZ_OK)
        return st;
    json_t *types = json_object_get(output, "resource_types");
    caller->client = &row->client;
    caller->method = "bearer";
    caller->token =
        jsonx_own(req->op.mem, json_pack("{s:O,s:s*,s:o}", "scopes", words, "resource",
                                         row->resource, "resource_types",
                                         json_is_array(types) ? json_incref(types) : json_array()));
    return caller->token != NULL ? AZ_OK : op_no_memory(&req->op);
}

enum az_status
caller_find(struct request *req, struct token_lookup *lookup, struct caller *ret)
{
    const char *bearer = access_token_text(req);
    enum az_status st = bearer != NULL ? caller_read_token(req, bearer, &ret->parts) : AZ_OK;
    if (st != AZ_OK)
        return st;
    lookup->caller_token = bearer != NULL ? &ret->parts : NULL;
    for (int pass = 0; pass < CLIENT_ATTEMPTS; pass++) {
        lookup->caller = req->client;
        if ((st = token_find(&req->op, lookup)) != AZ_OK)
            return st;
        if (bearer != NULL)
            return judge_token(req, &lookup->caller_row, ret);
        if (lookup->caller_current) {
            ret->client = req->client;
            ret->method = req->client_method;
            return AZ_OK;
        }
        if ((st = client_authenticate_again(req)) != AZ_OK)
            return st;
    }
    return op_fail(&req->op, AZ_UNAVAILABLE, NULL, "the caller changed during each of %d attempts",
                   CLIENT_ATTEMPTS);
}

bool
caller_token_has(const struct caller *caller, const char *scope)
{
    return words_array_has(json_object_get(caller->token, "scopes"), scope);
}
