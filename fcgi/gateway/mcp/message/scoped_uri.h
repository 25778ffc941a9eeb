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

/* Split such a text into its parts; *ret_uri points into it. False: the text has another form. */
bool scoped_uri_split(const char *text, char ret_resource[MANAGED_NAME_MAX + 1],
                      const char **ret_uri);

/* Return a content block, a new reference, in which the URI of an embedded resource or of a
 * resource link is as clients see it. resource NULL: return the block unchanged. NULL: out of
 * memory. */
json_t *scoped_uri_block(TALLOC_CTX *mem, const char *resource, json_t *block);

#endif
