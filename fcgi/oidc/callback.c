#include "config.h"

#include "oidc/callback.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "http/fetch/fetch_places.h"
#include "oidc/choose.h"
#include "oidc/flow.h"
#include "oidc/flow_client.h"
#include "oidc/session.h"
#include "oidc/upstream/upstream.h"
#include "oidc/upstream/upstream_fault.h"
#include "store/people/identity_providers.h"
#include "store/people/sign_ins.h"
#include "token/authorization.h"
#include "token/subject.h"

#define PROVIDER_DISABLED "The identity provider has been disabled"
#define AGAIN "The request begins again"

/* clang-format off */
const struct route_param callback_params[] = {
    {.name = "state", .required = true,
     .help = "Value that the service sent to the identity provider"},
    {.name = "code", .help = "Authorization code of the identity provider"},
    {.name = "iss", .help = "Issuer of the answer (RFC 9207)"},
    {.name = "error", .help = "Error code of the identity provider"},
    {.name = "error_description", .help = "Its text for people"},
    {.name = NULL},
};
/* clang-format on */

/* Take a place for all requests to the provider. Without a place the browser asks again, and its
 * sign-in still waits. */
static enum az_status
take_place(struct request *req, const struct sign_in_key *key, struct fetch_place *place)
{
    const struct fetch_turn turn = {.browser = key->browser_hash, .provider = key->idp_id};
    enum fetch_fault fault = fetch_place_take_turn(&req->op, &turn, place);
    if (fault == FETCH_OK)
        return AZ_OK;
    return op_fail(&req->op, fault == FETCH_FAULT_BUSY ? AZ_BUSY : AZ_UNAVAILABLE, NULL,
                   "callback of identity provider %s: %s", req->path_value[0],
                   fetch_place_why(fault));
}

static enum az_status
refuse_sign_in(struct request *req)
{
    failure_to_page(req); /* the browser that used the sign-in has the client's answer */
    return op_fail(&req->op, AZ_INVALID_REQUEST,
                   "This sign-in is unknown, already used or expired. Go back to the application "
                   "and start again",
                   "this browser has no sign-in waiting for identity provider %s",
                   req->path_value[0]);
}

/* Find the sign-in by a mark of the browser: the one that all its tabs share, or that of this
 * sign-in alone. *ret_request NULL: neither fits. */
static enum az_status
find_by_mark(struct request *req, struct sign_in_key *key, const char **ret_request)
{
    enum az_status st = AZ_OK;
    *ret_request = NULL;
    if (browser_cookie_read(req, key->browser_hash))
        st = sign_in_find(&req->op, key, ret_request);
    if (st == AZ_OK && *ret_request == NULL
        && flow_cookie_read(req, key->state_hash, key->browser_hash))
        st = sign_in_find(&req->op, key, ret_request);
    return st;
}

/*
 * Find the sign-in that the state names. Without the browser mark an attacker could send a victim
 * the end of the attacker's own sign-in (RFC 9700 section 4.7), and the victim would continue under
 * the attacker's account. It stays where it is until there is a place for fetches, because it can
 * be taken only once; and an invented state gets no place. *ret_request NULL: there is none.
 */
static enum az_status
find_sign_in(struct request *req, struct sign_in_key *key, const char **ret_request)
{
    const char *state = request_param(req, "state");
    key->idp_id = req->path_value[0];
    *ret_request = NULL;
    if (state == NULL)
        return refuse_sign_in(req);
    if (sha256(state, strlen(state), key->state_hash) != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "SHA-256 failed");
    return find_by_mark(req, key, ret_request);
}

/* Take the sign-in. ret->found false: another request with the same state has taken it since. */
static enum az_status
take_sign_in(struct request *req, const struct sign_in_key *key, struct sign_in *ret)
{
    enum az_status st = sign_in_take(&req->op, key, ret);
    if (st != AZ_OK || !ret->found)
        return st;
    flow_cookie_drop(req, key->state_hash);
    req->proved = true;
    if (ret->disabled)
        return op_fail(&req->op, AZ_USER_DENIED, PROVIDER_DISABLED,
                       "identity provider %s was disabled during the sign-in",
                       ret->provider.idp_id);
    return AZ_OK;
}

