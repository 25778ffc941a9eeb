#include "config.h"

#include "oidc/flow.h"

#include <string.h>

#include "base/b64url.h"
#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/query.h"
#include "base/settings/settings.h"
#include "client/browser_secret.h"
#include "oauth/client_auth/cimd.h"
#include "oauth/client_auth/client_auth.h"
#include "oidc/authorize_params.h"
#include "oidc/choose.h"
#include "oidc/flow_client.h"
#include "oidc/flow_decide.h"
#include "oidc/flow_preview.h"
#include "oidc/session.h"
#include "oidc/upstream/upstream.h"
#include "oidc/upstream/upstream_endpoints.h"
#include "oidc/upstream/upstream_fault.h"
#include "store/people/consents.h"
#include "store/people/sign_ins.h"
#include "store/tokens/grants.h"
#include "token/issue.h"

/* State of one step of a request. */
struct flow_step {
    struct request *req;
    const struct authorization *asked;         /* the request */
    const struct authorization *authorization; /* the same, or what would be granted of it */
    struct authorization granted;
    struct verdict verdict; /* of the preview */
    bool previewed;         /* policy was asked; the write checks its revision */
    struct session session; /* found or not */
    enum consent_mode mode; /* of the consent control */
    bool allowed;           /* the user has just agreed on the consent page */
    bool fresh;             /* second try: nothing from memory counts */
    bool stale; /* set by the step: rows or the revision are out of date, nothing was written */
    const struct identity_providers *list; /* the providers, if they were needed */
    const struct identity_provider **fit;  /* the providers that fit the request */
    size_t fits;
};

static enum az_status
dump_request(struct op *op, const struct authorization *authorization, const char **ret)
{
    json_t *object = NULL;
    enum az_status st = authorization_dump(op, authorization, &object);
    const char *text = st == AZ_OK ? jsonx_dump(op->mem, object) : NULL;
    if (st == AZ_OK && text == NULL)
        return op_no_memory(op);
    *ret = text;
    return st;
}

static enum az_status
read_providers(struct flow_step *step, bool fresh, bool *ret_hinted)
{
    struct op *op = &step->req->op;
    enum az_status st = identity_providers_get(op, fresh, &step->list);
    if (st != AZ_OK)
        return st;
    step->fit =
        talloc_array(op->mem, const struct identity_provider *, (unsigned) step->list->count + 1);
    if (step->fit == NULL)
        return op_no_memory(op);
    step->fits = flow_providers(step->list, step->authorization, step->fit, ret_hinted);
    return AZ_OK;
}

/* True if the request wants to know when the user signed in, and the provider does not tell. */
static bool
is_untimed(const struct flow_step *step)
{
    return step->fits == 1 && !step->fit[0]->sends_auth_time
           && authorization_needs_time(step->authorization);
}

/* Find the providers at which the user can sign in. The list is read again if it offers none,
 * several, one that cannot serve, or not the one that the client named, and for prompt=create; the
 * insert of the sign-in checks a single one. */
static enum az_status
find_providers(struct flow_step *step)
{
    bool hinted = false;
    enum az_status st = read_providers(step, step->fresh, &hinted);
    bool create = step->authorization->prompt_create;
    bool doubt = step->fits != 1 || is_untimed(step) || create
                 || (step->authorization->idp_hint != NULL && !hinted);
    if (st == AZ_OK && doubt && !step->fresh)
        st = read_providers(step, true, &hinted);
    return st == AZ_OK && create ? upstream_keep_creating(&step->req->op, step->fit, &step->fits)
                                 : st;
}

