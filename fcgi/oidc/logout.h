/* GET and POST /logout: the end_session_endpoint (OpenID Connect RP-Initiated Logout 1.0, oauth.md
 * 5). */
#ifndef AZ_OIDC_LOGOUT_H
#define AZ_OIDC_LOGOUT_H

#include "http/route.h"

/* Parameters of the endpoint, and of the return from the provider. */
extern const struct route_param logout_params[];
extern const struct route_param logout_return_params[];

/* End the browser's session at once if an ID token of its user asks for it, else after the user
 * confirms on our page. */
enum az_status logout_handle(struct request *req);

/* GET /logout/return: finish after the provider has signed the user out too. */
enum az_status logout_return_handle(struct request *req);

#endif
