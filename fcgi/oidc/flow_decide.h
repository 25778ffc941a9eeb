/* The rule that says which step an authorization request takes next (oauth.md 3.2, decisions.md
 * "Browser side"). It has no side effects, so a test can try every combination. */
#ifndef AZ_OIDC_FLOW_DECIDE_H
#define AZ_OIDC_FLOW_DECIDE_H

#include "store/people/identity_providers.h"
#include "store/people/sessions.h"
#include "token/authorization.h"

/* The next step of a request. */
enum flow_next {
    FLOW_CODE,     /* nothing is missing: issue the code */
    FLOW_CONSENT,  /* ask the user on the consent page */
    FLOW_CHOOSE,   /* several providers fit: let the user choose one */
    FLOW_UPSTREAM, /* send the browser to the provider */
    FLOW_ERROR,    /* answer with the outcome in *ret_error */
};

/* The facts that the decision rests on. */
struct flow_facts {
    const struct authorization *authorization;
    const struct client *client;
    const struct session *session; /* found or not */
    enum consent_mode mode;        /* of the consent control */
    bool allowed;                  /* the user has just agreed on the consent page */
    bool consented;                /* a consent to what would be granted is remembered */
    size_t providers;              /* enabled providers that fit the request; read only if the
                                      session does not satisfy it */
};

/* Return the next step; with FLOW_ERROR, *ret_error is the outcome. */
enum flow_next flow_decide(const struct flow_facts *facts, enum az_status *ret_error);

/* True if the session satisfies the request, so that the user need not sign in. */
bool flow_session_serves(const struct authorization *authorization, const struct session *session);

/*
 * Select the enabled providers that fit the request: the one that idp_hint names, else the one of
 * login_hint's domain, else all. Fills `ret`, which has room for list->count; returns the count.
 * *ret_hinted: a hint decided.
 */
size_t flow_providers(const struct identity_providers *list,
                      const struct authorization *authorization,
                      const struct identity_provider **ret, bool *ret_hinted);

#endif
