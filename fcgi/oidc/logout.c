#include "config.h"

#include "oidc/logout.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "base/visible.h"
#include "http/page/page.h"
#include "oauth/registration/redirect_uri.h"
#include "oidc/session.h"
#include "oidc/upstream/logout_upstream.h"
#include "store/people/session_ends.h"
#include "token/id_token.h"

/* Longest state that is sent back, in octets; with a redirect_uri it must fit one header line. */
#define STATE_MAX 1024

/* clang-format off */
const struct route_param logout_params[] = {
    {.name = "id_token_hint", .help = "ID token of the session to end"},
    {.name = "client_id", .help = "Client that asks, if no ID token says so"},
    {.name = "post_logout_redirect_uri", .help = "Registered URI to which the browser returns"},
    {.name = "state", .help = "Value that is sent back unchanged"},
    {.name = "logout_hint", .help = "Ignored"},
    {.name = "ui_locales", .help = "Languages of the pages, best first, separated by spaces"},
    {.name = "token", .help = "Form token of the page that asks the user to confirm"},
    {.name = NULL},
};
const struct route_param logout_return_params[] = {
    {.name = "state", .help = "Value that the service sent to the identity provider"},
    {.name = NULL},
};
/* clang-format on */

/* A logout request, as far as it is proved. */
struct asked {
    unsigned char id_hash[SHA256_OCTETS]; /* of the session cookie */
    bool cookie;                          /* the browser sent one */
    const char *hint_subject;             /* sub of an ID token of this server, or NULL */
    const char *hint_sid;                 /* its sid, or NULL */
    const char *client_id;     /* audience of the ID token, else the client_id parameter; or NULL */
    struct logout_facts facts; /* the session and the client as stored */
    struct logout_target target; /* checked address of the next page */
};

/* Return the audience of an ID token of this server, which is one client. */
static const char *
audience(const json_t *claims)
{
    const json_t *aud = json_object_get(claims, "aud");
    return json_string_value(json_is_array(aud) ? json_array_get(aud, 0) : aud);
}

/* Read id_token_hint. An ID token that is not ours counts as missing, so the page asks the user.
 * One of another client than client_id is refused (RP-Initiated Logout 1.0 section 2). */
static enum az_status
logout_read_hint(struct request *req, struct asked *asked)
{
    const char *hint = request_param(req, "id_token_hint");
    json_t *claims;
    asked->client_id = request_param(req, "client_id");
    enum az_status st = hint != NULL ? id_token_read(&req->op, hint, &claims) : AZ_INVALID;
    if (st == AZ_INVALID) {
        az_fault_clear(&req->op.fault);
        return AZ_OK;
    }
    if (st != AZ_OK)
        return st;
    const char *client_id = audience(claims);
    if (asked->client_id != NULL && client_id != NULL && strcmp(client_id, asked->client_id) != 0)
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "id_token_hint was issued to another client than client_id", NULL);
    asked->client_id = client_id;
    asked->hint_subject = json_string_value(json_object_get(claims, "sub"));
    asked->hint_sid = json_string_value(json_object_get(claims, "sid"));
    return AZ_OK;
}

/* True if the client registered the URI. A redirect anywhere else would make this server an open
 * redirector (RFC 9700 section 4.11). */
static bool
is_registered(const struct logout_facts *facts, const char *uri)
{
    for (const char **known = facts->uris; known != NULL && *known != NULL; known++)
        if (strlen(uri) <= URI_MAX && redirect_uri_matches(*known, uri))
            return true;
    return false;
}

/* True if an ID token of this server names the user of the cookie's session. */
static bool
is_of_user(const struct asked *asked)
{
    return asked->hint_subject != NULL && asked->facts.subject != NULL
           && strcmp(asked->hint_subject, asked->facts.subject) == 0;
}

/*
 * Read where the logout leads. The redirect goes by itself if an administrator registered the
 * client, or if the user has an ID token of that client. For any other client that registered
 * itself nobody vouches: whoever made it could send anybody to its page by a link to this service,
 * so the user is shown where a link leads (RFC 9700 4.11.2; decisions.md "Errors at /authorize").
 */
static enum az_status
logout_read_target(struct request *req, struct asked *asked)
{
    const char *uri = request_param(req, "post_logout_redirect_uri");
    const char *state = request_param(req, "state");
    const struct logout_facts *facts = &asked->facts;
    if (state != NULL && strlen(state) > STATE_MAX)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "state is too long", NULL);
    if (facts->client)
        asked->target.client_id = asked->client_id;
    if (uri == NULL || !facts->client)
        return AZ_OK;
    if (!is_registered(facts, uri))
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "The post_logout_redirect_uri is not registered for this client", NULL);
    asked->target.uri = uri;
    asked->target.state = state;
    asked->target.by_link = !facts->by_admin && !is_of_user(asked);
    return AZ_OK;
}

/* Check a sealed target again. The URI or its client may have been removed since it was sealed; our
 * own page is shown then. */
static enum az_status
check_target(struct request *req, struct logout_target *target)
{
    struct logout_facts facts;
    if (target->uri == NULL)
        return AZ_OK;
    enum az_status st = logout_facts_fetch(&req->op, NULL, target->client_id, &facts);
    if (st == AZ_OK && !is_registered(&facts, target->uri))
        target->uri = NULL;
    return st;
}

