/* Discovery documents (RFC 8414, OpenID Connect Discovery 1.0) and the key set. They name only what
 * works. */
#ifndef AZ_OIDC_DISCOVERY_H
#define AZ_OIDC_DISCOVERY_H

#include "http/route.h"

/* Answer with the metadata of the server (RFC 8414, OpenID Connect Discovery) and with its keys. */
enum az_status discovery_handle(struct request *req);
enum az_status jwks_handle(struct request *req);

#endif
