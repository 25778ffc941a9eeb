/* The way of an authorization request after its checks: sign-in, consent, code. Handlers of
 * /authorize, the callback and the consent page end here. */
#ifndef AZ_OIDC_FLOW_H
#define AZ_OIDC_FLOW_H

#include "http/route.h"
#include "store/people/identity_providers.h"
#include "store/people/sessions.h"
#include "token/authorization.h"

/* Random octets of what a browser carries for us: upstream state, nonce, PKCE verifier, consent
 * token. Sent as base64url; rows hold the SHA-256 of that text. */
#define FLOW_SECRET_OCTETS 32

/* What comes next for a request. */
enum flow_next {
    FLOW_CODE,     /* all is there: issue the code */
    FLOW_CONSENT,  /* ask the user on the consent page */
    FLOW_CHOOSE,   /* several providers and nothing says which: the chooser page */
    FLOW_UPSTREAM, /* send the browser to the provider */
    FLOW_ERROR,    /* answer with the outcome in *ret_error */
};

/* What the decision rests on. */
struct flow_facts {
    const struct authorization *authorization;
    const struct client *client;
    const struct session *session; /* found or not */
    enum consent_mode mode;        /* of the control */
    bool allowed;                  /* the user has just said yes on the consent page */
    size_t providers;              /* enabled ones that fit the request; only looked at where the
                                      session does not serve */
};

/* The rule alone (oauth.md 3.2, decisions.md "Browser side"): no side effect, so that a test tries
 * every combination. */
enum flow_next flow_decide(const struct flow_facts *facts, enum az_status *ret_error);

/* Whether the session answers the request, so that nobody has to sign in. */
bool flow_session_serves(const struct authorization *authorization, const struct session *session);

/* Whether the consent page is due unless this was allowed before: prompt=consent, or the mode of
 * the control and how the client was registered. */
bool flow_consent_due(const struct authorization *authorization, const struct client *client,
                      enum consent_mode mode);

/*
 * The enabled providers that fit the request: the one of idp_hint, else the one of login_hint's
 * domain, else all. Fills `ret`, which has room for list->count; returns how many.
 * *ret_hinted: a hint decided.
 */
size_t flow_providers(const struct identity_providers *list,
                      const struct authorization *authorization,
                      const struct identity_provider **ret, bool *ret_hinted);

/*
 * Takes the next step for a request and answers: redirect with a code, redirect to the provider,
 * consent page, chooser page, or error redirect. `session` may be not found. req->client and
 * req->error_redirect are set by then, so failures go back to the client. The callback calls it
 * after the session was made (authorization->signed_in), the consent page with `allowed`.
 */
enum az_status flow_continue(struct request *req, const struct authorization *authorization,
                             const struct session *session, enum consent_mode mode, bool allowed);

/*
 * The client of a checked request, read anew in a later leg of its way: AZ_UNAUTHORIZED_CLIENT when
 * it is gone, disabled, or no longer has the redirect_uri. Sets req->client, where errors go, and
 * what the audit row says of the flow.
 */
enum az_status flow_resume(struct request *req, const struct authorization *authorization);

/*
 * The enabled client of a client_id that has the redirect_uri, from what the process remembers
 * unless `fresh`. Sets what flow_resume does; *ret_remembered: a refusal has to be given another
 * look with `fresh`. AZ_UNAUTHORIZED_CLIENT, AZ_INVALID_REQUEST: answered with a page.
 */
enum az_status flow_find_client(struct request *req, const char *client_id,
                                const char *redirect_uri, bool fresh, bool *ret_remembered);

/* What session_find and session_create ask about: the hash of a consent that can be remembered;
 * NULL when this one cannot (loopback and private schemes). */
enum az_status flow_consent_hash(struct op *op, const struct authorization *authorization,
                                 unsigned char room[SHA256_OCTETS], const unsigned char **ret);

#endif
