#include "config.h"

#include "gateway/credential/types.h"

#include "client/proof.h"
#include "gateway/credential/client_credentials.h"
#include "gateway/credential/token_exchange.h"
#include "gateway/link/link_account.h"
#include "managed/managed.h"

/* Fail because the credential of the service itself is missing. */
static enum az_status
is_missing(struct op *op, const struct upstream_wish *wish, const char *what)
{
    return op_fail(op, AZ_UPSTREAM_AUTH, NULL, "resource %s: %s of upstreamAuth is not set",
                   wish->resource->name, what);
}

static enum az_status
no_credential(struct op *op, const struct upstream_wish *wish, struct upstream_credential *ret)
{
    (void) op;
    (void) wish;
    (void) ret;
    return AZ_OK;
}

static enum az_status
static_credential(struct op *op, const struct upstream_wish *wish, struct upstream_credential *ret)
{
    const struct managed_auth *auth = &wish->resource->auth;
    if (wish->secrets == NULL || wish->secrets->value == NULL)
        return is_missing(op, wish, "the value");
    *ret = (struct upstream_credential){
        .header = auth->query == NULL ? auth->header : NULL,
        .query = auth->query,
        .value = upstream_credential_value(op, auth->query == NULL ? auth->scheme : NULL,
                                           wish->secrets->value)};
    return ret->value != NULL ? AZ_OK : op_no_memory(op);
}

static enum az_status
basic_credential(struct op *op, const struct upstream_wish *wish, struct upstream_credential *ret)
{
    if (wish->secrets == NULL || wish->secrets->password == NULL)
        return is_missing(op, wish, "the password");
    const char *name = wish->resource->auth.username;
    *ret = (struct upstream_credential){
        .header = "Authorization",
        .value = client_basic(op, name != NULL ? name : "", wish->secrets->password)};
    return ret->value != NULL ? AZ_OK : op_no_memory(op);
}

/* Functions that get a credential, by type of upstreamAuth. */
static upstream_credential_fn *const types[MANAGED_AUTH_TYPES] = {
    [MANAGED_AUTH_NONE] = no_credential,
    [MANAGED_AUTH_STATIC_HEADER] = static_credential,
    [MANAGED_AUTH_BASIC] = basic_credential,
    [MANAGED_AUTH_CLIENT_CREDENTIALS] = gateway_client_credentials,
    [MANAGED_AUTH_TOKEN_EXCHANGE] = gateway_token_exchange,
    [MANAGED_AUTH_OAUTH_LINK] = link_credential,
    [MANAGED_AUTH_USER_SECRET] = link_credential,
};

enum az_status
gateway_credential(struct op *op, const struct upstream_wish *wish, struct upstream_credential *ret)
{
    enum managed_auth_type type = wish->resource->auth.type;
    *ret = (struct upstream_credential){.header = NULL};
    if (wish->refused != NULL && (type == MANAGED_AUTH_STATIC_HEADER || type == MANAGED_AUTH_BASIC))
        return op_fail(op, AZ_UPSTREAM_AUTH, NULL, "resource %s: the upstream refuses upstreamAuth",
                       wish->resource->name);
    return types[type](op, wish, ret);
}
