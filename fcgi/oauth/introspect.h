/* POST /introspect (RFC 7662, specification 4.5): evaluation 2. */
#ifndef AZ_OAUTH_INTROSPECT_H
#define AZ_OAUTH_INTROSPECT_H

#include "http/route.h"

extern const struct route_param introspect_params[];

/* A confidential client, or a Bearer token of ours (which the handler looks up together with the
 * token asked about). */
extern const struct route_credential credential_introspect;

/* The parameter `context` as an object with its members in their documented types; *ret stays when
 * there is none. AZ_INVALID_REQUEST or AZ_INVALID_SCOPE (fault set): it is none that policy takes.
 */
enum az_status introspect_read_context(struct request *req, json_t **ret);

enum az_status introspect_handle(struct request *req);

#endif
