/* GET and POST /logout: end_session_endpoint (OpenID Connect RP-Initiated Logout 1.0, oauth.md 5
 * "Logout"). */
#ifndef AZ_OIDC_LOGOUT_H
#define AZ_OIDC_LOGOUT_H

#include "http/route.h"

/* Parameters of the endpoint, and of the way back from the provider. */
extern const struct route_param logout_params[];
extern const struct route_param logout_return_params[];

/* Ends the browser's session at once when an ID token of its user asks for it, else after the user
 * said so on the confirmation page. */
enum az_status logout_handle(struct request *req);

/* GET /logout/return: the provider has logged the user out too. */
enum az_status logout_return_handle(struct request *req);

#endif
