/* GET /authorize/callback/{idpId}: the browser comes back from the identity provider (oauth.md 5
 * "Upstream callback"). */
#ifndef AZ_OIDC_CALLBACK_H
#define AZ_OIDC_CALLBACK_H

#include "http/route.h"

/* Parameters of the endpoint. */
extern const struct route_param callback_params[];

/*
 * Takes the sign-in that the state names, if this browser began it at this provider; proves who
 * signed in; makes the session; goes on with the client's request. A state that is unknown, used,
 * late, another browser's or another provider's is an error page: there is nobody whom an answer
 * could be sent to. While half of the workers wait for servers of others it takes nothing: AZ_BUSY,
 * and the browser asks again (dispatch answers with the page that does so). From there on it holds
 * a place for fetches to its end, so that a sign-in that was taken never fails for want of one.
 */
enum az_status callback_handle(struct request *req);

#endif