/* True if the provider says that its own sign-in page waited too long (Keycloak says it so). */
static bool
has_expired(const struct request *req)
{
    const char *error = request_param(req, "error"),
               *text = request_param(req, "error_description");
    return error != NULL && strcmp(error, "temporarily_unavailable") == 0 && text != NULL
           && strcmp(text, "authentication_expired") == 0;
}

/* Redeem the provider's answer in a place for fetches, and prove the identity of the user. */
static enum az_status
redeem(struct request *req, const struct fetch_place *place, const struct sign_in *sign_in,
       const struct authorization *authorization, struct upstream_identity *ret)
{
    const char *error = request_param(req, "error");
    const struct upstream_answer answer = {
        .code = request_param(req, "code"),
        .iss = request_param(req, "iss"),
        .verifier = sign_in->verifier,
        .nonce = sign_in->nonce,
        .max_age = authorization->max_age,
        .prompt_login = authorization->prompt_login,
        .asked_at = authorization->asked_at,
    };
    if (error == NULL && answer.code == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, "The identity provider did not send a code",
                       "identity provider %s: the callback has neither code nor error",
                       sign_in->provider.idp_id);
    /* The provider's words go to the log, not to the client. */
    enum az_status st = error != NULL
                            ? upstream_refuse(&req->op, &sign_in->provider, answer.iss, error,
                                              request_param(req, "error_description"))
                            : upstream_redeem(&req->op, &sign_in->provider, &answer, ret);
    if (st != AZ_OK && error == NULL)
        fetch_place_pause(&req->op, place);
    /* The sign-in is used up, so another try begins a new one. A provider at which the sign-in
     * expired can be reached. */
    if ((st == AZ_UNAVAILABLE && !has_expired(req)) || st == AZ_PROVIDER_SETUP)
        choose_another(req, authorization, &sign_in->provider);
    if (st != AZ_ACCESS_DENIED)
        return st;
    /* In the audit, `denied` means that policy refused; here the proof of the sign-in failed. */
    return az_fail_as(&req->op.fault, AZ_USER_DENIED, NULL);
}

/* A proved sign-in on its way to a session. */
struct proved {
    struct request *req;
    const struct identity_provider *provider;
    const struct upstream_identity *who;
    struct consent_place place; /* whose remembered consents are read */
    unsigned char id_hash[SHA256_OCTETS];
    unsigned char old_hash[SHA256_OCTETS];
    bool had; /* old_hash is set */
    struct session session;
    enum consent_mode mode;
    bool for_console; /* the sign-in was begun for a session of the console */
    bool stale;       /* the list of providers was out of date: nothing was written */
};

/* Create the session. A subject name never changes, so it must be derived from the current list of
 * providers; the statement checks the list's version. */
static enum az_status
try_session(struct proved *proved, bool fresh)
{
    struct op *op = &proved->req->op;
    const struct identity_provider *provider = proved->provider;
    const struct upstream_identity *who = proved->who;
    const struct subject_person person = {provider->issuer, who->sub, provider->idp_id, NULL};
    const struct identity_providers *providers;
    struct subject_names names;
    enum az_status st = identity_providers_get(op, fresh, &providers);
    if (st == AZ_OK)
        st = subject_names(op, providers, &person, &names);
    if (st != AZ_OK)
        return st;
    const struct sign_in_result result = {
        .idp = provider->id,
        .providers_version = providers->version,
        .issuer = provider->issuer,
        .upstream_sub = who->sub,
        .subject_name = names.name,
        .subject_other = names.other,
        .home_issuer = subject_home(op, providers, NULL),
        .userinfo_joined = who->userinfo_joined,
        .claims = who->claims,
        .auth_time = who->auth_time,
        .acr = who->acr,
        .amr = who->amr,
        .upstream_sid = who->sid,
        .id_token = who->id_token,
        .ip = proved->req->ip,
        .user_agent = proved->req->user_agent,
        .for_console = proved->for_console,
    };
    return session_create(op, &result, proved->id_hash, proved->had ? proved->old_hash : NULL,
                          &proved->place, &proved->session, &proved->mode, &proved->stale);
}

