#include "config.h"

#include "gateway/link/page.h"

#include <string.h>

#include "base/query.h"
#include "base/uri.h"
#include "base/words.h"
#include "client/ask.h"
#include "client/browser_secret.h"
#include "gateway/link/need.h"
#include "gateway/link/provider.h"
#include "gateway/link/typed.h"
#include "gateway/link/visit.h"
#include "http/page/page.h"
#include "managed/managed.h"
#include "oidc/describe.h"
#include "oidc/own_page.h"
#include "oidc/session.h"

/* Parameters that the service itself adds to an authorization request. */
#define OWN_PARAMS 8

static const char *const link_decisions[] = {"connect", "cancel", "save", NULL};

/* clang-format off */
const struct route_param link_page_params[] = {
    {.name = "state", .required = true,
     .help = "State of the link, which the gateway gave with its answer"},
    {.name = "idp_hint", .help = "idpId of the provider at which the person signs in"},
    {.name = NULL},
};
const struct route_param link_form_params[] = {
    {.name = "state", .required = true, .help = "State of the link"},
    {.name = "token", .required = true, .help = "Token that the service put into the form"},
    {.name = "decision", .required = true, .words = link_decisions, .help = "Answer of the person"},
    {.name = "secret", .help = "Secret that the person typed, with the decision save"},
    {.name = NULL},
};
/* clang-format on */

/* The name of a form token: the token is good for one link. */
static const char *
link_form_purpose(struct request *req, const unsigned char jti[LINK_REQUEST_JTI_OCTETS])
{
    const char *id = b64url_encode(req->op.mem, jti, LINK_REQUEST_JTI_OCTETS);
    return id != NULL ? talloc_asprintf(req->op.mem, "link/%s", id) : NULL;
}

/* ---- the page */

static enum az_status
describe_link(struct request *req, struct link_visit *visit, struct jsonx_build *values)
{
    const struct managed_auth *auth = &visit->resource->auth;
    const struct link_request *link = &visit->link;
    struct jsonx_build list = {json_array(), false};
    const char *name = visit->resource->display_name;
    size_t i;
    json_t *scope;
    jsonx_set(values, "scopes", list.value);
    json_array_foreach (link->scopes, i, scope)
        jsonx_append(&list, json_pack("{s:O}", "name", scope));
    values->lost = values->lost || list.lost;
    jsonx_set(values, "resource", json_string(name != NULL ? name : visit->resource->name));
    if (auth->provider != NULL)
        jsonx_set(values, "provider", json_string(auth->provider));
    if (visit->resource->upstream_url != NULL)
        jsonx_set(values, "host",
                  json_string(uri_place(req->op.mem, visit->resource->upstream_url)));
    if (*link->client_id != '\0')
        jsonx_set(values, "client_name",
                  json_string(describe_seen(link->client_name, link->client_id)));
    jsonx_set(values, "action", json_string(link_page_href(req, "/link")));
    jsonx_set(values, "state", json_string(request_param(req, "state")));
    return own_page_describe(req, &visit->session, values);
}

/* Add the form token; the request must have a session cookie. */
static enum az_status
add_token(struct request *req, const struct link_visit *visit, struct jsonx_build *values)
{
    char token[SESSION_FORM_TOKEN_SIZE];
    const char *purpose = link_form_purpose(req, visit->link.jti);
    if (purpose == NULL || !session_form_token(req, purpose, token))
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the form token cannot be created");
    jsonx_set(values, "token", json_string(token));
    return AZ_OK;
}

/* Set the fault of a secret (link_typed_try()), and the text of it in English. */
static void
set_fault(struct jsonx_build *values, const char *fault)
{
    static const struct {
        const char *fault, *text;
    } texts[] = {
        {"secret_missing",   "Type it into the field."                            },
        {"secret_malformed", "It has a space, or a character that it cannot have."},
        {"secret_refused",   "It was refused. Check it and type it again."        },
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(texts[i].fault, fault) == 0)
            jsonx_set(values, "fault", json_string(texts[i].text));
    jsonx_set(values, fault, json_true());
}

