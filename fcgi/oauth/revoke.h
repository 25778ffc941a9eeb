/* POST /revoke (RFC 7009, the matrix of specification 3). */
#ifndef AZ_OAUTH_REVOKE_H
#define AZ_OAUTH_REVOKE_H

#include "http/route.h"

extern const struct route_param revoke_params[];

/* 200 with an empty body whatever the token is; only the owner's, or anybody's for a public
 * client's, ends. */
enum az_status revoke_handle(struct request *req);

#endif
