/* The signed JWT that an upstream behind a web server gets about each request (gateway-admin.md
 * 1.8). */
#ifndef AZ_GATEWAY_CHECK_EDGE_JWT_H
#define AZ_GATEWAY_CHECK_EDGE_JWT_H

#include "gateway/check/forwarded.h"
#include "gateway/door.h"

/* typ of its header: a type of its own, so that no reader takes it for an access token, an ID token
 * or an assertion (RFC 8725 3.11). */
#define EDGE_JWT_TYP "authz-edge+jwt"

/* Octets: many servers refuse heads of more than 8 kB, and the other fields need room too. */
#define EDGE_JWT_MAX 5120

/* Sign what policy allowed: who, with which scopes, for which request. *ret is NULL if the resource
 * has no edgeJwt. AZ_FORBIDDEN: it would be too long. */
enum az_status edge_jwt_make(struct request *req, const struct gateway_access *access,
                             const struct forwarded *asked, const char **ret);

#endif
