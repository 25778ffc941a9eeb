#include "config.h"

#include "oidc/authorize.h"

#include <string.h>

#include "base/query.h"
#include "base/settings/settings.h"
#include "crypto/random.h"
#include "oidc/flow.h"
#include "oidc/flow_client.h"
#include "oidc/session.h"

/* Read a parameter without which an error cannot be sent to the client (RFC 6749 4.1.2.1). */
static enum az_status
need_param(struct request *req, const char *name, const char **ret)
{
    *ret = request_param(req, name);
    if (*ret != NULL)
        return AZ_OK;
    const char *text = request_param_repeated(req, name) ? "is repeated" : "is missing";
    return op_fail(&req->op, AZ_INVALID_REQUEST,
                   req->param_fault != NULL
                       ? req->param_fault
                       : talloc_asprintf(req->op.mem, "The parameter %s %s", name, text),
                   NULL);
}

/* Find the client. A failure here gets a page and never a redirect. If the request has no scope,
 * the client's row says what is asked for, so the row is read now. */
static enum az_status
find_client(struct request *req, bool fresh, bool *ret_remembered)
{
    struct flow_name name = {.code_challenge = request_param(req, "code_challenge")};
    *ret_remembered = false;
    enum az_status st = need_param(req, "client_id", &name.client_id);
    if (st == AZ_OK)
        st = need_param(req, "redirect_uri", &name.redirect_uri);
    if (request_param(req, "scope") == NULL)
        fresh = true;
    return st == AZ_OK ? flow_find_client(req, &name, fresh, ret_remembered) : st;
}

/* Read the browser's session, if it sent the cookie: the only read of the request. */
static enum az_status
find_session(struct request *req, struct session *session, enum consent_mode *mode)
{
    unsigned char id_hash[SHA256_OCTETS];
    const struct consent_place place = flow_consent_place(req);
    if (!session_cookie_read(req, id_hash))
        return AZ_OK;
    enum az_status st = session_find(&req->op, id_hash, &place, session, mode);
    req->proved = req->proved || (st == AZ_OK && session->found);
    return st;
}

/* True if a parameter may hold personal data (a name, an account, the signed-in user). A client
 * that posts it keeps it out of URLs, which browsers, web servers and proxies write down. */
static bool
has_private_param(const struct request *req)
{
    static const char *const names[] = {"login_hint", "id_token_hint", "authorization_details"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (request_param(req, names[i]) != NULL)
            return true;
    return false;
}

/*
 * True if a page of another site posted the form without our cookies, which are SameSite=Lax. A
 * signed-in user would be sent to the provider again, and a new browser mark would end the sign-ins
 * of the browser's other tabs. A GET from such a page brings the cookies. If the browser does not
 * say where the form came from, the request continues as it is.
 */
static bool
lost_cookies(const struct request *req)
{
    unsigned char hash[SHA256_OCTETS];
    const char *site = request_header(req, "HTTP_SEC_FETCH_SITE");
    return strcmp(req->method, "POST") == 0 && site != NULL && strcmp(site, "cross-site") == 0
           && !session_cookie_read(req, hash) && !browser_cookie_read(req, hash);
}

/* Return the URL that sends the same form as a query. NULL: it would be refused or expose personal
 * data. A GET is never redirected, so there is no loop. */
static const char *
as_query(struct request *req)
{
    struct query_pair pairs[HTTP_PARAMS_MAX];
    if (!lost_cookies(req) || has_private_param(req) || req->repeated != NULL
        || req->param_fault != NULL)
        return NULL;
    for (size_t i = 0; i < req->params; i++)
        pairs[i] = (struct query_pair){req->param[i].name, req->param[i].value};
    const char *base = talloc_asprintf(req->op.mem, "%s/authorize", req->op.az->cfg->oidc_issuer);
    const char *url = base != NULL ? query_append(req->op.mem, base, pairs, req->params) : NULL;
    bool fits = url != NULL && request_target_fits(url) && strlen(url) <= HTTP_LOCATION_MAX;
    return fits ? url : NULL;
}

/* Check and answer what can be reported to the client. */
static enum az_status
go_on(struct request *req)
{
    struct authorization authorization;
    struct session session = {.found = false};
    enum consent_mode mode = CONSENT_DYNAMIC_CLIENTS; /* no user can consent without a session */
    req->state = authorize_state(req);
    if (req->audit.flow_id == NULL)
        req->audit.flow_id = random_uuid7(req->op.mem, req->op.now_ms);
    enum az_status st = authorize_params_read(req, &authorization);
    if (st != AZ_OK)
        return st;
    authorization.flow_id = req->audit.flow_id;
    authorization.asked_at = op_now(&req->op);
    if (authorization.flow_id == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL,
                       "the random number generator failed, or out of memory");
    st = find_session(req, &session, &mode);
    return st == AZ_OK ? flow_continue(req, &authorization, &session, mode, false) : st;
}

enum az_status
authorize_handle(struct request *req)
{
    bool remembered;
    enum az_status st = find_client(req, false, &remembered);
    const char *again = st == AZ_OK ? as_query(req) : NULL;
    if (again != NULL)
        return respond_redirect(req, again);
    if (st == AZ_OK)
        st = go_on(req);
    if (st == AZ_OK || !remembered || req->audited || az_status_row(st)->http >= 500)
        return st;
    /* The request was refused and the client came from memory: try again with its current row. */
    struct az_fault fault = req->op.fault;
    int64_t version = req->client != NULL ? req->client->version : -1;
    az_fault_clear(&req->op.fault);
    if ((st = find_client(req, true, &remembered)) != AZ_OK)
        return st;
    if (req->client->version != version)
        return go_on(req);
    req->op.fault = fault;
    return fault.status;
}
