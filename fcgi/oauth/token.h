/* POST /token (specification 4.4). */
#ifndef AZ_OAUTH_TOKEN_H
#define AZ_OAUTH_TOKEN_H

#include "http/route.h"

/* Parameters of the endpoint, all grants together. */
extern const struct route_param token_params[];

/* grant_type comes before client authentication, so that an unsupported one is named to anybody
 * (oauth.md C13). */
enum az_status token_precheck(struct request *req);

/* Hands the request to its grant. */
enum az_status token_handle(struct request *req);

/* RFC 6749 4.4, 4.1.3 and 6. */
enum az_status grant_client_credentials(struct request *req);
enum az_status grant_authorization_code(struct request *req);
enum az_status grant_refresh_token(struct request *req);

/* Wire values of the grants that work, NULL-terminated, for discovery. */
extern const char *const token_grant_types[];

#endif
