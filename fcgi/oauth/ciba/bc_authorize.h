/* POST /bc-authorize (specification 4.3; OpenID Connect CIBA Core 1.0 section 7), poll mode. */
#ifndef AZ_OAUTH_CIBA_BC_AUTHORIZE_H
#define AZ_OAUTH_CIBA_BC_AUTHORIZE_H

#include "http/route.h"

extern const struct route_param bc_authorize_params[];

/* Ask policy, store the request of a person's approval, tell the identity provider if it wants to
 * know, and answer with the auth_req_id. */
enum az_status bc_authorize_handle(struct request *req);

#endif