/* Make the URL to which the browser is sent to sign in, and the row that waits for its return. */
static enum az_status
prepare_sign_in(struct flow_step *step, struct sign_in_new *sign_in,
                unsigned char state_hash[SHA256_OCTETS], const char **ret_url)
{
    struct op *op = &step->req->op;
    const struct authorization *authorization = step->authorization;
    struct upstream_request upstream = {
        .login_hint = authorization->login_hint,
        .acr_values = authorization->acr_values,
        .ui_locales = authorization->ui_locales,
        .prompt_login = authorization->prompt_login,
        .prompt_select = authorization->prompt_select,
        .prompt_create = authorization->prompt_create,
        .max_age = authorization->max_age,
    };
    unsigned char nonce_hash[SHA256_OCTETS];
    enum az_status st = browser_secret_make(op, &upstream.state, state_hash);
    if (st == AZ_OK)
        st = browser_secret_make(op, &upstream.nonce, nonce_hash);
    if (st == AZ_OK)
        st = browser_secret_verifier(op, &sign_in->verifier, &upstream.code_challenge);
    if (st == AZ_OK)
        st = dump_request(op, authorization, &sign_in->request);
    if (st != AZ_OK)
        return st;
    sign_in->nonce = upstream.nonce;
    sign_in->state_hash = state_hash;
    st = upstream_authorize_url(op, sign_in->provider, &upstream, ret_url);
    if (st == AZ_UNAVAILABLE || st == AZ_PROVIDER_SETUP)
        choose_another(step->req, authorization, sign_in->provider);
    return st;
}

/* Send the browser to the provider: one row and the audit row, in one round trip. */
static enum az_status
go_upstream(struct flow_step *step)
{
    static const struct client nobody = {.id = 0};
    struct request *req = step->req;
    unsigned char state_hash[SHA256_OCTETS], browser_hash[SHA256_OCTETS];
    const char *url = NULL;
    bool stored = false;
    size_t headers = req->res.headers;
    struct sign_in_new sign_in = {
        .browser_hash = browser_hash,
        .provider = step->fit[0],
        .providers_version = step->list->version,
        .client = req->client != NULL ? req->client : &nobody,
    };
    enum az_status st = prepare_sign_in(step, &sign_in, state_hash, &url);
    if (st == AZ_OK)
        st = browser_cookie_need(req, state_hash, browser_hash);
    if (st != AZ_OK)
        return st;
    request_fill_audit(req, 302, "allowed");
    if ((st = sign_in_insert(&req->op, &sign_in, &req->audit, &stored)) != AZ_OK)
        return st;
    step->stale = !stored;
    req->audited = stored;
    if (!stored)
        req->res.headers = headers; /* the next attempt has another state */
    return stored ? respond_redirect(req, url) : AZ_OK;
}

/* Send the browser back to the client with its code. */
static enum az_status
respond_code(struct request *req, const struct authorization *authorization, const char *code)
{
    const struct query_pair pairs[] = {
        {"code",  code                        },
        {"state", authorization->state        },
        {"iss",   req->op.az->cfg->oidc_issuer}, /* RFC 9207 */
    };
    char *url = query_append(req->op.mem, authorization->redirect_uri, pairs,
                             sizeof(pairs) / sizeof(pairs[0]));
    if (url == NULL)
        return op_no_memory(&req->op);
    enum az_status st = respond_redirect(req, url);
    secret_wipe(url, strlen(url));
    return st;
}

/* Add to the grant what a remembered consent needs. */
static enum az_status
remember_consent(struct flow_step *step, struct grant_new *grant, unsigned char room[SHA256_OCTETS])
{
    struct op *op = &step->req->op;
    grant->redirect_host = authorization_redirect_host(op, step->authorization);
    if (grant->redirect_host == NULL)
        return op_no_memory(op);
    return step->allowed ? flow_consent_hash(op, step->authorization, room, &grant->consent)
                         : AZ_OK;
}

/* Store the row of a client that has a metadata document; it needs one from its first code on. If
 * there is no room for the row, the client is unknown here: the user sees a page, and nothing is
 * sent to the redirect_uri. */
static enum az_status
need_row(struct request *req)
{
    struct op *op = &req->op;
    enum az_status st = cimd_store(op, req->client);
    if (st == AZ_UNAVAILABLE && req->client->id == 0)
        failure_to_page(req);
    if (st != AZ_INVALID_CLIENT)
        return st;
    return az_fail_as(&op->fault, AZ_UNAUTHORIZED_CLIENT, NULL);
}

