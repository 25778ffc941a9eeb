#include "config.h"

#include "admin/console_person.h"

#include <string.h>

#include "admin/credential.h"
#include "base/b64url.h"
#include "base/query.h"
#include "base/settings/settings.h"
#include "crypto/random.h"
#include "crypto/secret.h"
#include "http/own_cookie.h"
#include "oidc/own_page.h"
#include "policy/decide/console_role.h"
#include "store/people/admin_sessions.h"
#include "store/people/sign_ins.h"

/* Lifetime of the mark in seconds: a minute longer than the sign-in, so that its row decides. */
#define MARK_MAX_AGE (SIGN_IN_VALIDITY + 60)

/* clang-format off */
const struct route_param console_start_params[] = {
    {.name = "idp", .help = "idpId of the provider at which the person signs in; without it, the person chooses"},
    {.name = "idp_hint", .help = "The same, from the page on which the person chose"},
    {.name = "mark", .help = "Set by the service: the browser comes back from the sign-in that it began here"},
    {.name = NULL},
};
/* clang-format on */

/*
 * The mark of the browser that began: a page of another site must not be able to begin a session,
 * or to replace the one that the browser has. The cookie of the console is SameSite=Strict, so the
 * browser does not send it on its way back from the provider; this one is Lax. The address of the
 * way back has its hash.
 */
static struct own_cookie
mark_cookie(const struct request *req)
{
    return (struct own_cookie){"authz_console_start", "Lax",
                               req->op.az->cfg->session_cookie_secure};
}

static enum az_status
mark_text(struct request *req, const unsigned char octets[OWN_COOKIE_OCTETS], const char **ret)
{
    unsigned char hash[SHA256_OCTETS];
    *ret = sha256(octets, OWN_COOKIE_OCTETS, hash) == AZ_OK
               ? b64url_encode(req->op.mem, hash, sizeof(hash))
               : NULL;
    return *ret != NULL ? AZ_OK
                        : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "a mark cannot be created");
}

/* True if the browser comes back from a sign-in that it began here. */
static bool
comes_back(struct request *req)
{
    const struct own_cookie cookie = mark_cookie(req);
    unsigned char octets[OWN_COOKIE_OCTETS];
    const char *sent = request_param(req, "mark"), *made = NULL;
    bool back = sent != NULL && request_param(req, "idp_hint") == NULL
                && own_cookie_read(req, &cookie, octets) && mark_text(req, octets, &made) == AZ_OK
                && secret_equal(sent, strlen(sent), made, strlen(made));
    secret_wipe(octets, sizeof(octets));
    return back;
}

/* True if a page of ours or the address bar sent the browser, as far as it says. */
static bool
is_from_here(const struct request *req)
{
    const char *site = request_header(req, "HTTP_SEC_FETCH_SITE");
    return site == NULL || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
}

/* Set the mark, or the one that the browser has for another tab again, and return its text. */
static enum az_status
set_mark(struct request *req, const char **ret)
{
    const struct own_cookie cookie = mark_cookie(req);
    unsigned char octets[OWN_COOKIE_OCTETS];
    enum az_status st =
        own_cookie_read(req, &cookie, octets) || random_octets(octets, sizeof(octets)) == AZ_OK
            ? own_cookie_set(req, &cookie, octets, MARK_MAX_AGE)
            : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the random number generator failed");
    if (st == AZ_OK)
        st = mark_text(req, octets, ret);
    secret_wipe(octets, sizeof(octets));
    return st;
}

/* Begin the sign-in; the provider is always asked, so that the claims are of now. */
static enum az_status
go_to_provider(struct request *req, const char *idp_id)
{
    const char *mark = NULL;
    if (!is_from_here(req))
        return op_fail(&req->op, AZ_FOREIGN_PAGE,
                       "Another site sent the browser here, or the sign-in took too long. Open the "
                       "console and sign in there",
                       NULL);
    enum az_status st = set_mark(req, &mark);
    if (st != AZ_OK)
        return st;
    const struct query_pair pairs[] = {
        {"idp", request_param(req, "idp")},
        {"mark",     mark                }
    };
    const char *base =
        talloc_asprintf(req->op.mem, "%s/admin/session/start", req->op.az->cfg->oidc_issuer);
    const char *back = base != NULL ? query_append(req->op.mem, base, pairs, 2) : NULL;
    return own_page_sign_in_at(req, back, idp_id);
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
    const struct own_cookie cookie = mark_cookie(req);
    unsigned char before[SHA256_OCTETS], hash[SHA256_OCTETS];
    bool had = admin_cookie_read(req, before);
    enum admin_role role;
    const char *url = talloc_asprintf(req->op.mem, "%s/portal/", req->op.az->cfg->oidc_issuer);
    enum az_status st = find_role(req, session, &role);
    if (st != AZ_OK)
        return st;
    req->admin =
        (struct admin_key){.subject = session->subject, .label = session->subject, .role = role};
    st = url != NULL ? admin_cookie_make(req, hash)
                     : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "out of memory");
    if (st == AZ_OK)
        st =
            admin_session_begin(&req->op, hash, had ? before : NULL, &req->admin, session->id_hash);
    if (st != AZ_OK)
        return st;
    own_cookie_drop(req, &cookie);
    return respond_redirect(req, url);
}

enum az_status
console_start_handle(struct request *req)
{
    const char *idp = request_param(req, "idp"), *hint = request_param(req, "idp_hint");
    struct session session = {.found = false};
    enum az_status st = AZ_OK;
    if (!req->op.az->cfg->admin_enabled)
        return op_fail(&req->op, AZ_NOT_FOUND, "The console is switched off (SVC_ADMIN_ENABLED)",
                       "SVC_ADMIN_ENABLED is false");
    if (!comes_back(req))
        return go_to_provider(req, hint != NULL ? hint : idp);
    st = own_page_session(req, &session);
    if (st != AZ_OK)
        return st;
    return session.found && (idp == NULL || strcmp(idp, session.idp_id) == 0)
               ? begin_session(req, &session)
               : op_fail(
                   &req->op, AZ_INVALID_REQUEST,
                   "The sign-in ended at another provider than the one that was asked for, or "
                   "has ended since. Open the console and sign in again",
                   NULL);
}
