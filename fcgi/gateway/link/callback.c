#include "config.h"

#include "gateway/link/callback.h"

#include <string.h>

#include "base/settings/settings.h"
#include "gateway/link/link_token.h"
#include "gateway/link/need.h"
#include "gateway/link/provider.h"
#include "gateway/link/visit.h"
#include "managed/managed.h"
#include "oidc/own_page.h"
#include "store/gateway/connections.h"
#include "store/gateway/registrations.h"

/* Octets of an upstream's error that the log shows. */
#define ERROR_LOG_MAX 64

#define NOT_CONNECTED "The account could not be connected"

/* clang-format off */
const struct route_param link_callback_params[] = {
    {.name = "state", .required = true,
     .help = "Value that the service sent to the upstream's authorization server"},
    {.name = "code", .help = "Authorization code"},
    {.name = "iss", .help = "Issuer of the answer (RFC 9207)"},
    {.name = "error", .help = "Error code of the authorization server"},
    {.name = "error_description", .help = "Its text for people"},
    {.name = NULL},
};
/* clang-format on */

/*
 * Refuse an answer at the address of another resource, before its resource is looked at: it comes
 * from another server than the one that the browser was sent to (mix-up, RFC 9700 4.4).
 */
static enum az_status
check_named(struct request *req, const struct link_visit *visit)
{
    const char *name = req->path_value[0];
    return name == NULL || strcmp(name, visit->link.resource) == 0
               ? AZ_OK
               : op_fail(&req->op, AZ_LINK_INVALID, NOT_CONNECTED,
                         "the answer for managed resource %s came to the address of %.64s",
                         visit->link.resource, name);
}

/* Refuse an answer at the shared address for a resource with one of its own, and the other way
 * round: our client at its server has the one or the other. */
static enum az_status
check_address(struct request *req, const struct link_visit *visit)
{
    bool shared = link_redirect_is_shared(visit->resource);
    return shared == (req->path_value[0] == NULL)
               ? AZ_OK
               : op_fail(&req->op, AZ_LINK_INVALID, NOT_CONNECTED,
                         "the answer for managed resource %s came to the %s address, but "
                         "upstreamAuth.redirectUri is %s",
                         visit->resource->name, shared ? "resource's own" : "shared",
                         shared ? "shared" : "own");
}

/*
 * Find the link that the state belongs to, in the session that chose Connect. Otherwise an attacker
 * could send a victim the callback URL of his own link, and the victim's calls would use the
 * attacker's account (RFC 9700 4.7). Nothing is consumed before this check.
 */
static enum az_status
find_link(struct request *req, struct link_visit *visit)
{
    const char *state = request_param(req, "state");
    unsigned char hash[SHA256_OCTETS];
    enum az_status st = AZ_OK;
    if (state != NULL && sha256(state, strlen(state), hash) != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "SHA-256 failed");
    if (state != NULL)
        st = own_page_session(req, &visit->session);
    if (st == AZ_OK && visit->session.found)
        st = link_request_find(&req->op, NULL, hash, &visit->link);
    if (st != AZ_OK)
        return st;
    const struct link_request *link = &visit->link;
    if (!link->found || link->session_hash == NULL
        || memcmp(link->session_hash, visit->session.id_hash, SHA256_OCTETS) != 0) {
        visit->link.found = false;
        return op_fail(&req->op, AZ_LINK_INVALID, NULL,
                       "this browser session has no link waiting for the upstream's answer");
    }
    if (link->expired)
        return op_fail(&req->op, AZ_LINK_EXPIRED, NULL, "the answer of the upstream came too late");
    st = check_named(req, visit);
    if (st == AZ_OK)
        st = link_visit_check(req, visit);
    return st == AZ_OK ? check_address(req, visit) : st;
}

/* Check the issuer of the answer (RFC 9207 2.4), so that a code of one server is never sent to
 * another. An issuer that cannot be compared may belong to another server. */
static enum az_status
check_issuer(struct request *req, const struct link_visit *visit,
             const struct link_provider *provider)
{
    const char *iss = request_param(req, "iss");
    const char *why = iss == NULL && provider->sends_iss ? "has no iss"
                      : iss == NULL                      ? NULL
                      : provider->issuer == NULL
                          ? "has an iss, but upstreamAuth.issuer is not set, so that it cannot be "
                            "compared; set it to the issuer of the authorization server"
                      : strcmp(provider->issuer, iss) != 0 ? "has the iss of another server"
                                                           : NULL;
    return why == NULL ? AZ_OK
                       : op_fail(&req->op, AZ_LINK_INVALID, NOT_CONNECTED,
                                 "managed resource %s: the answer %s", visit->resource->name, why);
}

/* The server refuses the parameter resource (RFC 8707 2). */
static enum az_status
refuse_target(struct request *req, const struct link_visit *visit)
{
    return op_fail(&req->op, AZ_UPSTREAM_INVALID,
                   NOT_CONNECTED ". Tell the operator: target_refused",
                   "target_refused: the authorization server of managed resource %s refuses the "
                   "parameter resource; set upstreamAuth.resourceParam to authorize_only or never",
                   visit->resource->name);
}

