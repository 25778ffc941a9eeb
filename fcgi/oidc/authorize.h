/* GET and POST /authorize (specification 4.2, oauth.md 3.2). */
#ifndef AZ_OIDC_AUTHORIZE_H
#define AZ_OIDC_AUTHORIZE_H

#include "http/route.h"
#include "oidc/authorize_params.h"

/* Check a request and take its first step. A form that came from another site without our cookies
 * is redirected to the same request as a GET, which brings them. */
enum az_status authorize_handle(struct request *req);

#endif
