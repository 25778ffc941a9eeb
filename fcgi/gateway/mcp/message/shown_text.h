/* Texts of upstreams that are not pinned, as clients see them. */
#ifndef AZ_GATEWAY_MCP_MESSAGE_SHOWN_TEXT_H
#define AZ_GATEWAY_MCP_MESSAGE_SHOWN_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

/* Characters of such a text. */
#define SHOWN_TEXT_MAX 512
/* Characters of the instructions of a server: hosts put them into every prompt. */
#define SHOWN_INSTRUCTIONS_MAX 4096

/* Return a text of well-formed UTF-8 as it is shown, a new reference: cut, without control
 * characters and those that reorder text. NULL: out of memory. */
json_t *shown_text(TALLOC_CTX *mem, const char *text);

/* Return the same of a text of several lines, on mem, which is not cut. */
const char *shown_lines(TALLOC_CTX *mem, const char *text);

/* Return the same of the instructions of a server, cut. */
const char *shown_instructions(TALLOC_CTX *mem, const char *text);

/* True if nothing would be taken out of a text of one line. */
bool shown_is_plain(const char *text);

#endif