/* Refuse an answer with an error. The text of the upstream goes to the log alone. */
static enum az_status
refuse_error(struct request *req, const struct link_visit *visit, const char *error)
{
    bool declined = strcmp(error, "access_denied") == 0;
    link_visit_note(req, visit, declined ? "declined" : "failed");
    link_count(&req->op, visit->resource, declined ? "declined" : "failed");
    if (declined && *visit->link.return_to != '\0')
        return link_visit_leave(req, visit, "cancelled");
    if (strcmp(error, "invalid_target") == 0)
        return refuse_target(req, visit);
    return op_fail(&req->op, declined ? AZ_USER_DENIED : AZ_UPSTREAM_INVALID, NOT_CONNECTED,
                   "the authorization server of managed resource %s reports %.*s",
                   visit->resource->name, ERROR_LOG_MAX, error);
}

/* Take the link, once: of several requests with the same state one goes on. */
static enum az_status
take_link(struct request *req, struct link_visit *visit, const struct link_provider *provider)
{
    unsigned char binding[SHA256_OCTETS];
    bool done = false;
    enum az_status st = link_binding(&req->op, visit->resource, binding);
    if (st == AZ_OK)
        st = link_binding_at(&req->op, provider, binding, binding);
    if (st == AZ_OK)
        st = link_request_close(&req->op, &visit->link, visit->session.id_hash, &done);
    if (st == AZ_OK && !done)
        return op_fail(&req->op, AZ_LINK_INVALID, NULL, "another request has taken the answer");
    if (st == AZ_OK
        && (visit->link.binding == NULL
            || memcmp(binding, visit->link.binding, SHA256_OCTETS) != 0))
        return op_fail(&req->op, AZ_LINK_EXPIRED, "The application was changed. Start again",
                       "managed resource %s has another upstream or authorization server since the "
                       "link was used",
                       visit->resource->name);
    return st;
}

static enum az_status
link_store(struct request *req, const struct link_visit *visit,
           const struct link_provider *provider, const struct client_tokens *tokens,
           bool *ret_partial)
{
    bool stored = false;
    unsigned char binding[SHA256_OCTETS];
    const char *revocation = visit->resource->auth.revocation_endpoint;
    const struct connection_new connection = {
        .subject = visit->session.subject,
        .idp = visit->session.idp,
        .resource = visit->resource->name,
        .binding = binding,
        .secrets = {.access_token = tokens->access_token,
                    .refresh_token = tokens->refresh_token,
                    .issuer = provider->issuer,
                    .revocation = revocation != NULL ? revocation : ""},
 /* RFC 6749 5.1: without `scope` all that was asked for is granted. */
        .scopes = tokens->scopes != NULL ? tokens->scopes : visit->link.scopes,
        .asked_scopes =
            client_scopes_missing(req->op.mem, visit->link.scopes, visit->resource->auth.scopes),
        .account = tokens->account,
        .expires_in = tokens->expires_in,
    };
    const json_t *missing =
        client_scopes_missing(req->op.mem, visit->link.scopes, connection.scopes);
    enum az_status st = link_binding(&req->op, visit->resource, binding);
    if (st == AZ_OK)
        st = connection_store(&req->op, &connection, &stored);
    if (st == AZ_OK && (!stored || missing == NULL))
        return op_fail(&req->op, AZ_LINK_INVALID, NULL, "person or resource were deleted");
    *ret_partial = json_array_size(missing) > 0;
    return st;
}

static enum az_status
link_redeem(struct request *req, const struct link_visit *visit,
            const struct link_provider *provider, struct client_tokens *ret)
{
    const struct link_grant grant = {.code = request_param(req, "code"),
                                     .verifier = visit->link.verifier};
    struct client_answer answer;
    if (grant.code == NULL)
        return op_fail(&req->op, AZ_LINK_INVALID, NOT_CONNECTED,
                       "managed resource %s: the answer has neither code nor error",
                       visit->resource->name);
    enum az_status st = link_tokens_get(&req->op, visit->resource, provider, &grant, &answer);
    if (st != AZ_OK)
        return st;
    *ret = answer.tokens;
    if (answer.outcome == CLIENT_TOKENS)
        return AZ_OK;
    if (answer.outcome == CLIENT_CLIENT_REFUSED && provider->registered)
        st = registration_forget(&req->op, visit->resource->name, provider->client_id);
    if (st == AZ_OK && strcmp(answer.error, "invalid_target") == 0)
        return refuse_target(req, visit);
    return st == AZ_OK ? op_fail(&req->op, AZ_UPSTREAM_INVALID, NOT_CONNECTED,
                                 "the token endpoint of managed resource %s gives no tokens: %s",
                                 visit->resource->name,
                                 *answer.error != '\0' ? answer.error : "a malformed answer")
                       : st;
}

enum az_status
link_callback_handle(struct request *req)
{
    struct link_visit visit = {.resource = NULL};
    struct link_provider provider;
    struct client_tokens tokens;
    const char *error = request_param(req, "error");
    bool partial = false;
    enum az_status st = find_link(req, &visit);
    if (st != AZ_OK)
        return st;
    link_visit_note(req, &visit, "failed");
    st = link_visit_provider(req, &visit, &provider);
    if (st == AZ_OK)
        st = take_link(req, &visit, &provider);
    if (st == AZ_OK)
        st = check_issuer(req, &visit, &provider);
    if (st == AZ_OK && error != NULL)
        return refuse_error(req, &visit, error);
    if (st == AZ_OK)
        st = link_redeem(req, &visit, &provider, &tokens);
    if (st == AZ_OK)
        st = link_store(req, &visit, &provider, &tokens, &partial);
    link_count(&req->op, visit.resource, st == AZ_OK ? "connected" : "failed");
    if (st != AZ_OK)
        return st;
    link_visit_note(req, &visit, partial ? "connected_in_part" : "connected");
    return link_visit_leave(req, &visit, partial ? "partial" : "connected");
}
