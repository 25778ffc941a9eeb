#include "config.h"

#include "gateway/upstream/credential.h"

#include <gnutls/gnutls.h>
#include <stdint.h>
#include <string.h>

#include "crypto/secret.h"
#include "gateway/link/credential.h"
#include "gateway/upstream/credential_exchange.h"
#include "gateway/upstream/credential_token.h"
#include "managed/managed.h"

/* Fail because the service's own credential is not there. */
static enum az_status
is_missing(struct op *op, const struct upstream_wish *wish, const char *what)
{
    return op_fail(op, AZ_UPSTREAM_AUTH, NULL, "resource %s: %s of upstreamAuth is not set",
                   wish->resource->name, what);
}

char *
upstream_credential_value(struct op *op, const char *scheme, const char *value)
{
    size_t before = scheme != NULL ? strlen(scheme) : 0, length = strlen(value);
    char *text = secret_alloc(op->mem, before + 1 + length + 1);
    if (text == NULL)
        return NULL;
    if (before > 0) {
        memcpy(text, scheme, before);
        text[before++] = ' ';
    }
    memcpy(text + before, value, length + 1);
    return text;
}

void
upstream_credential_done(struct upstream_credential *credential)
{
    if (credential->value != NULL)
        secret_wipe(credential->value, strlen(credential->value));
    credential->value = NULL;
}

/* ---- the types */

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
    return ret->value != NULL ? AZ_OK : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
}

char *
upstream_basic(struct op *op, const char *name, const char *password)
{
    gnutls_datum_t box = {NULL, 0}, plain;
    size_t length = strlen(name), more = strlen(password);
    char *text = secret_alloc(op->mem, length + 1 + more + 1), *value = NULL;
    if (text == NULL)
        return NULL;
    memcpy(text, name, length);
    text[length] = ':';
    memcpy(text + length + 1, password, more + 1);
    plain = (gnutls_datum_t){(unsigned char *) text, (unsigned) (length + 1 + more)};
    if (gnutls_base64_encode2(&plain, &box) == 0) {
        char *copy = secret_copy(op->mem, box.data, box.size);
        value = copy != NULL ? upstream_credential_value(op, "Basic", copy) : NULL;
        talloc_free(copy);
        secret_wipe(box.data, box.size);
        gnutls_free(box.data);
    }
    talloc_free(text);
    return value;
}

static enum az_status
basic_credential(struct op *op, const struct upstream_wish *wish, struct upstream_credential *ret)
{
    if (wish->secrets == NULL || wish->secrets->password == NULL)
        return is_missing(op, wish, "the password");
    const char *name = wish->resource->auth.username;
    *ret = (struct upstream_credential){
        .header = "Authorization",
        .value = upstream_basic(op, name != NULL ? name : "", wish->secrets->password)};
    return ret->value != NULL ? AZ_OK : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
}

/* How to get a credential, by type of upstreamAuth. */
static upstream_credential_fn *const types[MANAGED_AUTH_TYPES] = {
    [MANAGED_AUTH_NONE] = no_credential,
    [MANAGED_AUTH_STATIC_HEADER] = static_credential,
    [MANAGED_AUTH_BASIC] = basic_credential,
    [MANAGED_AUTH_CLIENT_CREDENTIALS] = upstream_client_credentials,
    [MANAGED_AUTH_TOKEN_EXCHANGE] = upstream_token_exchange,
    [MANAGED_AUTH_OAUTH_LINK] = link_credential,
    [MANAGED_AUTH_USER_SECRET] = link_credential,
};

enum az_status
upstream_credential_for(struct op *op, const struct upstream_wish *wish,
                        struct upstream_credential *ret)
{
    enum managed_auth_type type = wish->resource->auth.type;
    *ret = (struct upstream_credential){.header = NULL};
    if (wish->refused != NULL && (type == MANAGED_AUTH_STATIC_HEADER || type == MANAGED_AUTH_BASIC))
        return op_fail(op, AZ_UPSTREAM_AUTH, NULL, "resource %s: the upstream refuses upstreamAuth",
                       wish->resource->name);
    return types[type](op, wish, ret);
}
