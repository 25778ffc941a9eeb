#include "config.h"

#include "admin/people/identity_provider_warnings.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "base/words.h"
#include "http/fetch/documents.h"
#include "http/form.h"
#include "store/people/identity_providers.h"
#include "token/subject.h"

/* Members with addresses that the service itself fetches, besides the issuer. */
static const char *const fetched[] = {"tokenEndpoint", "userinfoEndpoint", "jwksUri"};

void
identity_provider_warn(struct jsonx_build *list, const char *member, const char *what)
{
    jsonx_append(list, json_sprintf("%s: %s", member, what));
}

bool
identity_provider_address(struct op *op, struct jsonx_build *list, const char *member,
                          const char *url)
{
    const char *host = NULL;
    enum fetch_fault fault = fetch_url_fault(op, FETCH_SAFE_HTTP, url, &host);
    if (fault != FETCH_OK) {
        identity_provider_warn(list, member, fetch_url_why(FETCH_SAFE_HTTP, fault));
        return false;
    }
    if (strncmp(url, "https:", 6) != 0 && host != NULL && !uri_host_is_loopback(host))
        identity_provider_warn(
            list, member,
            "an http URL of another machine, which SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS allows, so "
            "codes and tokens can be read on the way; use https");
    return true;
}

const char *
identity_provider_fetch(struct op *op, const char *url, const char *what, json_t **ret)
{
    const long timeout = op->az->cfg->safe_http_timeout;
    const struct fetch_request request = {
        .hosts = FETCH_SAFE_HTTP,
        .url = url,
        .max_octets = DOCUMENT_KEYS_MAX,
        .timeout =
            timeout < IDENTITY_PROVIDER_TRY_SECONDS ? timeout : IDENTITY_PROVIDER_TRY_SECONDS,
    };
    const struct az_fault before = op->fault;
    struct fetch_answer answer;
    const char *why = NULL;
    az_fault_clear(&op->fault);
    if (fetch(op, &request, &answer) != AZ_OK)
        why = talloc_strdup(op->mem, op->fault.detail);
    else if (answer.status != 200)
        why = talloc_asprintf(op->mem, "%.160s answered with the status %d and no %s", url,
                              answer.status, what);
    else if (jsonx_parse(op->mem, answer.body, answer.length, HTTP_JSON_DEPTH_MAX, ret, NULL)
                 != AZ_OK
             || !json_is_object(*ret))
        why = talloc_asprintf(op->mem, "%.160s did not answer with a JSON object", url);
    op->fault = before;
    return why;
}

const char *
identity_provider_discover(struct op *op, const char *issuer, const char *url, json_t **ret)
{
    const char *why = identity_provider_fetch(op, url, "discovery document", ret);
    const char *named = why == NULL ? json_string_value(json_object_get(*ret, "issuer")) : NULL;
    if (why != NULL || (named != NULL && strcmp(named, issuer) == 0))
        return why;
    return "its discovery document names another issuer, so no sign-in is accepted; register "
           "the issuer as the document writes it";
}

/* True if a path ends with one of the words that Entra has in place of a tenant. */
static bool
names_no_tenant(const char *path)
{
    static const char *const ends[] = {"/common/v2.0", "/organizations/v2.0", "/consumers/v2.0"};
    size_t length = strlen(path);
    length -= length > 0 && path[length - 1] == '/';
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (length >= strlen(ends[i])
            && strncmp(path + length - strlen(ends[i]), ends[i], strlen(ends[i])) == 0)
            return true;
    return false;
}

const char *
identity_provider_tenant_fault(struct op *op, const char *issuer)
{
    static const char *const hosts[] = {"login.microsoftonline.com", "login.windows.net",
                                        "login.microsoftonline.us",
                                        "login.partner.microsoftonline.cn", NULL};
    struct uri uri;
    json_t *document = NULL;
    const char *url, *named = NULL;
    if (issuer == NULL || uri_parse(op->mem, issuer, &uri) != AZ_OK || uri.path == NULL
        || !names_no_tenant(uri.path))
        return NULL;
    bool template = words_has(hosts, uri.host);
    if (!template && (url = document_discovery_url(op->mem, issuer)) != NULL
        && fetch_url_fault(op, FETCH_SAFE_HTTP, url, NULL) == FETCH_OK
        && identity_provider_fetch(op, url, "discovery document", &document) == NULL)
        named = json_string_value(json_object_get(document, "issuer"));
    return template || (named != NULL && strchr(named, '{') != NULL)
               ? "names no tenant: register one provider for each tenant, .../TENANT/v2.0; one "
                 "provider with a list of `tenants` is not offered yet"
               : NULL;
}

const char *
identity_provider_document(TALLOC_CTX *mem, const json_t *provider, const char **ret_member)
{
    const char *url = json_string_value(json_object_get(provider, "discoveryUrl"));
    const char *issuer = json_string_value(json_object_get(provider, "issuer"));
    *ret_member = url != NULL ? "discoveryUrl" : "issuer";
    return url != NULL ? url : issuer != NULL ? document_discovery_url(mem, issuer) : NULL;
}

/* Add the member `home` to the row that is shown. */
static void
tell_home(struct op *op, json_t *provider, const char *issuer)
{
    struct op look = op_beside(op, op->mem);
    const struct identity_providers *providers;
    if (identity_providers_get(&look, true, &providers) != AZ_OK)
        return;
    const char *home = subject_home(&look, providers, NULL);
    json_object_set_new(provider, "home", json_boolean(home != NULL && strcmp(home, issuer) == 0));
}

json_t *
identity_provider_warnings(struct op *op, json_t *provider)
{
    struct jsonx_build list = {jsonx_own(op->mem, json_array()), false};
    const char *issuer = json_string_value(json_object_get(provider, "issuer"));
    const char *member, *url = identity_provider_document(op->mem, provider, &member);
    if (url == NULL || issuer == NULL)
        return NULL;
    tell_home(op, provider, issuer);
    json_t *document;
    bool fetchable = identity_provider_address(op, &list, member, url);
    for (size_t i = 0; i < sizeof(fetched) / sizeof(fetched[0]); i++) {
        const char *endpoint = json_string_value(json_object_get(provider, fetched[i]));
        if (endpoint != NULL)
            identity_provider_address(op, &list, fetched[i], endpoint);
    }
    /* An administrator who disables a provider that is down must not wait for it. */
    if (fetchable && json_is_true(json_object_get(provider, "enabled"))) {
        const char *why = identity_provider_discover(op, issuer, url, &document);
        if (why != NULL)
            identity_provider_warn(&list, member, why);
    }
    return jsonx_built(&list);
}
