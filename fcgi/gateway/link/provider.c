#include "config.h"

#include "gateway/link/provider.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "base/words.h"
#include "client/answer.h"
#include "gateway/link/metadata.h"
#include "gateway/link/registration.h"
#include "gateway/upstream/challenge.h"
#include "http/fetch/fetch.h"
#include "managed/managed.h"

static bool
link_is_word(const char *text, const char *word)
{
    return text != NULL && strcmp(text, word) == 0;
}

/* ---- addresses of ours */

bool
link_redirect_is_shared(const struct managed_resource *resource)
{
    return resource->auth.redirect_uri != NULL ? link_is_word(resource->auth.redirect_uri, "shared")
                                               : resource->redirect_shared;
}

const char *
link_redirect_name(const struct managed_resource *resource)
{
    return link_redirect_is_shared(resource) ? NULL : resource->name;
}

const char *
link_callback_uri(struct op *op, const char *name)
{
    return talloc_asprintf(op->mem, "%s/gateway/connect/callback%s%s", op->az->cfg->oidc_issuer,
                           name != NULL ? "/" : "", name != NULL ? name : "");
}

const char *
link_client_metadata_uri(struct op *op, const char *name)
{
    return talloc_asprintf(op->mem, "%s/.well-known/svc-gateway-client%s%s",
                           op->az->cfg->oidc_issuer, name != NULL ? "/" : ".json",
                           name != NULL ? name : "");
}

/* ---- endpoints */

/* Take a value from the metadata if the resource does not configure it. */
static void
link_take(const char **at, const json_t *metadata, const char *name)
{
    if (*at == NULL)
        *at = json_string_value(json_object_get(metadata, name));
}

/* MCP (authorization, 2026-07-28): without code_challenge_methods_supported a client refuses, since
 * it cannot know that PKCE is checked. */
static enum az_status
check_pkce(struct op *op, const struct managed_resource *resource, const json_t *metadata)
{
    if (!link_is_word(resource->auth.discovery, "prm") || !link_is_word(resource->auth.pkce, "S256")
        || words_array_has(json_object_get(metadata, "code_challenge_methods_supported"), "S256"))
        return AZ_OK;
    return op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                   "managed resource %s: its authorization server does not offer PKCE with S256",
                   resource->name);
}

/* True if a list of issuers has one. */
static bool
lists_issuer(const json_t *issuers, const char *issuer)
{
    size_t index;
    const json_t *listed;
    json_array_foreach (issuers, index, listed)
        if (json_is_string(listed) && link_issuer_is_same(json_string_value(listed), issuer))
            return true;
    return false;
}

/* The warning about a configured issuer that the upstream does not name. */
#define ISSUER_NOT_NAMED                                                                           \
    "its upstream does not name upstreamAuth.issuer among its authorization servers; the "         \
    "configured one is used"

const char *
link_issuer_warning(struct op *op, const struct managed_resource *resource)
{
    const json_t *metadata = NULL;
    const char *issuer = resource->auth.issuer;
    if (resource->auth.type != MANAGED_AUTH_OAUTH_LINK || issuer == NULL
        || !link_is_word(resource->auth.discovery, "prm"))
        return NULL;
    const struct az_fault before = op->fault;
    enum az_status st = link_resource_metadata_get(op, resource, op->now_ms, &metadata);
    op->fault = before;
    return st == AZ_OK && !lists_issuer(json_object_get(metadata, "authorization_servers"), issuer)
               ? ISSUER_NOT_NAMED
               : NULL;
}

/* Choose the issuer: the configured one, which is the operator's word, else the first that the
 * upstream's protected-resource metadata name. */
