#include "config.h"

#include "admin/credential.h"

#include <string.h>

#include "admin/console_link.h"
#include "admin/operator_rule.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "crypto/random.h"
#include "crypto/secret.h"
#include "http/origin.h"
#include "http/own_cookie.h"
#include "http/shared.h"
#include "policy/decide/console_role.h"
#include "store/people/admin_sessions.h"

/* Label in audit rows while SVC_ALLOW_INSECURE_DEV_KEY leaves the admin API open. */
#define DEVELOPMENT_LABEL "development mode"

/* ---- the cookie */

/* The cookie is for https alone, whatever SVC_SESSION_COOKIE_SECURE says; on http a browser takes
 * it from this host alone. */
static struct own_cookie
session_cookie(const struct request *req)
{
    const struct settings *cfg = req->op.az->cfg;
    struct uri issuer;
    bool local = uri_parse(req->op.mem, cfg->oidc_issuer, &issuer) == AZ_OK && issuer.host != NULL
                 && strcmp(issuer.scheme, "http") == 0 && uri_host_is_loopback(issuer.host);
    return (struct own_cookie){"authz_console", "Strict", !local};
}

bool
admin_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS])
{
    const struct own_cookie cookie = session_cookie(req);
    unsigned char octets[OWN_COOKIE_OCTETS];
    bool found =
        own_cookie_read(req, &cookie, octets) && sha256(octets, sizeof(octets), ret_hash) == AZ_OK;
    secret_wipe(octets, sizeof(octets));
    return found;
}

enum az_status
admin_cookie_make(struct request *req, unsigned char ret_hash[SHA256_OCTETS])
{
    const struct own_cookie cookie = session_cookie(req);
    unsigned char octets[OWN_COOKIE_OCTETS];
    enum az_status st =
        random_octets(octets, sizeof(octets)) == AZ_OK
                && sha256(octets, sizeof(octets), ret_hash) == AZ_OK
            ? own_cookie_set(req, &cookie, octets, -1)
            : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the random number generator failed");
    secret_wipe(octets, sizeof(octets));
    return st;
}

void
admin_cookie_drop(struct request *req)
{
    const struct own_cookie cookie = session_cookie(req);
    own_cookie_drop(req, &cookie);
}

/* ---- who asks */

/*
 * True if a page of ours sent the request of a session, as far as the browser says
 * (gateway-admin.md 3.9). A page of another origin cannot send X-Authz-Console, because no row of
 * /admin answers a preflight request. A request that changes nothing may also come from the address
 * bar.
 */
static bool
is_from_console(const struct request *req)
{
    const char *site = req->io->variable(req->io, "HTTP_SEC_FETCH_SITE");
    const char *origin = req->io->variable(req->io, "HTTP_ORIGIN");
    const char *mark = request_header(req, "HTTP_X_AUTHZ_CONSOLE");
    bool same = site != NULL && strcmp(site, "same-origin") == 0;
    if (strcmp(req->method, "GET") == 0)
        return site == NULL || same || strcmp(site, "none") == 0;
    if (mark == NULL || strcmp(mark, "1") != 0)
        return false;
    return site != NULL
               ? same
               : origin != NULL && origin_is_allowed(req->op.az->cfg->oidc_issuer, NULL, origin);
}

/* Find the key that the caller sent; the id stays NULL for an unknown one. */
static enum az_status
find_key(struct request *req, const char *key)
{
    if (*key == '\0' || strlen(key) > ADMIN_KEY_TEXT_MAX)
        return AZ_OK;
    return admin_key_find(&req->op, key, &req->admin);
}

/* Set the person of a session. The row and the claims decide at each request; another role than at
 * the sign-in ends the session. */
static void
admit_person(struct request *req, const struct admin_sign_in *sign_in)
{
    enum admin_role role = console_role(sign_in->grants, sign_in->idp_id, sign_in->claims);
    if (role != ADMIN_ROLE_NONE && role == sign_in->role)
        req->admin = (struct admin_key){.subject = sign_in->subject,
                                        .label = sign_in->subject,
                                        .role = role,
                                        .idp_id = sign_in->idp_id,
                                        .claims = sign_in->claims};
}