static enum az_status
store_code(struct flow_step *step, struct grant_new *grant)
{
    struct request *req = step->req;
    bool stored = false;
    enum az_status st = need_row(req);
    request_fill_audit(req, 302, "allowed");
    if (st == AZ_OK)
        st = grant_insert(&req->op, grant, &req->audit, &stored);
    step->stale = st == AZ_OK && !stored;
    req->audited = stored;
    return st;
}

/* Issue a code: one row and the audit row, in one round trip. */
static enum az_status
issue_code(struct flow_step *step)
{
    struct op *op = &step->req->op;
    unsigned char room[SHA256_OCTETS];
    struct token_text code;
    struct token_parts parts;
    int64_t expires_at = op_now(op) + op->az->cfg->code_validity;
    struct grant_new grant = {
        .code = &parts,
        .client = step->req->client,
        .session = &step->session,
        .terms = authorization_terms(step->authorization),
        .revision = step->previewed ? step->verdict.decision.revision : NULL,
        .code_expires_at = expires_at,
    };
    enum az_status st = remember_consent(step, &grant, room);
    if (st != AZ_OK)
        return st;
    if (token_make(TOKEN_CODE, expires_at, op->now_ms, &code, &parts) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "a code cannot be created");
    st = store_code(step, &grant);
    if (st == AZ_OK && !step->stale)
        st = respond_code(step->req, step->authorization, code.text);
    token_text_done(&code);
    return st;
}

/* Store what would be granted until the user answers on the consent page; its token goes into the
 * page's form. One row and the audit row, in one round trip. */
static enum az_status
ask_consent(struct flow_step *step)
{
    struct request *req = step->req;
    struct op *op = &req->op;
    unsigned char id_hash[SHA256_OCTETS];
    const char *id = NULL;
    bool stored = false;
    struct consent_request_new request = {
        .id_hash = id_hash,
        .session = step->session.id_hash,
        .revision = step->verdict.decision.revision,
    };
    enum az_status st = browser_secret_make(op, &id, id_hash);
    if (st == AZ_OK)
        st = dump_request(op, step->authorization, &request.request);
    request_fill_audit(req, 302, "allowed");
    if (st == AZ_OK)
        st = consent_request_insert(op, &request, &req->audit, &stored);
    step->stale = st == AZ_OK && !stored;
    if (st != AZ_OK || !stored)
        return st;
    req->audited = true;
    const char *url =
        talloc_asprintf(op->mem, "%s/authorize/consent?id=%s", op->az->cfg->oidc_issuer, id);
    return url != NULL ? respond_redirect(req, url) : op_no_memory(op);
}

/* Ask policy about the request of a signed-in user, and look for a remembered consent to what would
 * be granted. A user who has just agreed was shown the preview of the first leg. */
static enum az_status
preview(struct flow_step *step, bool *ret_consented)
{
    *ret_consented = false;
    if (step->allowed)
        return AZ_OK;
    enum az_status st = flow_preview(step->req, &step->session, step->asked, &step->granted,
                                     &step->verdict, &step->stale);
    step->previewed = st == AZ_OK;
    if (st != AZ_OK || step->stale)
        return st;
    step->authorization = &step->granted;
    return flow_is_consented(&step->req->op, &step->granted, &step->session, ret_consented);
}

static enum az_status
take_step(struct flow_step *step)
{
    enum az_status error = AZ_SERVER_ERROR, st = AZ_OK;
    bool serves = flow_session_serves(step->asked, &step->session), consented = false;
    step->authorization = step->asked;
    if (!step->allowed) /* the consent page reads the session without the consents */
        flow_judge_redirect(step->req, &step->session, step->asked->prompt_none);
    step->req->audit.subject_id = serves ? step->session.subject : NULL;
    if (serves)
        st = preview(step, &consented);
    else if (!step->asked->prompt_none && !step->asked->signed_in)
        st = find_providers(step);
    if (st != AZ_OK || step->stale)
        return st;
    const struct flow_facts facts = {.authorization = step->authorization,
                                     .client = step->req->client,
                                     .session = &step->session,
                                     .mode = step->mode,
                                     .allowed = step->allowed,
                                     .consented = consented,
                                     .providers = step->fits};
    switch (flow_decide(&facts, &error)) {
    case FLOW_CODE:
        return issue_code(step);
    case FLOW_CONSENT:
        return ask_consent(step);
    case FLOW_CHOOSE:
        return choose_respond(step->req, step->authorization, step->fit, step->fits);
    case FLOW_UPSTREAM:
        return is_untimed(step) ? upstream_untimed(&step->req->op, step->fit[0])
                                : go_upstream(step);
    case FLOW_ERROR:
        break;
    }
    return op_fail(&step->req->op, error, NULL, "%s",
                   error == AZ_SERVER_ERROR ? "no enabled identity provider fits the request" : "");
}