static enum az_status
choose_issuer(struct op *op, const struct managed_resource *resource, int64_t not_before,
              struct link_provider *ret)
{
    const json_t *metadata = NULL;
    enum az_status st = link_resource_metadata_get(op, resource, not_before, &metadata);
    if (st != AZ_OK)
        return st;
    const json_t *issuers = json_object_get(metadata, "authorization_servers");
    if (ret->issuer == NULL)
        ret->issuer = json_string_value(json_array_get(issuers, 0));
    else if (!lists_issuer(issuers, ret->issuer))
        log_text(AZ_SEV_WARN, "gateway", "%s: " ISSUER_NOT_NAMED, resource->name);
    if (ret->resource == NULL)
        ret->resource = json_string_value(json_object_get(metadata, "resource"));
    ret->scopes_supported = json_object_get(metadata, "scopes_supported");
    return ret->issuer != NULL
               ? AZ_OK
               : op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                         "managed resource %s: its upstream names no authorization server",
                         resource->name);
}

static enum az_status
link_discover(struct op *op, const struct managed_resource *resource, int64_t not_before,
              struct link_provider *ret, const json_t **ret_metadata)
{
    enum az_status st = link_is_word(resource->auth.discovery, "prm")
                            ? choose_issuer(op, resource, not_before, ret)
                            : AZ_OK;
    if (st == AZ_OK && ret->issuer == NULL)
        return op_fail(op, AZ_UPSTREAM_INVALID, NULL, "managed resource %s has no issuer",
                       resource->name);
    if (st == AZ_OK)
        st = link_metadata_get(op, ret->issuer, ret_metadata);
    if (st == AZ_OK)
        st = check_pkce(op, resource, *ret_metadata);
    if (st != AZ_OK)
        return st;
    /* From here on the text of the server itself: answers have exactly that (RFC 9207 2.4). */
    ret->issuer = json_string_value(json_object_get(*ret_metadata, "issuer"));
    link_take(&ret->authorization, *ret_metadata, "authorization_endpoint");
    link_take(&ret->token, *ret_metadata, "token_endpoint");
    link_take(&ret->revocation, *ret_metadata, "revocation_endpoint");
    link_take(&ret->registration, *ret_metadata, "registration_endpoint");
    ret->sends_iss = json_is_true(
        json_object_get(*ret_metadata, "authorization_response_iss_parameter_supported"));
    return AZ_OK;
}

/* Check that both endpoints are addresses that may be asked: the browser is sent to one of them, so
 * metadata must not name another scheme. */
static enum az_status
check_endpoints(struct op *op, const struct managed_resource *resource,
                const struct link_provider *provider)
{
    if (fetch_url_fault(op, FETCH_GATEWAY, provider->authorization, NULL) == FETCH_OK
        && fetch_url_fault(op, FETCH_GATEWAY, provider->token, NULL) == FETCH_OK)
        return AZ_OK;
    return op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                   "managed resource %s: its authorization endpoint or its token endpoint is "
                   "missing, or is not https at a public address",
                   resource->name);
}

/* ---- our client */

/* True if the server accepts the address of a document as client_id. Without metadata the
 * configuration decides; such an address is https (client id metadata documents, 3). */
static bool
takes_cimd(const struct op *op, const json_t *metadata)
{
    return strncmp(op->az->cfg->oidc_issuer, "https://", 8) == 0
           && (metadata == NULL
               || json_is_true(json_object_get(metadata, "client_id_metadata_document_supported")));
}

static enum az_status
choose_client(struct op *op, const struct managed_resource *resource,
              const struct managed_secrets *secrets, const json_t *metadata,
              struct link_provider *ret)
{
    const struct managed_auth *auth = &resource->auth;
    if (link_is_word(auth->registration, "cimd") && takes_cimd(op, metadata)) {
        ret->client_id = link_client_metadata_uri(op, link_redirect_name(resource));
        ret->auth_method = "none";
        return ret->client_id != NULL ? AZ_OK : op_no_memory(op);
    }
    if (link_is_word(auth->registration, "cimd") || link_is_word(auth->registration, "dcr"))
        return link_registration_need(op, resource, metadata, ret);
    ret->client_id = auth->client_id;
    ret->secret = secrets != NULL ? secrets->client_secret : NULL;
    ret->private_key = secrets != NULL ? secrets->private_key : NULL;
    ret->auth_method = auth->token_auth_method != NULL ? auth->token_auth_method
                       : ret->secret != NULL           ? "client_secret_basic"
                                                       : "none";
    if (ret->client_id != NULL)
        return AZ_OK;
    return op_fail(op, AZ_UPSTREAM_AUTH, NULL, "managed resource %s has no upstreamAuth.clientId",
                   resource->name);
}

