#include "config.h"

#include "admin/people/identity_provider_warnings.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "http/fetch/documents.h"
#include "http/form.h"

/* Members with addresses that the service itself fetches, besides the issuer. */
static const char *const fetched[] = {"tokenEndpoint", "userinfoEndpoint", "jwksUri"};

/* Append the sentence "MEMBER: WHAT". */
static void
provider_warn(struct jsonx_build *list, const char *member, const char *what)
{
    jsonx_append(list, json_sprintf("%s: %s", member, what));
}

/* Warn of an address that would not be fetched, or whose traffic others could read. Return false if
 * it would not be fetched. */
static bool
check_address(struct op *op, struct jsonx_build *list, const char *member, const char *url)
{
    const char *host = NULL;
    enum fetch_fault fault = fetch_url_fault(op, FETCH_SAFE_HTTP, url, &host);
    if (fault != FETCH_OK) {
        provider_warn(list, member, fetch_url_why(FETCH_SAFE_HTTP, fault));
        return false;
    }
    if (strncmp(url, "https:", 6) != 0 && host != NULL && !uri_host_is_loopback(host))
        provider_warn(
            list, member,
            "an http URL of another machine, which SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS allows, so "
            "codes and tokens can be read on the way; use https");
    return true;
}

/* Return the fault of the document at the discovery address, or NULL (OpenID Connect Discovery
 * 4.3). */
static const char *
answer_fault(struct op *op, const char *url, const struct fetch_answer *answer, const char *issuer)
{
    json_t *document;
    if (answer->status != 200)
        return talloc_asprintf(op->mem,
                               "%.160s answered with the status %d and no discovery document", url,
                               answer->status);
    if (jsonx_parse(op->mem, answer->body, answer->length, HTTP_JSON_DEPTH_MAX, &document, NULL)
            != AZ_OK
        || !json_is_object(document))
        return talloc_asprintf(op->mem, "%.160s did not answer with a JSON object", url);
    const char *named = json_string_value(json_object_get(document, "issuer"));
    if (named == NULL || strcmp(named, issuer) != 0)
        return "its discovery document names another issuer, so no sign-in is accepted; register "
               "the issuer as the document writes it";
    return NULL;
}

/* Ask the issuer for its discovery document, as a sign-in does. */
static void
try_issuer(struct op *op, struct jsonx_build *list, const char *issuer, const char *url)
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
    az_fault_clear(&op->fault);
    const char *why = fetch(op, &request, &answer) == AZ_OK
                          ? answer_fault(op, url, &answer, issuer)
                          : talloc_strdup(op->mem, op->fault.detail);
    op->fault = before;
    if (why != NULL)
        provider_warn(list, "issuer", why);
}

json_t *
identity_provider_warnings(struct op *op, const json_t *provider)
{
    struct jsonx_build list = {jsonx_own(op->mem, json_array()), false};
    const char *issuer = json_string_value(json_object_get(provider, "issuer"));
    const char *url = issuer != NULL ? document_discovery_url(op->mem, issuer) : NULL;
    if (url == NULL)
        return NULL;
    bool fetchable = check_address(op, &list, "issuer", url);
    for (size_t i = 0; i < sizeof(fetched) / sizeof(fetched[0]); i++) {
        const char *endpoint = json_string_value(json_object_get(provider, fetched[i]));
        if (endpoint != NULL)
            check_address(op, &list, fetched[i], endpoint);
    }
    /* An administrator who disables a provider that is down must not wait for it. */
    if (fetchable && json_is_true(json_object_get(provider, "enabled")))
        try_issuer(op, &list, issuer, url);
    return jsonx_built(&list);
}
