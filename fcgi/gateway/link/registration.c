#include "config.h"

#include "gateway/link/registration.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "base/words.h"
#include "client/answer.h"
#include "gateway/upstream/fetch_failed.h"
#include "http/fetch/fetch.h"
#include "managed/managed.h"
#include "managed/names.h"
#include "store/db/db.h"
#include "store/gateway/registrations.h"

/* Seconds for which servers may cache our metadata document. */
#define METADATA_MAX_AGE 3600

/* Ways to authenticate at a token endpoint, the best one first. */
static const char *const auth_methods[] = {"client_secret_basic", "client_secret_post", "none",
                                           NULL};

/* Return the metadata of our client, as RFC 7591 section 2 has them; on op->mem, or NULL if out of
 * memory. */
static json_t *
client_metadata(struct op *op, const char *callback, const char *auth_method)
{
    const struct settings *cfg = op->az->cfg;
    const char *name =
        cfg->pages_name != NULL ? cfg->pages_name : uri_place(op->mem, cfg->oidc_issuer);
    if (callback == NULL)
        return NULL;
    /* OpenID Connect Registration 2: clients of type web need https; a loopback address with http
     * means a native client. MCP requires the member in every case. */
    const char *type = strncmp(callback, "https:", 6) == 0 ? "web" : "native";
    return jsonx_own(op->mem, json_pack("{s:s*,s:s,s:s,s:[s],s:[s,s],s:[s],s:s}", "client_name",
                                        name, "client_uri", cfg->oidc_issuer, "application_type",
                                        type, "redirect_uris", callback, "grant_types",
                                        "authorization_code", "refresh_token", "response_types",
                                        "code", "token_endpoint_auth_method", auth_method));
}

enum az_status
link_client_metadata_handle(struct request *req)
{
    /* The document depends on the name alone, so it does not tell which resources there are. */
    const char *name = req->path_value[0];
    if (name != NULL && !managed_name_is_good(name))
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no resource can have this name");
    json_t *metadata = client_metadata(&req->op, link_callback_uri(&req->op, name), "none");
    const char *client_id = link_client_metadata_uri(&req->op, name);
    if (metadata == NULL || client_id == NULL
        || json_object_set_new(metadata, "client_id", json_string(client_id)) != 0)
        return op_no_memory(&req->op);
    enum az_status st = respond_json(req, 200, metadata);
    return st == AZ_OK ? respond_cached(req, METADATA_MAX_AGE) : st;
}

/* Return the authentication method to register; RFC 8414 section 2 has the default. */
static const char *
choose_method(const json_t *metadata)
{
    const json_t *offered = json_object_get(metadata, "token_endpoint_auth_methods_supported");
    for (size_t i = 0; json_is_array(offered) && auth_methods[i] != NULL; i++)
        if (words_array_has(offered, auth_methods[i]))
            return auth_methods[i];
    return auth_methods[0];
}

/* Return a text that is short enough and printable, or NULL. */
static const char *
plain_text(const json_t *object, const char *name, size_t max)
{
    const json_t *value = json_object_get(object, name);
    const char *text = json_string_value(value);
    if (text == NULL || *text == '\0' || json_string_length(value) > max
        || strlen(text) != json_string_length(value))
        return NULL;
    for (const char *c = text; *c != '\0'; c++)
        if (*c < 0x20 || *c > 0x7e)
            return NULL;
    return text;
}

static enum az_status
read_registration(struct op *op, const struct managed_resource *resource,
                  const struct fetch_answer *answer, const char *asked, struct registration *ret)
{
    json_t *object = NULL;
    if ((answer->status != 201 && answer->status != 200)
        || jsonx_parse(op->mem, answer->body, answer->length, CLIENT_ANSWER_DEPTH_MAX, &object,
                       NULL)
               != AZ_OK)
        return op_fail(op, AZ_UPSTREAM_AUTH, NULL,
                       "managed resource %s: its authorization server refuses to register us "
                       "(status %d)",
                       resource->name, answer->status);
    const char *method = plain_text(object, "token_endpoint_auth_method", LINK_CLIENT_ID_MAX);
    *ret = (struct registration){
        .client_id = plain_text(object, "client_id", LINK_CLIENT_ID_MAX),
        .secret = plain_text(object, "client_secret", LINK_CLIENT_SECRET_MAX),
        .auth_method = method != NULL ? method : asked,
        .secret_expires_at =
            json_integer_value(json_object_get(object, "client_secret_expires_at")),
    };
    bool secret = strcmp(ret->auth_method, "none") != 0;
    ret->found = ret->client_id != NULL && words_has(auth_methods, ret->auth_method)
                 && (!secret || ret->secret != NULL);
    if (!secret)
        ret->secret = NULL;
    return ret->found ? AZ_OK
                      : op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                                "managed resource %s: the answer of its registration endpoint "
                                "cannot be used",
                                resource->name);
}