enum az_status
link_provider_get(struct op *op, const struct managed_resource *resource,
                  const struct managed_secrets *secrets, int64_t not_before,
                  struct link_provider *ret)
{
    const struct managed_auth *auth = &resource->auth;
    const json_t *metadata = NULL;
    *ret = (struct link_provider){
        .issuer = auth->issuer,
        .authorization = auth->authorization_endpoint,
        .token = auth->token_endpoint,
        .revocation = auth->revocation_endpoint,
        .resource = auth->resource,
    };
    enum az_status st = AZ_OK;
    if (link_is_word(auth->discovery, "prm") || link_is_word(auth->discovery, "issuer"))
        st = link_discover(op, resource, not_before, ret, &metadata);
    if (st == AZ_OK)
        st = check_endpoints(op, resource, ret);
    return st == AZ_OK ? choose_client(op, resource, secrets, metadata, ret) : st;
}

/* ---- scopes */

enum az_status
link_provider_scopes(struct op *op, const struct managed_resource *resource,
                     const struct link_provider *provider, json_t **ret)
{
    const char *challenge = NULL, *text = NULL;
    if (json_array_size(*ret) > 0 || !link_is_word(resource->auth.discovery, "prm"))
        return AZ_OK;
    enum az_status st = link_challenge_get(op, resource, &challenge);
    if (st != AZ_OK)
        return st;
    if (challenge != NULL)
        text = upstream_challenge_param(op->mem, challenge, "scope");
    const json_t *asked =
        text != NULL ? client_scopes_split(op->mem, text, NULL) : provider->scopes_supported;
    *ret = upstream_scopes_clean(op->mem, asked);
    return *ret != NULL ? AZ_OK : op_no_memory(op);
}

/* ---- binding */

bool
link_is_issuer(const struct link_provider *provider, const char *issuer)
{
    return issuer == NULL
           || (provider->issuer != NULL && link_issuer_is_same(provider->issuer, issuer));
}

enum az_status
link_binding_at(struct op *op, const struct link_provider *provider,
                const unsigned char binding[SHA256_OCTETS], unsigned char ret[SHA256_OCTETS])
{
    unsigned char both[2 * SHA256_OCTETS];
    const char *text =
        talloc_asprintf(op->mem, "%s %s", provider->issuer != NULL ? provider->issuer : "",
                        provider->token); /* addresses have no spaces */
    memcpy(both, binding, SHA256_OCTETS);
    return text != NULL && sha256(text, strlen(text), both + SHA256_OCTETS) == AZ_OK
                   && sha256(both, sizeof(both), ret) == AZ_OK
               ? AZ_OK
               : op_no_memory(op);
}

enum az_status
link_binding(struct op *op, const struct managed_resource *resource,
             unsigned char ret[SHA256_OCTETS])
{
    const struct managed_auth *auth = &resource->auth;
    struct uri uri;
    const char *origin =
        resource->upstream_url != NULL && uri_parse(op->mem, resource->upstream_url, &uri) == AZ_OK
            ? uri_origin(op->mem, &uri)
            : "";
    const char *const parts[] = {
        auth->type_name,      origin,          auth->discovery,    auth->issuer,
        auth->token_endpoint, auth->client_id, auth->registration, auth->header,
        auth->query,
    };
    struct jsonx_build list = {jsonx_own(op->mem, json_array()), false};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        jsonx_append(&list, json_string(parts[i] != NULL ? parts[i] : ""));
    json_t *built = jsonx_built(&list);
    char *text = built != NULL ? jsonx_dump(op->mem, built) : NULL;
    if (text == NULL || sha256(text, strlen(text), ret) != AZ_OK)
        return op_no_memory(op);
    return AZ_OK;
}
