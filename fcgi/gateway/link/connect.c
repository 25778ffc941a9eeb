#include "config.h"

#include "gateway/link/connect.h"

#include <string.h>

#include "base/query.h"
#include "base/uri.h"
#include "base/words.h"
#include "gateway/link/link_token.h"
#include "gateway/link/need.h"
#include "gateway/link/provider.h"
#include "gateway/link/visit.h"
#include "http/page/page.h"
#include "managed/managed.h"
#include "oidc/own_page.h"
#include "oidc/session.h"
#include "store/gateway/connections.h"
#include "store/gateway/resources.h"

/* Characters of a time that the page shows: the day. */
#define DAY_LENGTH 10

static const char *const link_answers[] = {"connected", "partial", "cancelled", "disconnected",
                                           NULL};

/* clang-format off */
const struct route_param connections_page_params[] = {
    {.name = "answered",
     .help = "connected, partial, cancelled or disconnected: what the person has just done, which "
             "the page confirms. Another text is ignored"},
    {.name = "idp_hint", .help = "idpId of the provider at which the person signs in"},
    {.name = NULL},
};
const struct route_param connect_params[] = {
    {.name = "return_to", .help = "Path on this host to which the browser goes afterwards"},
    {.name = "idp_hint", .help = "idpId of the provider at which the person signs in"},
    {.name = NULL},
};
const struct route_param disconnect_params[] = {
    {.name = "token", .required = true, .help = "Token that the service put into the form"},
    {.name = NULL},
};
/* clang-format on */

static const char *
text_of(const json_t *row, const char *name)
{
    return json_string_value(json_object_get(row, name));
}

/* Add one connection to the list of the page. */
static enum az_status
add_connection(struct request *req, const json_t *row, struct jsonx_build *list)
{
    char token[SESSION_FORM_TOKEN_SIZE];
    const char *resource = text_of(row, "resource"), *name = text_of(row, "displayName");
    const char *used = text_of(row, "lastUsedAt"), *at = text_of(row, "connectedAt");
    char *scopes = words_join(req->op.mem, json_object_get(row, "scopes"));
    const char *purpose = own_page_disconnect(req, resource);
    if (scopes == NULL || purpose == NULL || !session_form_token(req, purpose, token))
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the form token cannot be created");
    jsonx_append(
        list,
        json_pack(
            "{s:s,s:s*,s:s,s:b,s:s%,s:s%,s:s,s:s,s:s}", "name", name != NULL ? name : resource,
            "account", text_of(row, "account"), "scopes", scopes, "again",
            strcmp(text_of(row, "status"), "active") != 0, "since", at, (size_t) DAY_LENGTH, "used",
            used != NULL ? used : "", used != NULL ? (size_t) DAY_LENGTH : (size_t) 0, "again_href",
            link_page_href(req, talloc_asprintf(req->op.mem, "/connect/%s", resource)), "action",
            link_page_href(req, talloc_asprintf(req->op.mem, "/connect/%s/disconnect", resource)),
            "token", token));
    return AZ_OK;
}

enum az_status
connections_show_handle(struct request *req)
{
    const char *answered = request_param(req, "answered");
    struct session session;
    struct jsonx_build values = {jsonx_own(req->op.mem, json_object()), false};
    struct jsonx_build list = {json_array(), false};
    json_t *rows = NULL, *row;
    size_t i;
    jsonx_set(&values, "connections", list.value);
    enum az_status st = own_page_session(req, &session);
    if (st == AZ_OK && !session.found)
        return own_page_sign_in(req, link_page_href(req, "/connect"));
    if (st == AZ_OK)
        st = connections_of_person(&req->op, &session, &rows);
    if (st == AZ_OK)
        st = own_page_describe(req, &session, &values);
    if (st != AZ_OK)
        return st;
    json_array_foreach (rows, i, row)
        if ((st = add_connection(req, row, &list)) != AZ_OK)
            return st;
    if (answered != NULL && words_has(link_answers, answered))
        jsonx_set(&values, answered, json_true());
    return respond_page(req, 200, "connections", list.lost ? NULL : jsonx_built(&values), NULL);
}