static enum az_status
find_session(struct request *req)
{
    unsigned char hash[SHA256_OCTETS];
    struct admin_sign_in sign_in;
    if (!admin_cookie_read(req, hash))
        return AZ_OK;
    if (!is_from_console(req))
        return op_fail(&req->op, AZ_FOREIGN_PAGE, NULL, NULL);
    req->admin_by_session = true;
    enum az_status st = admin_session_find(&req->op, hash, &req->admin, &sign_in);
    if (st == AZ_OK && sign_in.subject != NULL)
        admit_person(req, &sign_in);
    return st;
}

/* Find out who asks: the operator of this process, anybody in development mode, a key, a person, or
 * at the sign-in a one-time link of a key. */
static enum az_status
find_admin(struct request *req, bool by_session)
{
    const struct az_operator *by_operator = req->op.az->by_operator;
    const char *key = request_header(req, "HTTP_X_ADMIN_API_KEY");
    if (by_operator != NULL || req->op.az->cfg->allow_insecure_dev_key) {
        req->admin.label = by_operator != NULL ? by_operator->label : DEVELOPMENT_LABEL;
        req->admin.role = ADMIN_ROLE_OWNER;
        return AZ_OK;
    }
    enum az_status st = key != NULL  ? find_key(req, key)
                        : by_session ? find_session(req)
                                     : console_link_find(req);
    if (st == AZ_OK && req->admin.id == NULL && req->admin.subject == NULL)
        st = op_fail(&req->op, AZ_UNAUTHORIZED, NULL, "no such admin key, session or link");
    return st;
}

/* ---- what for */

enum az_status
admin_require(struct request *req, enum admin_role role)
{
    char text[96];
    enum admin_role least = role == ADMIN_ROLE_NONE ? ADMIN_ROLE_OWNER : role;
    if (req->admin.role >= least)
        return AZ_OK;
    snprintf(text, sizeof(text), "The role %s does not allow this; the role %s does",
             admin_role_word(req->admin.role), admin_role_word(least));
    return op_fail(&req->op, AZ_ROLE_REQUIRED, text, "%s %s",
                   req->admin.subject != NULL ? "person" : "admin key",
                   req->admin.subject != NULL ? req->admin.subject : req->admin.id);
}

static enum az_status
check(struct request *req, bool by_session)
{
    enum az_status st = find_admin(req, by_session);
    if (st != AZ_OK)
        return st;
    req->proved = true;
    req->op.no_owner = req->admin.role < ADMIN_ROLE_OWNER;
    req->op.who = req->admin.label;
    if (req->op.az->by_operator == NULL && !req->op.az->cfg->admin_enabled) {
        req->admin = (struct admin_key){.id = NULL}; /* nobody acts */
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "SVC_ADMIN_ENABLED is false");
    }
    return admin_require(req, req->route->role);
}

static enum az_status
check_admin(struct request *req)
{
    enum az_status st = check(req, true);
    return st == AZ_OK ? operator_rule_check(req) : st;
}

static enum az_status
check_session(struct request *req)
{
    return check(req, true);
}

static enum az_status
check_sign_in(struct request *req)
{
    struct shared *shared = req->op.az->shared;
    int64_t now = op_now(&req->op);
    long retry_after = 0;
    if (shared != NULL && !shared_sign_in_begin(shared, req->ip, now, &retry_after)) {
        respond_header(req, "Retry-After", talloc_asprintf(req->op.mem, "%ld", retry_after));
        return op_fail(&req->op, AZ_TOO_MANY_REQUESTS, NULL, NULL);
    }
    enum az_status st = check(req, false);
    if (shared != NULL && st != AZ_UNAUTHORIZED)
        shared_sign_in_good(shared, req->ip, now);
    return st;
}

const struct route_credential credential_admin = {
    .check = check_admin,
    .before_body = true,
    .schemes = (const char *const[]){"adminKey", NULL},
};

const struct route_credential credential_session = {
    .check = check_session,
    .before_body = true,
    .schemes = (const char *const[]){"adminKey", NULL},
};

const struct route_credential credential_sign_in = {
    .check = check_sign_in,
    .before_body = true,
    .schemes = (const char *const[]){"adminKey", NULL},
};
