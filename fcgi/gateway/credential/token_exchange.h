/* Access tokens of a person at an upstream: token exchange (RFC 8693) at its authorization server.
 */
#ifndef AZ_GATEWAY_CREDENTIAL_TOKEN_EXCHANGE_H
#define AZ_GATEWAY_CREDENTIAL_TOKEN_EXCHANGE_H

#include "gateway/upstream/credential.h"

/*
 * An upstream_credential_fn. The subject token is one that is made for this exchange and names the
 * issuer of upstreamAuth as its resource; the caller's own token is never sent. The token that
 * comes back is kept for this person, client and version of the resource until a minute before it
 * expires, and at most for EXCHANGED_SECONDS_MAX. One that the upstream refused is replaced once.
 * AZ_USER_REQUIRED: the token names no person. AZ_FORBIDDEN: policy allows no such subject token.
 */
enum az_status gateway_token_exchange(struct op *op, const struct upstream_wish *wish,
                                      struct upstream_credential *ret);

#endif