/* Show the page: the question, or the field for the secret. `fault` is shown with the field. */
static enum az_status
link_show(struct request *req, struct link_visit *visit, bool asks_secret, const char *fault)
{
    const struct managed_auth *auth = &visit->resource->auth;
    struct jsonx_build values = {jsonx_own(req->op.mem, json_object()), false};
    struct link_provider provider;
    struct uri uri;
    const char *origin = NULL;
    enum az_status st = AZ_OK;
    if (auth->type == MANAGED_AUTH_OAUTH_LINK) {
        st = link_visit_provider(req, visit, &provider);
        /* The form's redirect leads there; Chromium blocks it otherwise (CSP form-action). */
        if (st == AZ_OK && uri_parse(req->op.mem, provider.authorization, &uri) == AZ_OK) {
            origin = uri_origin(req->op.mem, &uri);
            jsonx_set(&values, "sign_in_host", json_string(uri.host));
        }
    }
    if (st == AZ_OK)
        st = describe_link(req, visit, &values);
    if (st == AZ_OK)
        st = add_token(req, visit, &values);
    if (st != AZ_OK)
        return st;
    if (asks_secret) {
        jsonx_set(&values, "asks_secret", json_true());
        jsonx_set(&values, "label", json_string(auth->label != NULL ? auth->label : "API key"));
        if (auth->help != NULL)
            jsonx_set(&values, "help", json_string(auth->help));
        if (fault != NULL)
            set_fault(&values, fault);
    }
    return respond_page(req, 200, "link", jsonx_built(&values), origin);
}

static enum az_status
refuse_used(struct request *req)
{
    return op_fail(&req->op, AZ_LINK_EXPIRED, "This link has been used already",
                   "the link has been answered");
}

enum az_status
link_show_handle(struct request *req)
{
    struct link_visit visit = {.resource = NULL};
    struct link_state state;
    const char *text = request_param(req, "state");
    enum az_status st = link_read(&req->op, text, &state);
    if (st == AZ_OK)
        st = own_page_session(req, &visit.session);
    if (st != AZ_OK)
        return st;
    if (!visit.session.found) {
        const struct query_pair pair = {"state", text};
        return own_page_sign_in(req,
                                query_append(req->op.mem, link_page_href(req, "/link"), &pair, 1));
    }
    st = link_request_find(&req->op, state.jti, NULL, &visit.link);
    if (st == AZ_OK)
        st = link_visit_check(req, &visit);
    if (st != AZ_OK)
        return st;
    return visit.link.used ? refuse_used(req) : link_show(req, &visit, false, NULL);
}

/* ---- Connect */

/* Make the URL of the upstream's authorization endpoint; configured parameters never replace ours.
 */
static enum az_status
authorize_url(struct request *req, const struct link_visit *visit,
              const struct link_provider *provider, const char *state, const char *challenge,
              const char **ret)
{
    struct op *op = &req->op;
    const struct managed_auth *auth = &visit->resource->auth;
    const char *scopes = NULL;
    bool names = auth->resource_param == NULL || strcmp(auth->resource_param, "never") != 0;
    enum az_status st = client_join_scopes(op, visit->link.scopes, auth->scope_separator, &scopes);
    if (st != AZ_OK)
        return st;
    const struct query_pair own[OWN_PARAMS] = {
        {"response_type", "code"                                  },
        {"client_id",     provider->client_id                     },
        {"redirect_uri",  link_callback_uri(op,                     link_redirect_name(visit->resource))},
        {auth->scope_param != NULL ? auth->scope_param : "scope",               scopes},
        {"state",               state                                                },
        {"code_challenge",               challenge},
        {"code_challenge_method",               challenge != NULL ? "S256" : NULL                                         },
        {"resource",               names ? provider->resource : NULL    },
    };
    char *url =
        client_url(op->mem, provider->authorization, own, OWN_PARAMS, auth->authorize_params);
    *ret = url;
    return url != NULL ? AZ_OK : op_no_memory(op);
}

/* Mark the link as used by this session. `provider` is the one that the browser goes to, or NULL.
 */
static enum az_status
link_mark(struct request *req, const struct link_visit *visit, const struct link_provider *provider,
          const struct link_request_use *use)
{
    struct link_request_use own = *use;
    unsigned char binding[SHA256_OCTETS];
    bool done = false;
    enum az_status st = link_binding(&req->op, visit->resource, binding);
    own.session_hash = visit->session.id_hash;
    own.binding = binding;
    if (st == AZ_OK && provider != NULL)
        st = link_binding_at(&req->op, provider, binding, binding);
    if (st == AZ_OK)
        st = link_request_mark(&req->op, &visit->link, &own, &done);
    return st == AZ_OK && !done ? refuse_used(req) : st;
}

