/* POST /register (specification 2.2, 4.7; RFC 7591; oauth.md 3.5). */
#ifndef AZ_OAUTH_REGISTRATION_REGISTER_H
#define AZ_OAUTH_REGISTRATION_REGISTER_H

#include "http/route.h"

/* Register a client, with or without a software statement. There is no credential: policy
 * decides. */
enum az_status register_handle(struct request *req);

#endif
