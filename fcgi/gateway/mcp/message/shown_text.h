/* Texts of upstreams, as clients see them. */
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

/* Return a text of several lines in the same way, on mem, without cutting it. */
const char *shown_lines(TALLOC_CTX *mem, const char *text);

/* Return the instructions of a server in the same way, cut. */
const char *shown_instructions(TALLOC_CTX *mem, const char *text);

/* True if nothing would be taken out of a text of one line. */
bool shown_is_plain(const char *text);

/*
 * Return a value of a result, a log or a description without the characters in its texts that
 * reorder text, or that models read and people do not see (the tags and selectors of plane 14): a
 * new reference. All others stay, because the texts are data. NULL: out of memory, or the name of a
 * member has one; without it, it could be the name of another.
 */
json_t *shown_value(TALLOC_CTX *mem, json_t *value);

#endif
