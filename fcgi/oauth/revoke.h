/* POST /revoke (RFC 7009, the matrix of specification 3). */
#ifndef AZ_OAUTH_REVOKE_H
#define AZ_OAUTH_REVOKE_H

#include "http/route.h"

extern const struct route_param revoke_params[];

/* Answer 200 with an empty body, whatever the token is. A token is revoked if the caller is its
 * client, or if its client is a public one. */
enum az_status revoke_handle(struct request *req);

#endif
