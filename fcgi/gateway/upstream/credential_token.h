/* Access tokens of the service itself at an upstream: client_credentials (RFC 6749 4.4), fetched
 * once for all workers. */
#ifndef AZ_GATEWAY_UPSTREAM_CREDENTIAL_TOKEN_H
#define AZ_GATEWAY_UPSTREAM_CREDENTIAL_TOKEN_H

#include "gateway/upstream/credential.h"

/* An upstream_credential_fn. The token is kept in the database until a minute before it expires. A
 * token that the upstream refused is replaced by one that another worker has stored meanwhile, or
 * by a new one. AZ_UPSTREAM_AUTH: the token endpoint refuses this service. */
enum az_status upstream_client_credentials(struct op *op, const struct upstream_wish *wish,
                                           struct upstream_credential *ret);

/* Return "Basic ..." for a name and a password, as they are (RFC 7617 2); NULL: no memory. Wiped
 * with op->mem. */
char *upstream_basic(struct op *op, const char *name, const char *password);

#endif
