#include "config.h"

#include "oidc/upstream/upstream_endpoints.h"

#include <string.h>

#include "base/settings/settings.h"
#include "base/uri.h"
#include "base/words.h"
#include "http/fetch/documents.h"
#include "oidc/upstream/upstream_fault.h"

/* Endpoints of the row, and the members of the discovery document that replace empty ones. */
/* clang-format off */
static const struct {
    const char *member;   /* in the discovery document */
    size_t at;            /* in struct upstream_endpoints */
    size_t row;           /* in struct identity_provider */
    bool stored;          /* the row has such a column */
    enum upstream_need need;
} endpoints[] = {
    {"authorization_endpoint", offsetof(struct upstream_endpoints, authorization),
     offsetof(struct identity_provider, authorization_endpoint), true, UPSTREAM_NEED_AUTHORIZATION},
    {"token_endpoint", offsetof(struct upstream_endpoints, token),
     offsetof(struct identity_provider, token_endpoint), true, UPSTREAM_NEED_TOKEN},
    {"jwks_uri", offsetof(struct upstream_endpoints, jwks_uri),
     offsetof(struct identity_provider, jwks_uri), true, UPSTREAM_NEED_TOKEN},
    {"userinfo_endpoint", offsetof(struct upstream_endpoints, userinfo),
     offsetof(struct identity_provider, userinfo_endpoint), true, UPSTREAM_NEED_NOTHING},
    {"end_session_endpoint", offsetof(struct upstream_endpoints, end_session), 0, false,
     UPSTREAM_NEED_NOTHING},
};
/* clang-format on */

#define COUNT (sizeof(endpoints) / sizeof(endpoints[0]))

static const char **
endpoint_at(struct upstream_endpoints *of, size_t index)
{
    return (const char **) (void *) ((char *) of + endpoints[index].at);
}

static const char *
stored_at(const struct identity_provider *provider, size_t index)
{
    const void *at = (const char *) provider + endpoints[index].row;
    return endpoints[index].stored ? *(const char *const *) at : NULL;
}

static enum az_status
bad_document(struct op *op, enum az_status status, const char *url, const char *why)
{
    return op_fail(op, status, NULL, "discovery document %.200s: %s", url, why);
}

/* Check a document at a discoveryUrl; its issuer is compared with the row's, as always. */
static enum az_status
check_members(struct op *op, const char *url, const json_t *document)
{
    if (json_string_value(json_object_get(document, "issuer")) == NULL)
        return bad_document(op, AZ_UNAVAILABLE, url, "it names no issuer");
    for (size_t i = 0; i < COUNT; i++) {
        const json_t *value = json_object_get(document, endpoints[i].member);
        if (value != NULL
            && (!json_is_string(value) || uri_web_fault(json_string_value(value)) != NULL
                || strchr(json_string_value(value), '#') != NULL))
            return bad_document(op, AZ_UNAVAILABLE, url, "an endpoint is not an http or https URL");
    }
    return AZ_OK;
}

/*
 * Check that the document's issuer is the one that was asked (OpenID Connect Discovery 4.3).
 * Otherwise one provider could speak for another (mix-up, RFC 9700 section 4.4).
 */
static enum az_status
check_discovery(struct op *op, const char *url, const json_t *document)
{
    const char *issuer = json_string_value(json_object_get(document, "issuer"));
    char *own = issuer != NULL ? document_discovery_url(op->mem, issuer) : NULL;
    if (issuer != NULL && (own == NULL || strcmp(own, url) != 0))
        return bad_document(op, AZ_PROVIDER_SETUP, url, "it names another issuer");
    return check_members(op, url, document);
}

/* Return the first algorithm of our ID tokens that the token endpoint takes for assertions; NULL:
 * it takes RS256, does not say, or takes none of ours. */
static const char *
assertion_alg_of(struct op *op, const json_t *document)
{
    const json_t *algs =
        json_object_get(document, "token_endpoint_auth_signing_alg_values_supported");
    const char *const *own = (const char *const *) op->az->cfg->id_token_algs;
    if (words_array_has(algs, ID_TOKEN_ALG_DEFAULT))
        return NULL;
    while (*own != NULL && !words_array_has(algs, *own))
        own++;
    return *own;
}

static bool
announces_create(const json_t *document)
{
    return words_array_has(json_object_get(document, "prompt_values_supported"), "create");
}

static void
take_document(struct op *op, const json_t *document, struct upstream_endpoints *found)
{
    const json_t *methods = json_object_get(document, "token_endpoint_auth_methods_supported");
    for (size_t i = 0; i < COUNT; i++)
        if (*endpoint_at(found, i) == NULL)
            *endpoint_at(found, i) =
                json_string_value(json_object_get(document, endpoints[i].member));
    found->secret_in_form = words_array_has(methods, "client_secret_post")
                            && !words_array_has(methods, "client_secret_basic");
    found->assertion_alg = assertion_alg_of(op, document);
    found->takes_create = announces_create(document);
    found->sends_iss =
        json_is_true(json_object_get(document, "authorization_response_iss_parameter_supported"));
}

