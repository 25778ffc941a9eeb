/*
 * Blocks of content, as an upstream MCP server gives them (MCP 2026-07-28, server/tools and
 * schema): text, image, audio, resource and resource_link. A client gets a block that is built from
 * the members of its type; nothing is copied whole.
 */
#ifndef AZ_GATEWAY_MCP_MESSAGE_BLOCK_H
#define AZ_GATEWAY_MCP_MESSAGE_BLOCK_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

/* Octets of base64 of one block: an image or sound that a host can show. */
#define MCP_BASE64_MAX (8 << 20)

/* True if a value is a text of base64 (RFC 4648 section 4) of at most MCP_BASE64_MAX octets. */
bool mcp_is_base64(TALLOC_CTX *mem, const json_t *text);

/* True if a block of content has the members of its type, which is one of MCP. A block of another
 * type is what no policy or client expects. */
bool mcp_content_is_sound(TALLOC_CTX *mem, const json_t *block);

/*
 * Return a sound block as clients see it: the members of its type alone, with annotations and the
 * members of `_meta` and the icons that extras.h lets pass; its texts by shown_value(), its URI
 * with the scope (scoped_uri.h; may be NULL). A new reference; NULL: out of memory, or the name of
 * a member is hidden.
 */
json_t *mcp_shown_block(TALLOC_CTX *mem, const char *scope, const json_t *block);

#endif