static enum az_status
link_go_upstream(struct request *req, struct link_visit *visit)
{
    struct op *op = &req->op;
    struct link_provider provider;
    unsigned char state_hash[SHA256_OCTETS];
    const char *state = NULL, *verifier = NULL, *challenge = NULL, *url = NULL,
               *pkce = visit->resource->auth.pkce;
    bool proves = pkce == NULL || strcmp(pkce, "none") != 0;
    enum az_status st = link_visit_provider(req, visit, &provider);
    if (st == AZ_OK)
        st = browser_secret_make(op, &state, state_hash);
    if (st == AZ_OK && proves)
        st = browser_secret_verifier(op, &verifier, &challenge);
    if (st != AZ_OK)
        return st;
    const struct link_request_use use = {.state_hash = state_hash, .verifier = verifier};
    st = authorize_url(req, visit, &provider, state, challenge, &url);
    if (st == AZ_OK)
        st = link_mark(req, visit, &provider, &use);
    return st == AZ_OK ? respond_see_other(req, url) : st;
}

static enum az_status
connect(struct request *req, struct link_visit *visit)
{
    const struct link_request_use use = {.session_hash = NULL};
    if (visit->link.used)
        return refuse_used(req);
    link_visit_note(req, visit, "begun");
    if (visit->resource->auth.type == MANAGED_AUTH_OAUTH_LINK)
        return link_go_upstream(req, visit);
    enum az_status st = link_mark(req, visit, NULL, &use);
    return st == AZ_OK ? link_show(req, visit, true, NULL) : st;
}

/* ---- Cancel, and the secret */

static enum az_status
cancel(struct request *req, struct link_visit *visit)
{
    const struct link_request_use use = {.session_hash = NULL};
    bool done = false;
    enum az_status st =
        visit->link.used ? link_request_close(&req->op, &visit->link, visit->session.id_hash, &done)
                         : link_request_mark(&req->op, &visit->link, &use, &done);
    if (st == AZ_OK && !done)
        return refuse_used(req);
    if (st != AZ_OK)
        return st;
    link_visit_note(req, visit, "cancelled");
    link_count(&req->op, visit->resource, "declined");
    return link_visit_leave(req, visit, "cancelled");
}

static enum az_status
save(struct request *req, struct link_visit *visit)
{
    const char *fault = NULL;
    bool done = false;
    if (visit->resource->auth.type != MANAGED_AUTH_USER_SECRET || !visit->link.used
        || visit->link.session_hash == NULL
        || memcmp(visit->link.session_hash, visit->session.id_hash, SHA256_OCTETS) != 0)
        return refuse_used(req);
    link_visit_note(req, visit, "refused");
    enum az_status st = link_typed_try(req, visit, request_param(req, "secret"), &fault);
    if (st != AZ_OK)
        return st;
    if (fault != NULL) {
        link_count(&req->op, visit->resource, "refused");
        return link_show(req, visit, true, fault);
    }
    st = link_request_close(&req->op, &visit->link, visit->session.id_hash, &done);
    if (st == AZ_OK && !done)
        return refuse_used(req);
    if (st == AZ_OK)
        st = link_typed_store(req, visit, request_param(req, "secret"));
    if (st != AZ_OK)
        return st;
    link_visit_note(req, visit, "connected");
    link_count(&req->op, visit->resource, "connected");
    return link_visit_leave(req, visit, "connected");
}

/* The decisions in the order of link_decisions. */
static enum az_status (*const answers[])(struct request *req,
                                         struct link_visit *visit) = {connect, cancel, save};

enum az_status
link_answer_handle(struct request *req)
{
    struct link_visit visit = {.resource = NULL};
    struct link_state state;
    const char *decision = request_param(req, "decision");
    enum az_status st = link_read(&req->op, request_param(req, "state"), &state);
    if (st != AZ_OK)
        return st;
    if (decision == NULL || !words_has(link_decisions, decision))
        return op_fail(&req->op, AZ_INVALID_REQUEST, "decision must be connect, cancel or save",
                       NULL);
    if (!own_page_form_is_ours(req, link_form_purpose(req, state.jti), request_param(req, "token")))
        return op_fail(&req->op, AZ_LINK_INVALID,
                       "This page belongs to another session. Open the link again",
                       "the form token does not belong to session and link");
    st = own_page_session(req, &visit.session);
    if (st == AZ_OK && !visit.session.found)
        return op_fail(&req->op, AZ_LINK_INVALID,
                       "You are not signed in any more. Open the link again", NULL);
    if (st == AZ_OK)
        st = link_request_find(&req->op, state.jti, NULL, &visit.link);
    if (st == AZ_OK)
        st = link_visit_check(req, &visit);
    for (size_t i = 0; st == AZ_OK && link_decisions[i] != NULL; i++)
        if (strcmp(link_decisions[i], decision) == 0)
            return answers[i](req, &visit);
    return st;
}
