/* A realm export of Keycloak (F8). */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cli/instance/import.h"

#define CIBA "urn:openid:params:grant-type:ciba"

/* clang-format off */
static const struct import_member realm_members[] = {
    {"realm",             NULL, "the service has one realm: its issuer", true},
    {"clients",           NULL, NULL, true},
    {"identityProviders", NULL, NULL, true},
    {"users",             NULL,
     "people sign in at identity providers; register Keycloak as one, or move them to "
     "another", false},
    {"groups",            NULL,
     "groups are claims of the identity provider, or data rows that rules read", false},
    {"roles",             NULL, "roles are scopes, or data rows that rules read", false},
    {"defaultRole*",      NULL, "roles are scopes, or data rows that rules read", false},
    {"scopeMappings",     NULL, "who gets a scope is decided by bindings and rules", false},
    {"clientScopeMappings", NULL, "who gets a scope is decided by bindings and rules", false},
    {"clientScopes",      NULL, "mappers are not taken over; claims follow from scopes and rules",
     false},
    {"default*ClientScopes", NULL, "scopes of each client are in its binding", false},
    {"components",        NULL,
     "user federation (LDAP), keys and policies of registration are not taken over", false},
    {"identityProviderMappers", NULL, "claims of the provider are given to rules as they are",
     false},
    {"authenticationFlows", NULL, "people sign in at identity providers, which ask for factors",
     false},
    {"authenticatorConfig", NULL, "people sign in at identity providers, which ask for factors",
     false},
    {"accessTokenLifespan*", NULL, "set it in the row svc.operator.controls.lifetime", false},
    {"sslRequired",       NULL, "the service demands TLS except for loopback", true},
    {.name = NULL},
};
static const struct import_member client_members[] = {
    {"id",           NULL, "is a number of the old server", true},
    {"clientId",     NULL, "is the name of the file", true},
    {"name",         "clientName", "clientName", true},
    {"enabled",      "enabled", "enabled", true},
    {"baseUrl",      NULL, "is not shown here", true},
    {"adminUrl",     NULL, "the service sends no requests to clients", false},
    {"protocol",     NULL, "openid-connect", true},
    {"publicClient", NULL, NULL, true},
    {"bearerOnly",   NULL, NULL, true},
    {"redirectUris", NULL, NULL, true},
    {"rootUrl",      NULL, NULL, true},
    {"clientAuthenticatorType", NULL, NULL, true},
    {"secret",       NULL, NULL, true},
    {"standardFlowEnabled",    NULL, NULL, true},
    {"serviceAccountsEnabled", NULL, NULL, true},
    {"implicitFlowEnabled",    NULL, NULL, true},
    {"directAccessGrantsEnabled", NULL, NULL, true},
    {"defaultClientScopes",    NULL, "scopes of the binding", true},
    {"optionalClientScopes",   NULL, "scopes of the binding", true},
    {"attributes",             NULL, NULL, true},
    {"protocolMappers",        NULL, "claims follow from scopes and rules", false},
    {"webOrigins",             NULL, "pages of every origin may call /token, /revoke and /userinfo",
     true},
    {"consentRequired",        NULL,
     "consent is a decision of policy: svc.operator.controls.consent", false},
    {"fullScopeAllowed",       NULL, "the scopes of the binding are all that the client gets",
     false},
    {"authorizationSettings",  NULL, "write rules in place of permissions", false},
    {"authorizationServicesEnabled", NULL, "write rules in place of permissions", false},
    {"authenticationFlowBindingOverrides", NULL,
     "people sign in at identity providers, which ask for factors", false},
    {.name = NULL},
};
static const struct import_member attribute_members[] = {
    {"post.logout.redirect.uris",    NULL, NULL, true},
    {"jwks.url",                     NULL, NULL, true},
    {"use.jwks.url",                 NULL, "says that jwks.url counts", true},
    {"id.token.signed.response.alg", "idTokenSignedResponseAlg", "idTokenSignedResponseAlg", true},
    {"oidc.ciba.grant.enabled",      NULL, NULL, true},
    {"logoUri",                      "logoUri", "logoUri", true},
    {"pkce.code.challenge.method",   NULL,
     "S256 is the only method; set pkceRequired to demand it of a confidential client", false},
    {"saml*",                        NULL, "SAML is not served", false},
    {"x509*",                        NULL, "clients do not authenticate with certificates", false},
    {"*.lifespan",                   NULL, "set lifetimes in svc.operator.controls.lifetime",
     false},
    {.name = NULL},
};
static const struct import_member provider_members[] = {
    {"alias",       NULL, "is the name of the file", true},
    {"internalId",  NULL, "is a number of the old server", true},
    {"displayName", "name", "name", true},
    {"enabled",     "enabled", "enabled", true},
    {"providerId",  NULL, "oidc", true},
    {"config",      NULL, NULL, true},
    {"firstBrokerLoginFlowAlias", NULL, "a person is known by issuer and sub", false},
    {.name = NULL},
};
static const struct import_member config_members[] = {
    {"issuer",           "issuer", "issuer", true},
    {"clientId",         "clientId", "clientId", true},
    {"authorizationUrl", "authorizationEndpoint", "authorizationEndpoint", true},
    {"tokenUrl",         "tokenEndpoint", "tokenEndpoint", true},
    {"userInfoUrl",      "userinfoEndpoint", "userinfoEndpoint", true},
    {"jwksUrl",          "jwksUri", "jwksUri", true},
    {"defaultScope",     NULL, NULL, true},
    {"clientSecret",     NULL,
     "no secret is written: put {\"env\": NAME} or {\"file\": PATH} into the member "
     "clientSecret", false},
    {"useJwksUrl",       NULL, "signatures are always checked", true},
    {"validateSignature", NULL, "signatures are always checked", true},
    {.name = NULL},
};
/* clang-format on */

