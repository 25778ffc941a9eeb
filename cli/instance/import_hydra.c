/* The OAuth clients of Ory Hydra (F8). */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "cli/instance/import.h"

/* clang-format off */
static const struct import_member client_members[] = {
    {"client_id",         NULL, "is the name of the file", true},
    {"client_name",       "clientName", "clientName", true},
    {"client_uri",        "clientUri", "clientUri", true},
    {"logo_uri",          "logoUri", "logoUri", true},
    {"redirect_uris",     "redirectUris", "redirectUris", true},
    {"post_logout_redirect_uris", "postLogoutRedirectUris", "postLogoutRedirectUris", true},
    {"jwks",              "jwks", "jwks", true},
    {"jwks_uri",          "jwksUri", "jwksUri", true},
    {"scope",             "scope", "scope, and the scopes of the binding", true},
    {"grant_types",       NULL, NULL, true},
    {"audience",          NULL, NULL, true},
    {"token_endpoint_auth_method", NULL, NULL, true},
    {"subject_type",      NULL, NULL, true},
    {"response_types",    NULL, "code is the only response type", true},
    {"created_at",        NULL, "is a time of the old server", true},
    {"updated_at",        NULL, "is a time of the old server", true},
    {"client_secret_expires_at", NULL, "secrets do not expire here", true},
    {"userinfo_signed_response_alg", NULL, "userinfo is not signed", false},
    {"id_token_signed_response_alg", "idTokenSignedResponseAlg", "idTokenSignedResponseAlg", true},
    {"client_secret*",    NULL,
     "is a hash: the service makes a new secret, or put {\"env\": NAME} or {\"file\": PATH} into "
     "the member clientSecret", false},
    {"access_token_strategy", NULL, "access tokens are opaque; APIs ask /introspect", false},
    {"*_lifespan",        NULL, "set lifetimes in svc.operator.controls.lifetime", false},
    {"metadata",          NULL, "put what rules need into a data row", false},
    {"skip_consent",      NULL, "consent is a decision of policy: svc.operator.controls.consent",
     false},
    {"skip_logout_consent", NULL, "consent is a decision of policy: svc.operator.controls.consent",
     false},
    {"allowed_cors_origins", NULL, "pages of every origin may call /token, /revoke and /userinfo",
     true},
    {"backchannel_logout*", NULL, "the service sends no requests to clients", false},
    {"frontchannel_logout*", NULL, "the service sends no requests to clients", false},
    {"owner",             NULL, "has no meaning here", false},
    {"contacts",          NULL, "has no meaning here", false},
    {"policy_uri",        NULL, "is not shown here", false},
    {"tos_uri",           NULL, "is not shown here", false},
    {.name = NULL},
};
/* clang-format on */

/* Grant types that the service has, and those that a binding names. */
static const char *const served_grants[] = {
    "authorization_code", "client_credentials", "refresh_token",
    "urn:ietf:params:oauth:grant-type:token-exchange", NULL};

static const char *
text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

static void
set_text(struct import *import, json_t *object, const char *name, const char *text)
{
    if (json_object_set_new(object, name, json_string(text)) != 0)
        import->lost = true;
}

static void
take_method(struct import *import, const char *id, const json_t *client, json_t *to)
{
    static const char *const methods[] = {"none", "client_secret_basic", "client_secret_post",
                                          "private_key_jwt", NULL};
    static const char name[] = "token_endpoint_auth_method";
    const char *method = text_of(client, name);
    method = *method != '\0' ? method : "client_secret_basic";
    set_text(import, to, "clientType", strcmp(method, "none") == 0 ? "public" : "confidential");
    if (words_has(methods, method)) {
        set_text(import, to, "tokenEndpointAuthMethod", method);
        import_note(import, id, name, true, "tokenEndpointAuthMethod and clientType");
    } else {
        import_note(import, id, name, false,
                    talloc_asprintf(import->cli->mem,
                                    "%s is not supported; the client gets client_secret_basic",
                                    method));
    }
}

static void
take_grants(struct import *import, const char *id, const json_t *client)
{
    size_t i;
    json_t *item;
    json_array_foreach (json_object_get(client, "grant_types"), i, item) {
        const char *grant = json_string_value(item);
        bool served = words_has(served_grants, grant);
        import_note(import, id, "grant_types", served,
                    talloc_asprintf(import->cli->mem, "%s%s", grant != NULL ? grant : "(no text)",
                                    served ? " of the binding" : " is not served"));
        if (served)
            import_right(import, id, "grants", grant);
    }
}

static void
take_rights(struct import *import, const char *id, const json_t *client)
{
    size_t i, length;
    json_t *item;
    const char *scope = text_of(client, "scope"), *word;
    while (words_next(&scope, &word, &length)) {
        const char *one = talloc_strndup(import->cli->mem, word, length);
        if (one == NULL)
            import->lost = true;
        else
            import_right(import, id, "scopes", one);
    }
    json_array_foreach (json_object_get(client, "audience"), i, item)
        if (json_string_length(item) > 0) {
            import_note(import, id, "audience", true,
                        talloc_asprintf(import->cli->mem, "%s of the resources of the binding",
                                        json_string_value(item)));
            import_right(import, id, "resources", json_string_value(item));
        }
}

static void
take_client(struct import *import, const json_t *client)
{
    json_t *to = jsonx_own(import->cli->mem, json_object());
    const char *id = text_of(client, "client_id"), *subject = text_of(client, "subject_type");
    import_heading(import, talloc_asprintf(import->cli->mem, "Client %s", id));
    if (!import_has_key(import, "client", "client_id", id))
        return;
    import_members(import, id, client, client_members, to);
    take_method(import, id, client, to);
    take_grants(import, id, client);
    take_rights(import, id, client);
    if (*subject != '\0')
        import_note(import, id, "subject_type", strcmp(subject, "public") == 0,
                    strcmp(subject, "public") == 0 ? "public"
                                                   : "pairwise names of people are not given");
    import_file(import, "client", id, to);
}

bool
import_hydra(struct import *import, const json_t *document)
{
    const json_t *list = document;
    size_t i;
    json_t *client;
    if (json_is_object(document)) {
        list = json_object_get(document, "items");
        list = list != NULL ? list : json_object_get(document, "clients");
    }
    if (json_is_object(document) && json_object_get(document, "client_id") != NULL) {
        take_client(import, document);
        return true;
    }
    json_array_foreach (list, i, client)
        take_client(import, client);
    return json_is_array(list);
}