static enum az_status
read_asked(struct request *req, struct asked *ret)
{
    struct asked asked = {.cookie = false};
    asked.cookie = session_cookie_read(req, asked.id_hash);
    enum az_status st = logout_read_hint(req, &asked);
    if (st == AZ_OK)
        st = logout_facts_fetch(&req->op, asked.cookie ? asked.id_hash : NULL, asked.client_id,
                                &asked.facts);
    if (st != AZ_OK)
        return st;
    req->proved = asked.facts.subject != NULL;
    if ((st = logout_read_target(req, &asked)) != AZ_OK)
        return st;
    req->audit.client_id = asked.target.client_id;
    req->audit.subject_id = asked.facts.subject;
    *ret = asked;
    return AZ_OK;
}

/*
 * Return what a target is bound to on its way over a provider: the browser, whose mark is `hash`.
 * Otherwise whoever signs out could send the address of the way back to others, whom it would lead
 * to a client's page, by a link to this service (RFC 9700 4.11.2).
 */
static const char *
return_bound(TALLOC_CTX *mem, const unsigned char hash[SHA256_OCTETS])
{
    const char *text = b64url_encode(mem, hash, SHA256_OCTETS);
    return text != NULL ? talloc_asprintf(mem, "return/%s", text) : NULL;
}

/* End the session of the cookie and the session that the ID token names. A form that the client's
 * page posts comes without our cookie (SameSite). */
static enum az_status
end_session(struct request *req, const struct asked *asked)
{
    unsigned char mark[SHA256_OCTETS];
    struct session_end end;
    enum az_status st = session_end(&req->op, asked->cookie ? asked->id_hash : NULL,
                                    asked->hint_sid, asked->hint_subject, &end);
    if (st != AZ_OK)
        return st;
    req->proved = req->proved || end.found;
    if (end.found)
        req->audit.subject_id = end.subject;
    if (asked->cookie)
        session_cookie_drop(req);
    const char *bound =
        logout_cookie_need(req, mark) == AZ_OK ? return_bound(req->op.mem, mark) : NULL;
    return logout_continue(req, &end, &asked->target, bound);
}

static const char *
origin_of(struct op *op, const char *address)
{
    struct uri uri;
    return address != NULL && uri_parse(op->mem, address, &uri) == AZ_OK ? uri_origin(op->mem, &uri)
                                                                         : NULL;
}

/* Return the origin to which the form may lead; the page allows every https address anyway. It is
 * the client's page, or the logout endpoint of a provider without TLS; http: covers both (CSP 3
 * section 6.7.2.7). */
static const char *
form_action(struct request *req, const struct asked *asked)
{
    const struct identity_provider *provider;
    const char *upstream =
        origin_of(&req->op, logout_upstream_endpoint(&req->op, asked->facts.idp, &provider));
    const char *client = origin_of(&req->op, asked->target.uri);
    if (upstream == NULL || client == NULL)
        return upstream != NULL ? upstream : client;
    return strncmp(upstream, "http:", 5) == 0 ? "http:" : client;
}

/* Ask the user to confirm. Without proof that the user's own application asks, any page could sign
 * the user out. The form carries the checked request, sealed for this session alone. */
static enum az_status
ask_to_confirm(struct request *req, const struct asked *asked)
{
    char bound[SESSION_FORM_TOKEN_SIZE];
    const char *token, *label = asked->facts.label, *name = asked->facts.name;
    if (!session_form_token(req, "logout", bound))
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the form token cannot be created");
    enum az_status st = logout_seal(&req->op, bound, &asked->target, &token);
    if (st != AZ_OK)
        return st;
    json_t *values = jsonx_own(
        req->op.mem,
        json_pack("{s:s,s:s,s:s,s:s*}", "action",
                  talloc_asprintf(req->op.mem, "%s/logout", req->op.az->cfg->oidc_issuer), "token",
                  token, "subject_name",
                  label != NULL && visible_fault(label) == NULL ? label : asked->facts.subject,
                  "client_name", name != NULL && visible_fault(name) == NULL ? name : NULL));
    if (values == NULL)
        return op_no_memory(&req->op);
    return respond_page(req, 200, "logout", values, form_action(req, asked));
}

/* End the session after the user confirmed on our page. */
static enum az_status
confirm(struct request *req)
{
    char bound[SESSION_FORM_TOKEN_SIZE];
    struct asked asked = {.cookie = false};
    asked.cookie = session_cookie_read(req, asked.id_hash);
    if (!session_form_is_ours(req) || !session_form_token(req, "logout", bound)
        || logout_open(&req->op, bound, request_param(req, "token"), &asked.target) != AZ_OK)
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "This page belongs to another session or was open too long. Sign out again",
                       "the form token does not belong to the session");
    req->audit.client_id = asked.target.client_id;
    enum az_status st = check_target(req, &asked.target);
    return st == AZ_OK ? end_session(req, &asked) : st;
}

enum az_status
logout_handle(struct request *req)
{
    struct asked asked;
    if (strcmp(req->method, "POST") == 0 && request_param(req, "token") != NULL)
        return confirm(req);
    enum az_status st = read_asked(req, &asked);
    if (st != AZ_OK)
        return st;
    if (is_of_user(&asked) || asked.facts.subject == NULL)
        return end_session(req, &asked);
    return ask_to_confirm(req, &asked);
}

enum az_status
logout_return_handle(struct request *req)
{
    const char *state = request_param(req, "state");
    struct logout_target target = {.uri = NULL};
    unsigned char mark[SHA256_OCTETS];
    const char *bound = logout_cookie_read(req, mark) ? return_bound(req->op.mem, mark) : NULL;
    if (state != NULL && bound != NULL)
        logout_open(&req->op, bound, state, &target);
    enum az_status st = check_target(req, &target);
    return st == AZ_OK ? logout_finish(req, &target) : st;
}
