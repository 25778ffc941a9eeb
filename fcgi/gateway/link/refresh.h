/* The refresh of the access token of a connected account (RFC 6749 6). */
#ifndef AZ_GATEWAY_LINK_REFRESH_H
#define AZ_GATEWAY_LINK_REFRESH_H

#include <stdbool.h>

#include "gateway/upstream/credential.h"
#include "store/gateway/connections.h"

/*
 * Refresh the access token of a connection, which has a refresh token, or wait for the process that
 * does. `refused`: the upstream has just refused the access token; otherwise it ends soon, and it
 * is used as long as it works if it cannot be refreshed now. AZ_OK: *connection has an access token
 * to use, or, with *ret_lost, the person must connect the account again. AZ_UPSTREAM_UNREACHABLE,
 * AZ_UPSTREAM_TIMEOUT, AZ_UPSTREAM_INVALID, AZ_UPSTREAM_AUTH: the token endpoint gives no tokens,
 * and what is stored stays; AZ_BUSY: another process has refreshed for too long.
 */
enum az_status link_refresh(struct op *op, const struct upstream_wish *wish,
                            const unsigned char binding[SHA256_OCTETS], bool refused,
                            struct connection *connection, bool *ret_lost);

/* True if a connection may be used: the person need not do anything, and it was made with this
 * configuration of upstream and authorization server. `oauth`: its secret is an access token. */
bool link_connection_is_usable(const struct connection *connection,
                               const unsigned char binding[SHA256_OCTETS], bool oauth);

#endif
