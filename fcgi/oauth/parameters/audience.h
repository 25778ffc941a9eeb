/* The resources that a token is good for, by the resource that it names (RFC 8707; gateway-admin.md
 * 1.4). Pure rules about addresses. */
#ifndef AZ_OAUTH_AUDIENCE_H
#define AZ_OAUTH_AUDIENCE_H

#include <stdbool.h>
#include <talloc.h>

/* The scope that is asked for at /gateway/mcp, and where a resource has no default scope. */
#define GATEWAY_BASE_SCOPE "mcp"

/* True if a resource lies below {issuer}/gateway/. */
bool audience_is_gateway(const char *issuer, const char *resource);

/* Return a resource without the slash at its end if it lies below {issuer}/gateway/: people write
 * one behind the address of an MCP server, and a token for it would cover nothing. Any other
 * resource is returned as it is. On mem, or `resource` itself; NULL: no memory. */
const char *audience_without_slash(TALLOC_CTX *mem, const char *issuer, const char *resource);

/* True if a token that names the resource `named` (or NULL) is good for the resource `wanted` of
 * the gateway: it names that resource, or one above it down to {issuer}/gateway, or the issuer. */
bool audience_covers(const char *issuer, const char *named, const char *wanted);

#endif
