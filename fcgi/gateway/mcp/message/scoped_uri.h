/*
 * URIs and URI templates of MCP resources at the endpoint of all resources (gateway-admin.md 1.6):
 * `mcp+<resource>+<uri>`. The names of resources have no "+", so each has one reading, and its
 * scheme is one of RFC 3986.
 */
#ifndef AZ_GATEWAY_MCP_MESSAGE_SCOPED_URI_H
#define AZ_GATEWAY_MCP_MESSAGE_SCOPED_URI_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

#include "managed/managed.h"

/* Return the URI or template of a resource as clients see it, on mem; resource NULL: as it is. The
 * return value is NULL if out of memory. */
const char *scoped_uri(TALLOC_CTX *mem, const char *resource, const char *uri);

/* Find what such a text is made of; *ret_uri is within it. False: it is none. */
bool scoped_uri_split(const char *text, char ret_resource[MANAGED_NAME_MAX + 1],
                      const char **ret_uri);

/* Return a block of content, a new reference, whose URI is as clients see it: that of an embedded
 * resource, or of a link to one. resource NULL: the block itself. NULL: out of memory. */
json_t *scoped_uri_block(TALLOC_CTX *mem, const char *resource, json_t *block);

#endif