static const char *
text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

/* True if a member is true, or the text of it: attributes are texts. */
static bool
is_on(const json_t *object, const char *name)
{
    return json_is_true(json_object_get(object, name))
           || strcmp(text_of(object, name), "true") == 0;
}

/* ---- addresses */

/* Add an address unless it has a wildcard: here addresses are compared as they are (RFC 9700 2.1).
 */
static void
take_address(struct import *import, const char *client, const char *from, json_t *to,
             const char *member, const char *address)
{
    if (strchr(address, '*') != NULL)
        import_note(import, client, from, false,
                    talloc_asprintf(import->cli->mem,
                                    "%s has a wildcard; write each address in full into %s",
                                    address, member));
    else if (strstr(address, ":") == NULL)
        import_note(import, client, from, false,
                    talloc_asprintf(import->cli->mem, "%s is no absolute address", address));
    else {
        import_note(import, client, from, true, member);
        import_word(import, to, member, address);
    }
}

static void
take_redirects(struct import *import, const char *id, const json_t *client, json_t *to)
{
    size_t i;
    json_t *item;
    const char *root = text_of(client, "rootUrl");
    json_array_foreach (json_object_get(client, "redirectUris"), i, item) {
        const char *address = json_string_value(item);
        if (address != NULL && *address == '/' && *root != '\0')
            address = talloc_asprintf(import->cli->mem, "%s%s", root, address);
        take_address(import, id, "redirectUris", to, "redirectUris",
                     address != NULL ? address : "");
    }
    if (*root != '\0')
        import_note(import, id, "rootUrl", true, "is put before relative addresses");
}

/* Addresses of logouts are one text, separated by ##; + stands for the redirect URIs. */
static void
take_logouts(struct import *import, const char *id, const char *text, json_t *to)
{
    static const char name[] = "post.logout.redirect.uris";
    size_t i;
    json_t *item;
    for (const char *end; *text != '\0'; text = *end != '\0' ? end + 2 : end) {
        end = strstr(text, "##");
        end = end != NULL ? end : text + strlen(text);
        const char *address = talloc_strndup(import->cli->mem, text, (size_t) (end - text));
        if (address == NULL)
            import->lost = true;
        else if (strcmp(address, "+") == 0) {
            import_note(import, id, name, true, "the redirectUris");
            json_array_foreach (json_object_get(to, "redirectUris"), i, item)
                import_word(import, to, "postLogoutRedirectUris", json_string_value(item));
        } else
            take_address(import, id, name, to, "postLogoutRedirectUris", address);
    }
}

/* ---- clients */

static void
set_text(struct import *import, json_t *object, const char *name, const char *text)
{
    if (json_object_set_new(object, name, json_string(text)) != 0)
        import->lost = true;
}

/* Set how the client authenticates. */
static void
take_method(struct import *import, const char *id, const json_t *client, json_t *to)
{
    const char *method = text_of(client, "clientAuthenticatorType");
    const bool is_public = is_on(client, "publicClient"), jwt = strcmp(method, "client-jwt") == 0;
    set_text(import, to, "clientType", is_public ? "public" : "confidential");
    import_note(import, id, "publicClient", true, "clientType");
    if (is_public) {
        set_text(import, to, "tokenEndpointAuthMethod", "none");
        import_note(import, id, "clientAuthenticatorType", true, "a public client has none");
    } else if (jwt || *method == '\0' || strcmp(method, "client-secret") == 0) {
        set_text(import, to, "tokenEndpointAuthMethod",
                 jwt ? "private_key_jwt" : "client_secret_basic");
        import_note(import, id, "clientAuthenticatorType", true, "tokenEndpointAuthMethod");
    } else {
        import_note(import, id, "clientAuthenticatorType", false,
                    talloc_asprintf(import->cli->mem,
                                    "%s is not supported; the client gets client_secret_basic",
                                    method));
    }
    if (json_object_get(client, "secret") != NULL)
        import_note(import, id, "secret", false,
                    "no secret is written: the service makes a new one, or put {\"env\": NAME} or "
                    "{\"file\": PATH} into the member clientSecret");
}

/* Note a flow that is switched on, and give its grants. */
static void
take_flow(struct import *import, const char *id, const json_t *from, const char *name,
          const char *grant, const char *refused)
{
    if (!is_on(from, name)) {
        if (json_object_get(from, name) != NULL)
            import_note(import, id, name, true, "is off");
        return;
    }
    import_note(import, id, name, grant != NULL,
                grant != NULL ? talloc_asprintf(import->cli->mem, "grant %s of the binding", grant)
                              : refused);
    if (grant != NULL)
        import_right(import, id, "grants", grant);
}

