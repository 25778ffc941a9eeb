/* Redirects of an upstream MCP server. They are never followed: a credential would go to an address
 * that the operator did not give (decisions.md "Gateway"). */
#ifndef AZ_GATEWAY_MCP_PEER_PEER_REDIRECT_H
#define AZ_GATEWAY_MCP_PEER_PEER_REDIRECT_H

#include <talloc.h>

/* Octets of a redirect's address that an error shows. */
#define PEER_REDIRECT_MAX 200

/*
 * Return what administrators read about a redirect, beginning with MANAGED_REDIRECTS: where the
 * upstream at upstreamUrl redirects to, and what to change. A relative Location is resolved (RFC
 * 3986 5.2); user information, query and fragment are left out, because they may have secrets. An
 * address that is not http or https, or too long to be shown, is not repeated. On mem, or NULL if
 * out of memory.
 */
const char *peer_redirect_text(TALLOC_CTX *mem, const char *upstream_url, const char *location);

#endif
