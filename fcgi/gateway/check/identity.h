/* The header fields that tell an upstream behind a web server who asks (gateway-admin.md 1.8). */
#ifndef AZ_GATEWAY_CHECK_IDENTITY_H
#define AZ_GATEWAY_CHECK_IDENTITY_H

#include "gateway/door.h"

/* Octets of a value, and of the scopes: web servers take heads of 8 kB. */
#define IDENTITY_VALUE_MAX 1024
#define IDENTITY_SCOPES_MAX 4096

/* Add all fields to the answer: of the token of an access, the route, and the JWT, which may be
 * NULL. AZ_FORBIDDEN: a value is too long. */
enum az_status identity_respond(struct request *req, const struct gateway_access *access,
                                const struct managed_route *route, const char *jwt);

/*
 * Return a value in the form of a header field: octets outside 0x21 to 0x7e, and `%`, as %XX;
 * spaces stay with `spaces`; a lone `-` as %2D, because `-` means an absent value (NULL). On mem;
 * NULL: it has more than `max` octets, or no memory.
 */
const char *identity_value(TALLOC_CTX *mem, const char *text, bool spaces, size_t max);

#endif
