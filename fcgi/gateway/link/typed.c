#include "config.h"

#include "gateway/link/typed.h"

#include <string.h>

#include "base/query.h"
#include "base/settings/settings.h"
#include "client/answer.h"
#include "crypto/secret.h"
#include "gateway/link/provider.h"
#include "gateway/upstream/credential.h"
#include "gateway/upstream/fetch_failed.h"
#include "managed/managed.h"
#include "store/gateway/connections.h"

/* Longest answer of the request that tries a secret, in octets; it is not read. */
#define TRIAL_MAX 1048576

/* True if a secret can be part of a header; other characters could begin a new header. */
static bool
link_is_plain(const char *secret)
{
    size_t length = strlen(secret);
    for (const char *c = secret; *c != '\0'; c++)
        if (*c <= 0x20 || *c >= 0x7f)
            return false;
    return length <= CLIENT_TOKEN_MAX;
}

/* Make the request that tries a secret. *ret_value, secret, is wiped by the caller. */
static enum az_status
make_trial(struct request *req, const struct managed_resource *resource, const char *secret,
           struct fetch_request *ret, char **ret_value)
{
    const struct managed_auth *auth = &resource->auth;
    const char *base = resource->upstream_url;
    size_t length = strlen(base);
    if (length > 0 && base[length - 1] == '/')
        length--;
    char *url = talloc_asprintf(req->op.mem, "%.*s%s", (int) length, base, auth->validate_path);
    const struct query_pair pair = {auth->query, secret};
    *ret_value = auth->query != NULL
                     ? (url != NULL ? query_append(req->op.mem, url, &pair, 1) : NULL)
                     : upstream_credential_value(&req->op, auth->scheme, secret);
    if (url == NULL || *ret_value == NULL)
        return op_no_memory(&req->op);
    *ret = (struct fetch_request){
        .hosts = FETCH_GATEWAY,
        .url = auth->query != NULL ? *ret_value : url,
        .form =
            auth->validate_method != NULL && strcmp(auth->validate_method, "POST") == 0 ? "" : NULL,
        .authorization = auth->query == NULL ? *ret_value : NULL,
        .field = auth->header,
        .max_octets = TRIAL_MAX,
        .timeout = req->op.az->cfg->safe_http_timeout,
    };
    return AZ_OK;
}

enum az_status
link_typed_try(struct request *req, const struct link_visit *visit, const char *secret,
               const char **ret_fault)
{
    struct fetch_request request;
    struct fetch_answer answer;
    char *value = NULL;
    *ret_fault = NULL;
    if (secret == NULL)
        *ret_fault = "secret_missing";
    else if (!link_is_plain(secret))
        *ret_fault = "secret_malformed";
    if (*ret_fault != NULL || visit->resource->auth.validate_path == NULL)
        return AZ_OK;
    enum az_status st = make_trial(req, visit->resource, secret, &request, &value);
    if (st == AZ_OK)
        st = fetch(&req->op, &request, &answer);
    if (value != NULL)
        secret_wipe(value, strlen(value));
    if (st != AZ_OK)
        return upstream_fetch_failed(&req->op, st, answer.fault);
    if (answer.status >= 400 && answer.status < 500 && answer.status != 429)
        *ret_fault = "secret_refused";
    else if (answer.status < 200 || answer.status > 299)
        return op_fail(&req->op, AZ_UPSTREAM_INVALID, NULL,
                       "managed resource %s answers with status %d to the request that tries a "
                       "secret",
                       visit->resource->name, answer.status);
    return AZ_OK;
}

enum az_status
link_typed_store(struct request *req, const struct link_visit *visit, const char *secret)
{
    bool stored = false;
    const struct connection_new connection = {
        .subject = visit->session.subject,
        .idp = visit->session.idp,
        .resource = visit->resource->name,
        .binding = visit->link.binding,
        .secrets = {.typed = secret},
        .scopes = visit->link.scopes,
    };
    unsigned char binding[SHA256_OCTETS];
    enum az_status st = link_binding(&req->op, visit->resource, binding);
    if (st != AZ_OK)
        return st;
    if (visit->link.binding == NULL || memcmp(binding, visit->link.binding, SHA256_OCTETS) != 0)
        return op_fail(&req->op, AZ_LINK_EXPIRED, "The application was changed. Start again",
                       "managed resource %s has another upstream since the link was used",
                       visit->resource->name);
    st = connection_store(&req->op, &connection, &stored);
    return st == AZ_OK && !stored
               ? op_fail(&req->op, AZ_LINK_INVALID, NULL, "person or resource were deleted")
               : st;
}
