#include "config.h"

#include "oauth/token.h"

#include <string.h>

#include "oauth/client_auth.h"

const struct route_param token_params[] = {
    {"grant_type",            false},
    {"client_id",             false},
    {"client_secret",         false},
    {"client_assertion",      false},
    {"client_assertion_type", false},
    {"scope",                 false},
    {"resource",              true },
    {"resource_types",        false},
    {"authorization_details", false},
    {"code",                  false},
    {"redirect_uri",          false},
    {"code_verifier",         false},
    {"refresh_token",         false},
    {NULL,                    false},
};

/* One grant: its wire value, whether public clients may use it, and its handler. */
struct grant {
    const char *type;
    bool public_ok;
    enum az_status (*handle)(struct request *req);
};

static const struct grant grants[] = {
    {"client_credentials", false, grant_client_credentials},
    {"authorization_code", true,  grant_authorization_code},
    {"refresh_token",      true,  grant_refresh_token     },
};
#define GRANTS (sizeof(grants) / sizeof(grants[0]))

const char *const token_grant_types[] = {"client_credentials", "authorization_code",
                                         "refresh_token", NULL};

static const struct grant *
find_grant(const char *type)
{
    for (size_t i = 0; i < GRANTS; i++)
        if (strcmp(grants[i].type, type) == 0)
            return &grants[i];
    return NULL;
}

enum az_status
token_precheck(struct request *req)
{
    const char *type = request_param(req, "grant_type");
    if (type == NULL)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "grant_type is missing", NULL);
    if (find_grant(type) == NULL)
        return op_fail(&req->op, AZ_UNSUPPORTED_GRANT_TYPE, NULL, NULL);
    return AZ_OK;
}

/* A grant that public clients may not use; the cached row alone is no reason to refuse one. */
static enum az_status
check_type(struct request *req, const struct grant *grant)
{
    if (grant->public_ok || strcmp(req->client->type, "public") != 0)
        return AZ_OK;
    enum az_status st = client_authenticate_again(req);
    if (st != AZ_OK || strcmp(req->client->type, "public") != 0)
        return st;
    return op_fail(&req->op, AZ_UNAUTHORIZED_CLIENT, "Public clients may not use this grant", NULL);
}

enum az_status
token_handle(struct request *req)
{
    const struct grant *grant = find_grant(request_param(req, "grant_type"));
    if (grant == NULL)
        return op_fail(&req->op, AZ_UNSUPPORTED_GRANT_TYPE, NULL, NULL);
    enum az_status st = check_type(req, grant);
    return st == AZ_OK ? grant->handle(req) : st;
}
