/* GET /authorize/callback/{idpId}: the identity provider sends the browser back (oauth.md 5). */
#ifndef AZ_OIDC_CALLBACK_H
#define AZ_OIDC_CALLBACK_H

#include "http/route.h"

/* Parameters of the endpoint. */
extern const struct route_param callback_params[];

/*
 * Take the sign-in that the state names, if this browser began it at this provider; prove the
 * user's identity; create the session; continue the client's request. A state that is unknown,
 * used, expired, or belongs to another browser or provider gets an error page, because no client is
 * known, and takes no place for fetches. If no place is free for this client address, nothing is
 * taken: AZ_BUSY, and the dispatcher answers with a page that asks again. Otherwise the handler
 * keeps a place until the provider was asked for everything, so that a sign-in that was taken never
 * fails for want of one. A redemption that fails costs the client address the next place for a
 * while.
 */
enum az_status callback_handle(struct request *req);

#endif
