/* ANY /gateway/{name} and below: requests to managed resources of type REST and STATIC. */
#ifndef AZ_GATEWAY_PROXY_PROXY_H
#define AZ_GATEWAY_PROXY_PROXY_H

#include "http/request.h"

/* Let the caller in, choose the route, ask policy, and pass the request on, or give the answer of a
 * STATIC route (gateway-admin.md 3.1, 3.2). */
enum az_status gateway_proxy_handle(struct request *req);

#endif
