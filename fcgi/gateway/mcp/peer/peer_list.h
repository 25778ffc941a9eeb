/* Lists of upstream MCP servers that a sync stores: which entries are taken, and what of them. */
#ifndef AZ_GATEWAY_MCP_PEER_PEER_LIST_H
#define AZ_GATEWAY_MCP_PEER_PEER_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Maximum of tools per resource; MCP clients cope with a few hundred. */
#define PEER_TOOLS_MAX 1000
/* Octets of one tool or prompt as JSON text; usual ones have a few thousand. */
#define PEER_TOOL_OCTETS_MAX 65536
/* Most prompts of one resource, from which a person chooses, and most arguments of one prompt,
 * which are a form. */
#define PEER_PROMPTS_MAX 500
#define PEER_PROMPT_ARGUMENTS_MAX 32
/* Pages of tools/list that are read; a server that gives ten tools a page fits. */
#define PEER_PAGES_MAX 100

/* A list of an upstream that is stored. */
struct peer_list {
    const char *method, *member; /* tools/list, tools */
    size_t max;                  /* entries of all pages */
    bool (*is_sound)(const json_t *entry);
    json_t *(*kept)(const json_t *entry); /* a new reference, or NULL if out of memory */
};

/* Tools: objects with name, title, description, inputSchema, outputSchema, annotations, and what
 * extras.h says. One that
 * has a wrong x-mcp-header (param_header.h) or needs a task is left out. */
extern const struct peer_list peer_tools;
/* Prompts: objects with name, title, description, arguments, and what extras.h says. */
extern const struct peer_list peer_prompts;

/*
 * Add the entries of a page to `entries`, an array. One that is malformed, too large or named twice
 * is left out and counted. AZ_INVALID: the page is malformed, or there are more than list->max.
 * *ret_cursor: of the next page, borrowed; NULL: this is the last.
 */
enum az_status peer_entries_add(TALLOC_CTX *mem, const struct peer_list *list, const json_t *page,
                                json_t *entries, size_t *left_out, const char **ret_cursor);

#endif
