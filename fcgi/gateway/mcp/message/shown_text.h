/* Texts of upstreams that are not pinned, as clients see them. */
#ifndef AZ_GATEWAY_MCP_MESSAGE_SHOWN_TEXT_H
#define AZ_GATEWAY_MCP_MESSAGE_SHOWN_TEXT_H

#include <jansson.h>
#include <talloc.h>

/* Characters of such a text. */
#define SHOWN_TEXT_MAX 512

/* Return a text of well-formed UTF-8 as it is shown, a new reference: cut, without control
 * characters and those that reorder text. NULL: out of memory. */
json_t *shown_text(TALLOC_CTX *mem, const char *text);

/* Return the same of a text of several lines, on mem, which is not cut. */
const char *shown_lines(TALLOC_CTX *mem, const char *text);

#endif