static void
take_flows(struct import *import, const char *id, const json_t *client)
{
    take_flow(import, id, client, "standardFlowEnabled", "authorization_code", NULL);
    if (is_on(client, "standardFlowEnabled")) {
        import_right(import, id, "grants", "refresh_token");
        import_right(import, id, "scopes", "openid");
    }
    take_flow(import, id, client, "serviceAccountsEnabled", "client_credentials", NULL);
    take_flow(import, id, client, "implicitFlowEnabled", NULL,
              "the implicit grant is not served (RFC 9700 2.1.2); use the code with PKCE");
    take_flow(import, id, client, "directAccessGrantsEnabled", NULL,
              "the password grant is not served (RFC 9700 2.4)");
    take_flow(import, id, client, "bearerOnly", NULL,
              "an API that checks tokens gets the endpoint introspect: `authzctl entitle`");
    take_flow(import, id, json_object_get(client, "attributes"), "oidc.ciba.grant.enabled", CIBA,
              NULL);
}

static void
take_scopes(struct import *import, const char *id, const json_t *client)
{
    static const char *const lists[] = {"defaultClientScopes", "optionalClientScopes"};
    size_t i;
    json_t *item;
    for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
        json_array_foreach (json_object_get(client, lists[k]), i, item)
            if (json_string_length(item) > 0)
                import_right(import, id, "scopes", json_string_value(item));
}

static void
take_client(struct import *import, const json_t *client)
{
    json_t *to = jsonx_own(import->cli->mem, json_object()),
           *attributes = json_object_get(client, "attributes");
    const char *id = text_of(client, "clientId"), *protocol = text_of(client, "protocol");
    import_heading(import, talloc_asprintf(import->cli->mem, "Client %s", id));
    if (!import_has_key(import, "client", "clientId", id))
        return;
    if (*protocol != '\0' && strcmp(protocol, "openid-connect") != 0) {
        import_note(import, id, "protocol", false,
                    "the client is left out: only openid-connect is served");
        return;
    }
    import_members(import, id, client, client_members, to);
    import_members(import, id, attributes, attribute_members, to);
    take_method(import, id, client, to);
    take_redirects(import, id, client, to);
    take_logouts(import, id, text_of(attributes, "post.logout.redirect.uris"), to);
    if (*text_of(attributes, "jwks.url") != '\0') {
        bool counts = is_on(attributes, "use.jwks.url");
        import_note(import, id, "jwks.url", counts,
                    counts ? "jwksUri" : "use.jwks.url is not true");
        if (counts)
            set_text(import, to, "jwksUri", text_of(attributes, "jwks.url"));
    }
    take_flows(import, id, client);
    take_scopes(import, id, client);
    import_file(import, "client", id, to);
}

/* ---- identity providers */

static void
take_provider(struct import *import, const json_t *provider)
{
    json_t *to = jsonx_own(import->cli->mem, json_object()),
           *config = json_object_get(provider, "config");
    const char *id = text_of(provider, "alias"), *type = text_of(provider, "providerId"),
               *scopes = text_of(config, "defaultScope"), *word;
    import_heading(import, talloc_asprintf(import->cli->mem, "Identity provider %s", id));
    if (!import_has_key(import, "provider", "alias", id))
        return;
    if (strcmp(type, "oidc") != 0 && strcmp(type, "keycloak-oidc") != 0) {
        import_note(import, id, "providerId", false,
                    talloc_asprintf(import->cli->mem,
                                    "%s: the provider is left out: only OpenID Connect is served",
                                    type));
        return;
    }
    import_members(import, id, provider, provider_members, to);
    import_members(import, id, config, config_members, to);
    for (size_t length; *scopes != '\0'; scopes += length + (scopes[length] == ' ')) {
        length = strcspn(scopes, " ");
        word = talloc_strndup(import->cli->mem, scopes, length);
        if (word != NULL && *word != '\0')
            import_word(import, to, "scopes", word);
    }
    if (json_object_get(to, "scopes") != NULL)
        import_note(import, id, "defaultScope", true, "scopes");
    if (*text_of(to, "issuer") == '\0')
        import_note(import, id, "issuer", false,
                    "is missing; the provider is left out, as the service needs it");
    else
        import_file(import, "provider", id, to);
}

bool
import_keycloak(struct import *import, const json_t *document)
{
    size_t i;
    json_t *item;
    const json_t *clients = json_object_get(document, "clients"),
                 *providers = json_object_get(document, "identityProviders");
    if (!json_is_object(document) || json_object_get(document, "realm") == NULL
        || (clients != NULL && !json_is_array(clients))
        || (providers != NULL && !json_is_array(providers)))
        return false;
    import_heading(import, "Realm");
    import_members(import, "realm", document, realm_members, NULL);
    json_array_foreach (clients, i, item)
        take_client(import, item);
    json_array_foreach (providers, i, item)
        take_provider(import, item);
    return true;
}
