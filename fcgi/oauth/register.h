/* POST /register (specification 2.2, 4.7; RFC 7591; oauth.md 3.5). */
#ifndef AZ_OAUTH_REGISTER_H
#define AZ_OAUTH_REGISTER_H

#include "http/route.h"

/* Registers a client, with or without a software statement. Nobody shows a credential: policy
 * decides. */
enum az_status register_handle(struct request *req);

/* Reads the body: AZ_MEDIA_TYPE for another content type, AZ_INVALID_CLIENT_METADATA for what is no
 * JSON object. For the fuzzer too. */
enum az_status register_read_body(struct request *req, json_t **ret);

#endif
