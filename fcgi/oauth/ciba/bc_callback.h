/* POST /bc-authorize/callback: the answer of a person, told by the identity provider
 * (gateway-admin.md 4.2, channel A). */
#ifndef AZ_OAUTH_CIBA_BC_CALLBACK_H
#define AZ_OAUTH_CIBA_BC_CALLBACK_H

#include "http/request.h"

/* Take the answer of an identity provider to a backchannel request (gateway-admin.md 4.2). */
enum az_status bc_callback_handle(struct request *req);

#endif
