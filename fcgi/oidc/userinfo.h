/* GET and POST /userinfo (OpenID Connect Core 5.3; specification 4.8). */
#ifndef AZ_OIDC_USERINFO_H
#define AZ_OIDC_USERINFO_H

#include "http/route.h"

/* Parameters of the form. */
extern const struct route_param userinfo_params[];

/* Answer with the user's claims by the token's scopes. Every failure of the token is 401 with
 * `Bearer error="invalid_token"` (oauth.md S10), whatever the reason. */
enum az_status userinfo_handle(struct request *req);

#endif
