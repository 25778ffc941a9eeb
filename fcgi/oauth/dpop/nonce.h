/* DPoP nonces (RFC 9449 sections 8 and 9). Nothing is stored: a nonce is the HMAC of a step of the
 * clock, so all hosts with the same SVC_CREDENTIAL_KEY make and accept the same ones. */
#ifndef AZ_OAUTH_DPOP_NONCE_H
#define AZ_OAUTH_DPOP_NONCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/b64url.h"
#include "crypto/digest.h"

struct keyring;

/* Size of a nonce with its NUL. */
#define DPOP_NONCE_SIZE (B64URL_LENGTH(SHA256_OCTETS) + 1)

/* Make the nonce of this time. `ttl` is SVC_DPOP_NONCE_TTL_SECONDS. */
enum az_status dpop_nonce_make(const struct keyring *ring, int64_t now, int64_t ttl,
                               char ret[DPOP_NONCE_SIZE]);

/* True if a nonce was made by a host of this service and is accepted still: for ttl / 2 seconds at
 * least and ttl at most. NULL is never good. */
bool dpop_nonce_good(const struct keyring *ring, int64_t now, int64_t ttl, const char *nonce);

#endif
