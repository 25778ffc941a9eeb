/* The return from the upstream's authorization server (gateway-admin.md 3.5, step 5). */
#ifndef AZ_GATEWAY_LINK_CALLBACK_H
#define AZ_GATEWAY_LINK_CALLBACK_H

#include "http/route.h"

extern const struct route_param link_callback_params[];

/* Take the answer of the upstream, once and in the session that began the link: redeem the code and
 * store the connection. */
enum az_status link_callback_handle(struct request *req);

#endif
