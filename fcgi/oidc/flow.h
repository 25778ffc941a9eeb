/* The steps of an authorization request after its checks: sign-in, consent, code. The handlers of
 * /authorize, of the callback and of the consent page end here. A page of ours that needs a session
 * has the first step alone. */
#ifndef AZ_OIDC_FLOW_H
#define AZ_OIDC_FLOW_H

#include "http/request.h"
#include "store/people/sessions.h"
#include "token/authorization.h"

/*
 * Take the next step of a request and answer: redirect with a code, redirect to the provider,
 * consent page, chooser page, or error redirect. `session` may be one that was not found. The
 * caller has set req->client and req->failure (flow_client.h), so failures go back to the
 * client. The callback calls it after it made the session (authorization->signed_in), the consent
 * page with `allowed`.
 */
enum az_status flow_continue(struct request *req, const struct authorization *authorization,
                             const struct session *session, enum consent_mode mode, bool allowed);

/*
 * Send the browser to the provider for a page of ours that needs a session (own_page), or let the
 * user choose a provider. The callback leads back to authorization->redirect_uri, an address of
 * ours that the caller has made.
 */
enum az_status flow_sign_in(struct request *req, const struct authorization *authorization);

#endif
