/* Members of a tool or prompt beside its description, and of a block of content: pictures, and
 * `_meta` of extensions. Those of tools and prompts are part of their pins. */
#ifndef AZ_GATEWAY_MCP_MESSAGE_EXTRAS_H
#define AZ_GATEWAY_MCP_MESSAGE_EXTRAS_H

#include "base/json/jsonx.h"

/* Octets of the icons of one entry as JSON text, and of its `_meta`: a list shows them all. */
#define EXTRAS_OCTETS_MAX 16384
/* Icons of one entry: a few sizes, in light and dark. */
#define EXTRAS_ICONS_MAX 16

/*
 * Add `icons` and `_meta` of an upstream's entry to what is kept of it. Of the icons those pass
 * whose src is a data: URL of a PNG, JPEG or WebP: a host fetches no address because of an
 * upstream, and runs no script of an SVG. Of `_meta` the members pass whose prefix is not reserved
 * for MCP (MCP 2025-11-25, basic, "_meta"). Either is left out if it is larger than
 * EXTRAS_OCTETS_MAX, or empty.
 */
void mcp_extras_add(struct jsonx_build *kept, const json_t *entry);

/* Add `_meta` alone: no other block of content than a link to a resource has icons. */
void mcp_meta_add(struct jsonx_build *kept, const json_t *entry);

#endif
