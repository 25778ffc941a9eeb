#include "config.h"

#include "admin/console_person.h"

#include <string.h>

#include "admin/credential.h"
#include "base/query.h"
#include "base/settings/settings.h"
#include "oidc/own_page.h"
#include "policy/decide/console_role.h"
#include "store/people/admin_sessions.h"

/* clang-format off */
const struct route_param console_start_params[] = {
    {.name = "idp",
     .help = "idpId of the provider at which the person signs in; without it, the person chooses"},
    {.name = "idp_hint", .help = "The same, from the page on which the person chose"},
    {.name = "signed_in",
     .help = "Set by the service: the browser comes back from the sign-in that it began here"},
    {.name = NULL},
};
/* clang-format on */

/* True if a page of ours or the address bar sent the browser, as far as it says. */
static bool
is_from_here(const struct request *req)
{
    const char *site = request_header(req, "HTTP_SEC_FETCH_SITE");
    return site == NULL || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
}

/* Begin the sign-in; the provider is always asked, so that the claims are of now. A page of another
 * site must not be able to replace the session that the browser has. */
static enum az_status
go_to_provider(struct request *req, const char *idp_id)
{
    const struct query_pair back = {"signed_in", "1"};
    if (!is_from_here(req))
        return op_fail(&req->op, AZ_FOREIGN_PAGE,
                       "Another site sent the browser here. Open the console and sign in there",
                       NULL);
    const char *base =
        talloc_asprintf(req->op.mem, "%s/admin/session/start", req->op.az->cfg->oidc_issuer);
    return own_page_sign_in_console(
        req, base != NULL ? query_append(req->op.mem, base, &back, 1) : NULL, idp_id);
}

/* Find the role that the row gives now. */
static enum az_status
find_role(struct request *req, const struct session *session, enum admin_role *ret)
{
    json_t *grants = NULL;
    enum az_status st = admin_grants_read(&req->op, &grants);
    *ret = st == AZ_OK ? console_role(grants, session->idp_id, session->claims) : ADMIN_ROLE_NONE;
    if (st == AZ_OK && *ret == ADMIN_ROLE_NONE)
        st = op_fail(&req->op, AZ_ROLE_REQUIRED,
                     "This account has no role in the console. An owner gives one by an entry in "
                     "the policy row svc.operator.controls.console",
                     "%s of identity provider %s has no role", session->subject, session->idp_id);
    return st;
}

static enum az_status
begin_session(struct request *req, const struct session *session)
{
    unsigned char before[SHA256_OCTETS], hash[SHA256_OCTETS];
    bool had = admin_cookie_read(req, before);
    enum admin_role role;
    const char *url = talloc_asprintf(req->op.mem, "%s/portal/", req->op.az->cfg->oidc_issuer);
    enum az_status st = find_role(req, session, &role);
    if (st != AZ_OK)
        return st;
    req->admin =
        (struct admin_key){.subject = session->subject, .label = session->subject, .role = role};
    st = url != NULL ? admin_cookie_make(req, hash) : op_no_memory(&req->op);
    if (st == AZ_OK)
        st =
            admin_session_begin(&req->op, hash, had ? before : NULL, &req->admin, session->id_hash);
    if (st != AZ_OK)
        return st;
    return respond_redirect(req, url);
}

/*
 * The browser comes back. The sign-in that was begun here has marked the session that it made, and
 * the mark counts once: a session that the browser has from another sign-in, an hour old or stolen,
 * does not show that the provider was asked.
 */
static enum az_status
come_back(struct request *req)
{
    struct session session = {.found = false};
    bool taken = false;
    enum az_status st = own_page_session(req, &session);
    if (st == AZ_OK && session.found)
        st = session_take_console(&req->op, session.id_hash, &taken);
    if (st == AZ_OK && !taken)
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "This sign-in was used already, took too long or has ended since. Open the "
                       "console and sign in again",
                       "the browser has no session of a sign-in for the console");
    return st == AZ_OK ? begin_session(req, &session) : st;
}

enum az_status
console_start_handle(struct request *req)
{
    const char *idp = request_param(req, "idp"), *hint = request_param(req, "idp_hint");
    if (!req->op.az->cfg->admin_enabled)
        return op_fail(&req->op, AZ_NOT_FOUND, "The console is switched off (SVC_ADMIN_ENABLED)",
                       "SVC_ADMIN_ENABLED is false");
    /* The page on which the person chooses adds its choice to the address of the way back. */
    return request_param(req, "signed_in") != NULL && hint == NULL
               ? come_back(req)
               : go_to_provider(req, hint != NULL ? hint : idp);
}
