/* The table of the upstreamAuth types: the function that gets the credential of each
 * (gateway-admin.md 3.3). */
#ifndef AZ_GATEWAY_CREDENTIAL_TYPES_H
#define AZ_GATEWAY_CREDENTIAL_TYPES_H

#include "gateway/upstream/credential.h"

/* Get the credential of a resource for a caller, by the type of its upstreamAuth: an
 * upstream_credential_fn, which every struct upstream_call of the gateway names. */
enum az_status gateway_credential(struct op *op, const struct upstream_wish *wish,
                                  struct upstream_credential *ret);

#endif
