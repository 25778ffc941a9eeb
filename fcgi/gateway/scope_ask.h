/* The scopes that a client without a token is asked to request: in the challenge of a 401, and as
 * scopes_supported (gateway-admin.md 1.4). */
#ifndef AZ_GATEWAY_SCOPE_ASK_H
#define AZ_GATEWAY_SCOPE_ASK_H

#include "gateway/door.h"

/* Octets of the scopes of one challenge: web servers take heads of 8 kB. Those that come after are
 * asked for when they are needed. */
#define SCOPE_ASK_MAX 4096

/* Return the scopes of a resource alone, on mem: its default scope or GATEWAY_BASE_SCOPE, followed,
 * with `all`, by the scopes of what it serves at this endpoint. NULL: out of memory. */
json_t *scope_ask_resource(TALLOC_CTX *mem, const struct managed_resource *resource,
                           enum gateway_place place, bool all);

/* Return those of /gateway/mcp, in the same way: GATEWAY_BASE_SCOPE and the default scopes of the
 * resources with tools. */
json_t *scope_ask_resources(TALLOC_CTX *mem, const struct managed_resource *const *resource,
                            size_t count, bool all);

/* Return the scopes as the text of a challenge, at most SCOPE_ASK_MAX octets, on mem, or NULL if
 * out of memory. */
char *scope_ask_text(TALLOC_CTX *mem, const json_t *scopes);

#endif
