#include "config.h"

#include "oidc/consent.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "base/words.h"
#include "http/page/page.h"
#include "oidc/authorize_link.h"
#include "oidc/describe.h"
#include "oidc/flow.h"
#include "oidc/flow_client.h"
#include "oidc/session.h"
#include "store/people/consents.h"
#include "store/people/identity_providers.h"
#include "token/authorization.h"

#define NOT_WAITING                                                                                \
    "This request is unknown, already answered or expired. Go back to the application and start "  \
    "again"

static const char *const decisions[] = {"allow", "deny", NULL};

/* clang-format off */
const struct route_param consent_params[] = {
    {.name = "id", .required = true,
     .help = "Id of the waiting request, which the service put into the link or form"},
    {.name = NULL},
};
const struct route_param consent_form_params[] = {
    {.name = "id", .required = true,
     .help = "Id of the waiting request, which the service put into the link or form"},
    {.name = "decision", .required = true, .words = decisions, .help = "Answer of the user"},
    {.name = NULL},
};
/* clang-format on */

/* A request that waits for consent, and the session that it waits for. */
struct waiting {
    struct authorization authorization;
    struct session session;
    enum consent_mode mode;
};

/* Find the request of the form token if it belongs to this browser's session. The token of another
 * user, or the same token after a new sign-in, finds nothing. */
static enum az_status
find_waiting(struct request *req, bool take, struct waiting *ret)
{
    unsigned char session_hash[SHA256_OCTETS], id_hash[SHA256_OCTETS];
    const char *id = request_param(req, "id"), *request = NULL;
    enum az_status st = AZ_OK;
    struct waiting waiting = {.session = {.found = false}};
    if (id != NULL && session_cookie_read(req, session_hash)) {
        st = sha256(id, strlen(id), id_hash) == AZ_OK
                 ? session_find(&req->op, session_hash, NULL, &waiting.session, &waiting.mode)
                 : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "SHA-256 failed");
        if (st == AZ_OK && waiting.session.found)
            st = consent_request_get(&req->op, id_hash, session_hash, take, &request);
    }
    if (st == AZ_OK && request == NULL)
        st = op_fail(&req->op, AZ_INVALID_REQUEST, NOT_WAITING,
                     "this session has no such waiting request");
    if (st == AZ_OK)
        st = authorization_load(&req->op, request, &waiting.authorization);
    if (st != AZ_OK)
        return st;
    req->ui_locales = waiting.authorization.ui_locales;
    req->proved = true;
    req->audit.subject_id = waiting.session.subject;
    *ret = waiting;
    return AZ_OK;
}

/* Describe the address to which the code goes; *ret_action: the origin to which the form may lead.
 * Any program on the user's machine can claim a loopback port or a private scheme, so the page
 * warns. */
static void
describe_redirect(struct request *req, const struct authorization *authorization,
                  struct jsonx_build *values, const char **ret_action)
{
    struct uri uri;
    *ret_action = NULL;
    if (uri_parse(req->op.mem, authorization->redirect_uri, &uri) != AZ_OK)
        return;
    bool web = strcmp(uri.scheme, "https") == 0 || strcmp(uri.scheme, "http") == 0;
    jsonx_set(values, "private_scheme", json_boolean(!web));
    jsonx_set(values, "loopback", json_boolean(web && uri_host_is_loopback(uri.host)));
    jsonx_set(values, "redirect_host",
              json_string(authorization_redirect_host(&req->op, authorization)));
    *ret_action = uri_origin(req->op.mem, &uri);
}

static enum az_status
describe_asked(struct request *req, const struct authorization *authorization,
               struct jsonx_build *values)
{
    const struct described_access access = {
        .scope = authorization->scope,
        .resource = authorization->resource,
        .resource_types = authorization->resource_types,
        .details = authorization->details,
    };
    return describe_access(req, &access, values);
}

/* True if the provider of the session tells when a person signed in. */
static bool
tells_time(struct request *req, const struct session *session)
{
    const struct identity_providers *list;
    if (identity_providers_get(&req->op, false, &list) != AZ_OK)
        return true;
    for (size_t i = 0; i < list->count; i++)
        if (list->provider[i].id == session->idp)
            return list->provider[i].sends_auth_time;
    return true;
}

/* Offer to sign in as another person: the same request with prompt=login, or with select_account at
 * a provider where that would be refused (world.md F4), and without the hints that lead to the
 * present account. A request that came as a long form does not fit into a link and gets
 * no offer. */
static enum az_status
describe_switch(struct request *req, const struct waiting *waiting, struct jsonx_build *values)
{
    struct authorization other = waiting->authorization;
    other.prompt_login = tells_time(req, &waiting->session);
    other.prompt_select = !other.prompt_login;
    other.login_hint = NULL;
    const char *url = authorize_link(req, &other, NULL);
    if (url == NULL)
        return op_no_memory(&req->op);
    if (request_target_fits(url))
        jsonx_set(values, "switch_href", json_string(url));
    return AZ_OK;
}

enum az_status
consent_show_handle(struct request *req)
{
    struct waiting waiting;
    const struct authorization *authorization = &waiting.authorization;
    const char *form_action = NULL;
    struct jsonx_build values = {jsonx_own(req->op.mem, json_object()), false};
    enum az_status st = find_waiting(req, false, &waiting);
    if (st == AZ_OK)
        st = flow_resume(req, authorization);
    if (st == AZ_OK)
        st = describe_user(req, &waiting.session, &values);
    if (st == AZ_OK)
        st = describe_asked(req, authorization, &values);
    if (st == AZ_OK)
        st = describe_switch(req, &waiting, &values);
    if (st != AZ_OK)
        return st;
    describe_client(req, req->client, &values);
    describe_links(req, req->client, &values);
    describe_redirect(req, authorization, &values, &form_action);
    jsonx_set(&values, "id", json_string(request_param(req, "id")));
    jsonx_set(&values, "action",
              json_string(talloc_asprintf(req->op.mem, "%s/authorize/consent",
                                          req->op.az->cfg->oidc_issuer)));
    return respond_page(req, 200, "consent", jsonx_built(&values), form_action);
}

enum az_status
consent_answer_handle(struct request *req)
{
    struct waiting waiting;
    const char *decision = request_param(req, "decision");
    bool allowed = decision != NULL && strcmp(decision, "allow") == 0;
    if (!session_form_is_ours(req))
        return op_fail(&req->op, AZ_INVALID_REQUEST, "The form was sent from another site", NULL);
    if (decision == NULL || !words_has(decisions, decision))
        return op_fail(&req->op, AZ_INVALID_REQUEST, "decision must be allow or deny", NULL);
    enum az_status st = find_waiting(req, true, &waiting);
    if (st == AZ_OK)
        st = flow_resume(req, &waiting.authorization);
    if (st == AZ_OK && !allowed)
        return op_fail(&req->op, AZ_USER_DENIED, NULL, NULL);
    if (st != AZ_OK)
        return st;
    return flow_continue(req, &waiting.authorization, &waiting.session, waiting.mode, true);
}
