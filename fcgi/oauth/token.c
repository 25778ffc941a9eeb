#include "config.h"

#include "oauth/token.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "http/api/operation.h"
#include "metrics/metrics.h"
#include "oauth/client_auth/client_auth.h"
#include "oauth/dpop/dpop.h"
#include "oauth/grant.h"
#include "oauth/grants.h"

/* Parameters of every grant. */
/* clang-format off */
static const struct route_param token_params[] = {
    {.name = "grant_type", .required = true},
    CLIENT_AUTH_PARAMS,
};
/* clang-format on */
#define TOKEN_PARAMS (sizeof(token_params) / sizeof(token_params[0]))

const struct route_param *
token_find_param(const char *name)
{
    for (size_t i = 0; i < TOKEN_PARAMS; i++)
        if (strcmp(token_params[i].name, name) == 0)
            return &token_params[i];
    return grants_find_param(name);
}

/* Return the schema of the form of one grant. */
static json_t *
grant_schema(const struct grant *grant)
{
    struct jsonx_build form = {api_form_begin(), false};
    for (size_t i = 0; i < TOKEN_PARAMS; i++)
        api_form_add(&form, &token_params[i]);
    for (const struct route_param *param = grant->params; param->name != NULL; param++)
        api_form_add(&form, param);
    jsonx_set(&form, "title", json_string(grant->type));
    struct jsonx_build members = {json_object_get(form.value, "properties"), form.lost};
    jsonx_set(&members, "grant_type", json_pack("{s:s}", "const", grant->type));
    form.lost = form.lost || members.lost;
    if (form.lost)
        json_decref(form.value);
    return jsonx_built(&form);
}

json_t *
token_body_schema(void)
{
    struct jsonx_build grants = {json_array(), false};
    for (size_t i = 0; i < grant_table_count; i++)
        jsonx_append(&grants, grant_schema(&grant_table[i]));
    if (grants.lost)
        json_decref(grants.value);
    return grants.lost ? NULL : json_pack("{s:o}", "oneOf", grants.value);
}

static const struct grant *
requested_grant(const struct request *req)
{
    return grant_of_type(request_param(req, "grant_type"));
}

enum az_status
token_precheck(struct request *req)
{
    if (request_param(req, "grant_type") == NULL)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "grant_type is missing", NULL);
    if (requested_grant(req) == NULL)
        return op_fail(&req->op, AZ_UNSUPPORTED_GRANT_TYPE, NULL, NULL);
    return AZ_OK;
}

static enum az_status
check_grant_params(struct request *req, const struct grant *grant)
{
    for (const struct route_param *param = grant->params; param->name != NULL; param++)
        if (param->required && request_param(req, param->name) == NULL)
            return op_fail(&req->op, AZ_INVALID_REQUEST,
                           talloc_asprintf(req->op.mem, "%s is missing", param->name), NULL);
    return AZ_OK;
}

/* Refuse a client that registered dpop_bound_access_tokens and has no good proof (RFC 9449 5.2);
 * again, not by the cached row. */
static enum az_status
check_dpop_bound(struct request *req)
{
    if (!req->client->dpop_bound || grant_jkt(req) != NULL)
        return AZ_OK;
    enum az_status st = client_authenticate_again(req);
    if (st != AZ_OK || !req->client->dpop_bound)
        return st;
    return op_fail(&req->op, AZ_INVALID_REQUEST, "The client must send a valid DPoP proof",
                   "DPoP proof: %s", req->dpop != NULL ? req->dpop->why : "none, or DPoP is off");
}

static enum az_status
run_grant_once(struct request *req, const struct grant *grant, struct issued *ret)
{
    enum az_status st = grant_check_registered(req, grant);
    if (st == AZ_OK)
        st = check_dpop_bound(req);
    return st == AZ_OK ? grant->issue(req, ret) : st;
}

/* Issue tokens. While the cached client is out of date (AZ_STALE), authenticate the client as it
 * is now and try again. */
static enum az_status
run_grant(struct request *req, const struct grant *grant, struct issued *ret)
{
    enum az_status st = run_grant_once(req, grant, ret);
    for (int i = 1; i < CLIENT_ATTEMPTS && st == AZ_STALE; i++)
        if ((st = client_authenticate_again(req)) == AZ_OK)
            st = run_grant_once(req, grant, ret);
    return st == AZ_STALE
               ? op_fail(&req->op, AZ_UNAVAILABLE, NULL,
                         "the client changed during each of %d attempts", CLIENT_ATTEMPTS)
               : st;
}

/* Write the answer (specification 2.12) and wipe the tokens. */
static enum az_status
respond_issued(struct request *req, struct issued *issued)
{
    json_t *body = jsonx_own(
        req->op.mem,
        json_pack("{s:s,s:s,s:I,s:s,s:s*,s:s*,s:s*,s:O*}", "access_token", issued_access(issued),
                  "token_type", issued->bound ? "DPoP" : "Bearer", "expires_in",
                  (json_int_t) issued->expires_in, "scope", issued->scope, "issued_token_type",
                  issued->issued_token_type, "refresh_token",
                  issued->has_refresh ? issued->refresh.text : issued->kept_refresh, "id_token",
                  issued->id_token, "authorization_details", issued->details));
    issued_done(issued);
    return body != NULL ? respond_json(req, 200, body) : op_no_memory(&req->op);
}

enum az_status
token_handle(struct request *req)
{
    const struct grant *grant = requested_grant(req);
    struct issued issued = {.scope = NULL};
    if (grant == NULL)
        return op_fail(&req->op, AZ_UNSUPPORTED_GRANT_TYPE, NULL, NULL);
    enum az_status st = grant_check_confidential(req, grant);
    if (st == AZ_OK)
        st = check_grant_params(req, grant);
    if (st == AZ_OK)
        st = dpop_read(req);
    if (st == AZ_OK)
        st = run_grant(req, grant, &issued);
    if (st != AZ_OK)
        return st;
    metrics_add(req->op.az->metrics, METRIC_TOKENS_ISSUED, 0, (const char *const[]){grant->type});
    return respond_issued(req, &issued);
}
