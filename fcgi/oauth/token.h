/* POST /token (specification 4.4). */
#ifndef AZ_OAUTH_TOKEN_H
#define AZ_OAUTH_TOKEN_H

#include "http/route.h"

/* Return the parameter of this name that the endpoint accepts, or NULL: the grants' and the
 * client's. */
const struct route_param *token_find_param(const char *name);

/* Refuse a missing or unknown grant_type. This comes before client authentication, so that every
 * caller learns that a grant is not supported (oauth.md C13). */
enum az_status token_precheck(struct request *req);

/* Run the grant of the request, and answer with its tokens. */
enum az_status token_handle(struct request *req);

/* Return the JSON Schema of the form, one alternative per grant: a new reference, or NULL if out of
 * memory. */
json_t *token_body_schema(void);

#endif