/* Create the session, always with a new id: an id that an attacker put into the browser before
 * (fixation) ends with the sign-in. */
static enum az_status
make_session(struct proved *proved)
{
    struct request *req = proved->req;
    proved->had = session_cookie_read(req, proved->old_hash);
    size_t headers = req->res.headers;
    enum az_status st = session_cookie_make(req, proved->id_hash);
    if (st == AZ_OK)
        st = try_session(proved, false);
    if (st == AZ_OK && proved->stale)
        st = try_session(proved, true);
    if (st == AZ_OK && proved->stale)
        st = op_fail(&req->op, AZ_UNAVAILABLE, NULL,
                     "the list of identity providers changed twice during the sign-in");
    if (st == AZ_OK && !proved->session.found)
        st = op_fail(&req->op, AZ_USER_DENIED, PROVIDER_DISABLED,
                     "identity provider %s was disabled during the sign-in",
                     proved->provider->idp_id);
    if (st != AZ_OK)
        req->res.headers = headers; /* an earlier session stays valid */
    return st;
}

/* Find the client of the request again; the service's own pages have no client. */
static enum az_status
resume(struct request *req, const struct authorization *authorization)
{
    req->ui_locales = authorization->ui_locales;
    if (!authorization->own_page)
        return flow_resume(req, authorization);
    req->audit.flow_id = authorization->flow_id;
    return AZ_OK;
}

/* Record in the audit row the provider, and why nobody was signed in. */
static void
callback_note(struct request *req, const char *reason)
{
    json_t *note = jsonx_own(req->op.mem,
                             json_pack("{s:s,s:s}", "idpId", req->path_value[0], "reason", reason));
    req->audit.summary = note != NULL ? jsonx_dump(req->op.mem, note) : NULL;
}

static enum az_status
callback_note_failure(struct request *req, enum az_status st)
{
    callback_note(req, req->op.fault.public_text);
    return st;
}

/* Refuse with a page that has the link. */
static enum az_status
refuse_with_link(struct request *req, const char *href)
{
    enum az_status st = refuse_sign_in(req);
    json_t *values = jsonx_own(
        req->op.mem, json_pack("{s:b,s:s,s:s,s:s}", "refused", 1, "error", "invalid_request",
                               "text", req->op.fault.public_text, "again_href", href));
    if (values != NULL)
        failure_show(req, "error", values);
    return st;
}

/* Read the session of the browser. */
static enum az_status
find_live(struct request *req, struct session *ret)
{
    unsigned char id_hash[SHA256_OCTETS];
    enum consent_mode mode;
    if (!session_cookie_read(req, id_hash))
        return AZ_OK;
    enum az_status st = session_find(&req->op, id_hash, NULL, ret, &mode);
    req->proved = st == AZ_OK && ret->found;
    return st;
}

/*
 * Answer a callback that cannot be used. If the state names a sign-in of this provider that was
 * taken, the request begins again, once for each state: by itself with a live session of the
 * provider, else by a link of the page that refuses. The answer of the provider is thrown away.
 * Anybody may lead a browser to /authorize with any request, which judges session, consent, prompt
 * and max_age anew (world.md F2). One that was not taken tells nothing of its request: with the
 * client's state and challenge a stranger could lead the person to the client with his own code.
 */
