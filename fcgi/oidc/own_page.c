#include "config.h"

#include "oidc/own_page.h"

#include <string.h>

#include "base/settings/settings.h"
#include "crypto/random.h"
#include "crypto/secret.h"
#include "oidc/describe.h"
#include "oidc/flow.h"
#include "oidc/session.h"
#include "token/authorization.h"

enum az_status
own_page_session(struct request *req, struct session *ret)
{
    unsigned char hash[SHA256_OCTETS];
    enum consent_mode mode;
    *ret = (struct session){.found = false};
    if (!session_cookie_read(req, hash))
        return AZ_OK;
    enum az_status st = session_find(&req->op, hash, NULL, ret, &mode);
    if (st == AZ_OK && ret->found) {
        req->proved = true;
        req->audit.subject_id = ret->subject;
    }
    return st;
}

static enum az_status
sign_in_for(struct request *req, const char *back, const char *idp_id, bool for_console)
{
    struct authorization authorization = {
        .client_id = req->op.az->cfg->oidc_issuer,
        .redirect_uri = back,
        .idp_hint = idp_id,
        .ui_locales = request_param(req, "ui_locales"),
        .max_age = AUTHORIZATION_NO_MAX_AGE,
        .own_page = true,
        .for_console = for_console,
        .flow_id = random_uuid7(req->op.mem, req->op.now_ms),
        .asked_at = op_now(&req->op),
    };
    if (authorization.redirect_uri == NULL || authorization.flow_id == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL,
                       "the random number generator failed, or out of memory");
    req->audit.flow_id = authorization.flow_id;
    return flow_sign_in(req, &authorization);
}

enum az_status
own_page_sign_in(struct request *req, const char *back)
{
    return sign_in_for(req, back, request_param(req, "idp_hint"), false);
}

enum az_status
own_page_sign_in_console(struct request *req, const char *back, const char *idp_id)
{
    return sign_in_for(req, back, idp_id, true);
}

enum az_status
own_page_describe(struct request *req, const struct session *session, struct jsonx_build *values)
{
    jsonx_set(values, "logout_href", json_sprintf("%s/logout", req->op.az->cfg->oidc_issuer));
    return describe_user(req, session, values);
}

bool
own_page_form_is_ours(struct request *req, const char *purpose, const char *token)
{
    char made[SESSION_FORM_TOKEN_SIZE];
    return token != NULL && purpose != NULL && session_form_is_ours(req)
           && session_form_token(req, purpose, made)
           && secret_equal(token, strlen(token), made, strlen(made));
}

const char *
own_page_disconnect(struct request *req, const char *resource)
{
    return talloc_asprintf(req->op.mem, "disconnect/%s", resource);
}