/* Return the address of the provider's discovery document, and its check; NULL: no memory. */
static const char *
discovery_of(struct op *op, const struct identity_provider *provider, document_check_fn **ret_check)
{
    const char *url = provider->discovery_url;
    *ret_check = url != NULL ? check_members : check_discovery;
    return url != NULL ? url : document_discovery_url(op->mem, provider->issuer);
}

static enum az_status
ask_discovery(struct op *op, const struct identity_provider *provider,
              struct upstream_endpoints *found)
{
    struct document document;
    document_check_fn *check;
    const char *url = discovery_of(op, provider, &check);
    if (url == NULL)
        return op_no_memory(op);
    enum az_status st = document_get(op, DOCUMENT_DISCOVERY, url, 0, check, &document, NULL);
    const char *issuer =
        st == AZ_OK ? json_string_value(json_object_get(document.json, "issuer")) : NULL;
    /* Only check_discovery() returns that status. */
    if (st == AZ_PROVIDER_SETUP || (issuer != NULL && strcmp(issuer, provider->issuer) != 0)) {
        az_fault_clear(&op->fault);
        return upstream_setup_fault(op, provider, UPSTREAM_ISSUER_OTHER,
                                    "its discovery document names another issuer than its row");
    }
    if (st != AZ_OK)
        return st;
    take_document(op, document.json, found);
    return AZ_OK;
}

/* Return the first needed endpoint that is missing, or NULL. */
static const char *
lacking(struct upstream_endpoints *found, enum upstream_need need)
{
    for (size_t i = 0; i < COUNT; i++)
        if (need != UPSTREAM_NEED_NOTHING && endpoints[i].need == need
            && *endpoint_at(found, i) == NULL)
            return endpoints[i].member;
    return NULL;
}

enum az_status
upstream_endpoints_get(struct op *op, const struct identity_provider *provider,
                       enum upstream_need need, struct upstream_endpoints *ret)
{
    struct upstream_endpoints found = {.authorization = NULL};
    const struct az_fault before = op->fault;
    for (size_t i = 0; i < COUNT; i++)
        *endpoint_at(&found, i) = stored_at(provider, i);
    bool stored = lacking(&found, need) == NULL;
    enum az_status st = AZ_OK;
    /* If the row has the authorization endpoint, discovery is not asked, so that the browser need
     * not wait. */
    if (!stored || need != UPSTREAM_NEED_AUTHORIZATION)
        st = ask_discovery(op, provider, &found);
    if (st != AZ_OK && !stored)
        return st;
    found.unanswered = st == AZ_UNAVAILABLE || st == AZ_BUSY;
    op->fault = before;
    op->provider_fault = NULL;
    const char *member = lacking(&found, need);
    if (member != NULL)
        return op_fail(
            op, AZ_SERVER_ERROR, NULL,
            "identity provider %s: %s is missing from its settings and its discovery document",
            provider->idp_id, member);
    *ret = found;
    return AZ_OK;
}

enum az_status
upstream_keep_creating(struct op *op, const struct identity_provider **fit, size_t *fits)
{
    size_t kept = 0, away = 0;
    for (size_t i = 0; i < *fits && i < UPSTREAM_CREATE_MAX && away < UPSTREAM_CREATE_AWAY_MAX;
         i++) {
        struct upstream_endpoints found;
        enum az_status st = upstream_endpoints_get(op, fit[i], UPSTREAM_NEED_NOTHING, &found);
        if (st != AZ_OK)
            return st;
        away += found.unanswered;
        if (found.takes_create)
            fit[kept++] = fit[i];
    }
    *fits = kept;
    if (kept > 0)
        return AZ_OK;
    if (away > 0)
        return op_fail(op, AZ_UNAVAILABLE, UPSTREAM_NOT_REACHED,
                       "prompt=create: the discovery document of a provider cannot be had");
    return op_fail(op, AZ_INVALID_REQUEST,
                   "prompt=create is not supported: no identity provider announces it", NULL);
}

bool
upstream_creates(struct op *op, const struct identity_provider *provider)
{
    struct op beside = op_beside(op, op->mem);
    struct document document = {.json = NULL};
    document_check_fn *check;
    const char *issuer = NULL, *url = discovery_of(op, provider, &check);
    if (url != NULL && document_kept(&beside, DOCUMENT_DISCOVERY, url, check, &document) == AZ_OK)
        issuer = json_string_value(json_object_get(document.json, "issuer"));
    return issuer != NULL && strcmp(issuer, provider->issuer) == 0
           && announces_create(document.json);
}

const char *
upstream_callback(struct op *op, const struct identity_provider *provider)
{
    return talloc_asprintf(op->mem, "%s/authorize/callback/%s", op->az->cfg->oidc_issuer,
                           provider->idp_id);
}