static enum az_status
callback_again(struct request *req, const struct sign_in_key *key)
{
    struct authorization authorization;
    struct session session = {.found = false};
    const char *request;
    int64_t idp = 0;
    enum az_status st = sign_in_again(&req->op, key, &request, &idp);
    if (st == AZ_OK && request == NULL)
        return refuse_sign_in(req);
    if (st == AZ_OK)
        st = authorization_load(&req->op, request, &authorization);
    if (st == AZ_OK)
        st = find_live(req, &session);
    if (st != AZ_OK)
        return st;
    req->ui_locales = authorization.ui_locales;
    req->audit.flow_id = authorization.flow_id;
    const char *href = choose_href(req, &authorization, key->idp_id);
    if (href == NULL)
        return op_no_memory(&req->op);
    if (!request_target_fits(href)) /* only a posted form can be so long */
        return refuse_sign_in(req);
    if (!session.found || session.idp != idp)
        return refuse_with_link(req, href);
    callback_note(req, AGAIN);
    return respond_see_other(req, href);
}

/* A callback on its way: the sign-in that it ends, and the request that goes on. */
struct callback {
    struct sign_in_key key;
    struct sign_in sign_in;
    struct authorization authorization;
    struct upstream_identity who;
};

/* Take the waiting sign-in and redeem the provider's answer, in a place for fetches.
 * callback->sign_in.found false: another request has taken it. */
static enum az_status
prove(struct request *req, const char *request, struct callback *callback)
{
    FETCH_PLACE_AUTO place = {.hold = NULL};
    struct sign_in *sign_in = &callback->sign_in;
    enum az_status st = authorization_load(&req->op, request, &callback->authorization);
    if (st == AZ_OK)
        st = resume(req, &callback->authorization);
    if (st == AZ_OK)
        st = take_place(req, &callback->key, &place);
    if (st == AZ_OK)
        st = take_sign_in(req, &callback->key, sign_in);
    if (st == AZ_OK && sign_in->found)
        st = redeem(req, &place, sign_in, &callback->authorization, &callback->who);
    fetch_place_drop(&place); /* what follows asks no other server */
    return st;
}

/* Make the session and go on with the request. */
static enum az_status
finish(struct request *req, struct callback *callback)
{
    struct authorization *authorization = &callback->authorization;
    struct proved proved = {.req = req,
                            .provider = &callback->sign_in.provider,
                            .who = &callback->who,
                            .for_console = authorization->for_console};
    if (!authorization->own_page)
        proved.place = flow_consent_place(req);
    enum az_status st = make_session(&proved);
    if (st != AZ_OK)
        return callback_note_failure(req, st);
    req->audit.subject_id = proved.session.subject;
    if (authorization->own_page)
        return respond_redirect(req, authorization->redirect_uri);
    authorization->signed_in = true;
    return flow_continue(req, authorization, &proved.session, proved.mode, false);
}

/* Begin a new sign-in of the request at the same provider. A second one that expires is the
 * client's to hear of (RFC 6749 4.1.2.1), or browser and provider would go in a circle. */
static enum az_status
sign_in_anew(struct request *req, struct callback *callback)
{
    const struct session nobody = {.found = false};
    struct authorization *authorization = &callback->authorization;
    az_fault_clear(&req->op.fault);
    callback_note(req, AGAIN);
    authorization->again = true;
    authorization->idp_hint = callback->sign_in.provider.idp_id;
    return authorization->own_page
               ? flow_sign_in(req, authorization)
               : flow_continue(req, authorization, &nobody, CONSENT_DYNAMIC_CLIENTS, false);
}

enum az_status
callback_handle(struct request *req)
{
    struct callback callback = {.sign_in = {.found = false}};
    const char *request = NULL;
    enum az_status st = find_sign_in(req, &callback.key, &request);
    if (st == AZ_OK && request != NULL)
        st = prove(req, request, &callback);
    if (st == AZ_OK && callback.sign_in.found)
        return finish(req, &callback);
    if (st == AZ_UNAVAILABLE && callback.sign_in.found && has_expired(req)
        && !callback.authorization.again && !callback.authorization.prompt_none)
        return sign_in_anew(req, &callback);
    if (st == AZ_OK)
        st = callback_again(req, &callback.key);
    return st != AZ_OK ? callback_note_failure(req, st) : AZ_OK;
}
