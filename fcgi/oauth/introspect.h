/* POST /introspect (RFC 7662, specification 4.5): evaluation 2. */
#ifndef AZ_OAUTH_INTROSPECT_H
#define AZ_OAUTH_INTROSPECT_H

#include "http/route.h"

extern const struct route_param introspect_params[];

/* A confidential client, or a Bearer token of this service. The handler looks that token up
 * together with the token asked about. */
extern const struct route_credential credential_introspect;

/* Answer POST /introspect (RFC 7662): evaluation 2 decides if the token is shown as active. */
enum az_status introspect_handle(struct request *req);

#endif