/* Read client and session again. Nothing was written, because a row or the revision was out of
 * date. *ret_rows: it was a row. */
static enum az_status
renew(struct flow_step *step, bool *ret_rows)
{
    struct op *op = &step->req->op;
    unsigned char id_hash[SHA256_OCTETS];
    bool remembered, had = step->session.found;
    int64_t version = step->req->client->version;
    const struct flow_name name = flow_name_of(step->asked);
    enum az_status st = flow_find_client(step->req, &name, true, &remembered);
    step->fresh = true;
    step->stale = false;
    if (st == AZ_OK)
        st = authorize_params_judge(step->req, step->asked);
    if (st == AZ_OK && had) {
        const struct consent_place place = flow_consent_place(step->req);
        memcpy(id_hash, step->session.id_hash, sizeof(id_hash));
        st = session_find(op, id_hash, &place, &step->session, &step->mode);
    }
    if (st == AZ_OK)
        *ret_rows =
            !step->previewed || step->req->client->version != version || step->session.found != had;
    step->previewed = false;
    return st;
}

/* Wait until the engine's revision may decide. AZ_UNAVAILABLE: it took too long, and the audit row
 * shows the answer as one that does not count. */
static enum az_status
await_revision(struct flow_step *step, int64_t started)
{
    struct request *req = step->req;
    if (ask_again(&req->op, started, &step->verdict))
        return AZ_OK;
    ask_note_error(&req->op, &step->verdict);
    token_note_verdict(&req->op, &req->audit, &step->verdict);
    return AZ_UNAVAILABLE;
}

enum az_status
flow_continue(struct request *req, const struct authorization *authorization,
              const struct session *session, enum consent_mode mode, bool allowed)
{
    int64_t started = clock_monotonic_ms();
    bool rows = false;
    int changes = 0;
    struct flow_step step = {
        .req = req, .asked = authorization, .session = *session, .mode = mode, .allowed = allowed};
    for (;;) {
        enum az_status st = take_step(&step);
        if (st != AZ_OK || !step.stale)
            return st;
        if ((st = renew(&step, &rows)) != AZ_OK)
            return st;
        if (rows && ++changes == CLIENT_ATTEMPTS)
            return op_fail(&req->op, AZ_UNAVAILABLE, NULL,
                           "client, session or identity providers changed during each of %d "
                           "attempts",
                           CLIENT_ATTEMPTS);
        if (!rows && (st = await_revision(&step, started)) != AZ_OK)
            return st;
    }
}

enum az_status
flow_sign_in(struct request *req, const struct authorization *authorization)
{
    struct flow_step step = {.req = req, .asked = authorization, .authorization = authorization};
    for (int i = 0; i < CLIENT_ATTEMPTS; i++) {
        enum az_status st = find_providers(&step);
        if (st != AZ_OK)
            return st;
        if (step.fits == 0)
            return op_fail(&req->op, AZ_UNAVAILABLE,
                           "Sign-in is not possible: no identity provider is set up",
                           "no identity provider is enabled");
        if (step.fits > 1)
            return choose_respond(req, authorization, step.fit, step.fits);
        st = go_upstream(&step);
        if (st != AZ_OK || !step.stale)
            return st;
        step.fresh = true;
        step.stale = false;
    }
    return op_fail(&req->op, AZ_UNAVAILABLE, NULL,
                   "the identity providers changed during each of %d attempts", CLIENT_ATTEMPTS);
}