/* Register at the server. */
static enum az_status
register_there(struct op *op, const struct managed_resource *resource, const json_t *metadata,
               const struct link_provider *provider, struct registration *ret)
{
    const char *method = choose_method(metadata);
    json_t *wanted =
        client_metadata(op, link_callback_uri(op, link_redirect_name(resource)), method);
    char *scope = resource->auth.scopes != NULL ? words_join(op->mem, resource->auth.scopes) : NULL;
    if (wanted != NULL && scope != NULL && *scope != '\0'
        && json_object_set_new(wanted, "scope", json_string(scope)) != 0)
        wanted = NULL;
    const struct fetch_request request = {
        .hosts = FETCH_GATEWAY,
        .url = provider->registration,
        .json = wanted != NULL ? jsonx_dump(op->mem, wanted) : NULL,
        .max_octets = LINK_REGISTRATION_MAX,
        .timeout = op->az->cfg->safe_http_timeout,
    };
    struct fetch_answer answer;
    if (request.json == NULL)
        return op_no_memory(op);
    enum az_status st = fetch(op, &request, &answer);
    if (st != AZ_OK)
        return upstream_fetch_failed(op, st, answer.fault);
    return read_registration(op, resource, &answer, method, ret);
}

/* Register while no other process does. Another process may have registered by now. */
static enum az_status
register_once(struct op *op, const struct managed_resource *resource, const json_t *metadata,
              const struct link_provider *provider, const struct registration_key *key,
              struct registration *ret)
{
    enum az_status st = registration_lock(op, key);
    if (st != AZ_OK)
        return st;
    st = registration_find(op, key, ret);
    if (st == AZ_OK && !ret->found) {
        st = register_there(op, resource, metadata, provider, ret);
        if (st == AZ_OK)
            st = registration_store(op, key, ret);
    }
    return db_end(op, st);
}

/* Return the endpoints that the resource sets itself, on mem; "" if they are the issuer's. */
static const char *
set_endpoints(TALLOC_CTX *mem, const struct managed_auth *auth)
{
    const char *token = auth->token_endpoint, *revocation = auth->revocation_endpoint;
    return token == NULL && revocation == NULL
               ? ""
               : talloc_asprintf(mem, "%s %s", token != NULL ? token : "",
                                 revocation != NULL ? revocation : "");
}

enum az_status
link_registration_need(struct op *op, const struct managed_resource *resource,
                       const json_t *metadata, struct link_provider *provider)
{
    struct registration registration;
    const struct registration_key key = {
        .resource = resource->name,
        .issuer = provider->issuer,
        .endpoints = set_endpoints(op->mem, &resource->auth),
        .redirect_uri = link_callback_uri(op, link_redirect_name(resource)),
    };
    if (key.endpoints == NULL || key.redirect_uri == NULL)
        return op_no_memory(op);
    if (provider->issuer == NULL || provider->registration == NULL)
        return op_fail(op, AZ_UPSTREAM_AUTH, NULL,
                       "managed resource %s: its authorization server takes neither the address of "
                       "a document as client_id nor registrations; set upstreamAuth.registration "
                       "to static",
                       resource->name);
    enum az_status st = registration_find(op, &key, &registration);
    if (st == AZ_OK && !registration.found)
        st = register_once(op, resource, metadata, provider, &key, &registration);
    if (st != AZ_OK)
        return st;
    provider->client_id = registration.client_id;
    provider->secret = registration.secret;
    provider->auth_method = registration.auth_method;
    provider->registered = true;
    return AZ_OK;
}
