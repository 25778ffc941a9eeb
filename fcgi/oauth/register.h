/* POST /register (specification 2.2, 4.7; RFC 7591; oauth.md 3.5). */
#ifndef AZ_OAUTH_REGISTER_H
#define AZ_OAUTH_REGISTER_H

#include "http/route.h"

/* Register a client, with or without a software statement. There is no credential: policy
 * decides. */
enum az_status register_handle(struct request *req);

/* Read the body. AZ_MEDIA_TYPE: another content type; AZ_INVALID_CLIENT_METADATA: not a JSON
 * object. Exported for the fuzz entry too. */
enum az_status register_read_body(struct request *req, json_t **ret);

#endif