enum az_status
connect_handle(struct request *req)
{
    struct session session;
    const struct managed_resource *resource = NULL;
    const char *back = request_param(req, "return_to"), *url = NULL;
    const struct query_pair pair = {"return_to", back};
    bool found = false;
    int64_t expires_in;
    if (back != NULL && !link_return_is_ours(req->op.mem, back))
        return op_fail(&req->op, AZ_INVALID_REQUEST, "return_to must be a path on this host", NULL);
    enum az_status st = own_page_session(req, &session);
    if (st != AZ_OK)
        return st;
    const char *here =
        link_page_href(req, talloc_asprintf(req->op.mem, "/connect/%s", req->path_value[0]));
    if (!session.found)
        return own_page_sign_in(req,
                                here != NULL ? query_append(req->op.mem, here, &pair, 1) : NULL);
    if ((st = link_visit_resource(req, req->path_value[0], &resource)) != AZ_OK)
        return st;
    const struct link_wanted wanted = {
        .resource = resource,
        .subject = session.subject,
        .client_id = "",
        .scopes = resource->auth.scopes,
        .return_to = back != NULL ? back : "",
    };
    st = link_need(&req->op, &wanted, &found, &url, &expires_in);
    if (st == AZ_OK && !found)
        return op_fail(&req->op, AZ_LINK_INVALID, NULL, "the person was deleted");
    return st == AZ_OK ? respond_see_other(req, url) : st;
}

/* True if the tokens may go to the revocation endpoint: the issuer's, or the one that upstreamAuth
 * had when they were given. Of older connections that is not known: then one at the host of the
 * token endpoint, which gets the refresh token anyway. */
static bool
may_revoke_at(TALLOC_CTX *mem, const struct link_provider *provider, const char *configured,
              const char *was)
{
    struct uri revocation, token;
    if (was != NULL)
        return strcmp(configured != NULL ? configured : "", was) == 0;
    if (configured == NULL)
        return true;
    if (uri_parse(mem, configured, &revocation) != AZ_OK
        || uri_parse(mem, provider->token, &token) != AZ_OK)
        return false;
    const char *there = uri_origin(mem, &revocation), *origin = uri_origin(mem, &token);
    return there != NULL && origin != NULL && strcmp(there, origin) == 0;
}

/* Revoke the tokens of a connection; revoking the refresh token also ends the access token (RFC
 * 7009 2.1). The tokens of an earlier configuration are not sent anywhere. */
static void
revoke(struct request *req, struct link_visit *visit, const struct connection *connection)
{
    struct op after = op_beside(&req->op, req->op.mem);
    struct link_provider provider;
    unsigned char binding[SHA256_OCTETS];
    const struct connection_secrets *secrets = &connection->secrets;
    if (visit->resource->auth.type == MANAGED_AUTH_OAUTH_LINK
        && link_binding(&after, visit->resource, binding) == AZ_OK
        && memcmp(binding, connection->binding, SHA256_OCTETS) == 0
        && link_provider_get(&after, visit->resource, visit->secrets, 0, &provider) == AZ_OK
        && link_is_issuer(&provider, secrets->issuer)
        && may_revoke_at(after.mem, &provider, visit->resource->auth.revocation_endpoint,
                         secrets->revocation))
        link_token_revoke(&after, visit->resource, &provider,
                          secrets->refresh_token != NULL ? secrets->refresh_token
                                                         : secrets->access_token);
}

enum az_status
disconnect_handle(struct request *req)
{
    struct link_visit visit = {.link = {.return_to = ""}};
    const char *name = req->path_value[0];
    struct connection connection;
    int64_t removed = 0;
    if (!own_page_form_is_ours(req, own_page_disconnect(req, name), request_param(req, "token")))
        return op_fail(&req->op, AZ_LINK_INVALID,
                       "This page belongs to another session. Open it again",
                       "the form token does not belong to session and resource");
    enum az_status st = own_page_session(req, &visit.session);
    if (st == AZ_OK && !visit.session.found)
        return op_fail(&req->op, AZ_LINK_INVALID,
                       "You are not signed in any more. Open the page again", NULL);
    if (st == AZ_OK)
        st = resource_find(&req->op, name, &visit.resource);
    if (st == AZ_OK && visit.resource == NULL)
        return op_fail(&req->op, AZ_LINK_INVALID, "There is no such application", NULL);
    if (st == AZ_OK)
        st = connection_find(&req->op, visit.session.subject, name, &connection);
    if (st == AZ_OK)
        st = link_visit_secrets(req, &visit);
    if (st == AZ_OK)
        st = connections_remove(&req->op, name, visit.session.subject, &removed);
    if (st != AZ_OK)
        return st;
    if (removed > 0) {
        link_visit_note(req, &visit, "disconnected");
        link_count(&req->op, visit.resource, "disconnected");
        revoke(req, &visit, &connection);
    }
    return link_visit_leave(req, &visit, "disconnected");
}
