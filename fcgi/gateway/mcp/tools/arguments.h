/*
 * Put the arguments of a tool into the request to its route: `args` of a tool names the arguments
 * of the path, the query, the header fields and the JSON body (gateway-admin.md 1.5). Arguments
 * that it does not name are not sent.
 */
#ifndef AZ_GATEWAY_MCP_TOOLS_ARGUMENTS_H
#define AZ_GATEWAY_MCP_TOOLS_ARGUMENTS_H

#include <jansson.h>
#include <talloc.h>

#include "base/status.h"

/* Octets of the query of one call: what a request line has room for. */
#define ARGUMENTS_QUERY_MAX 8000

/* The request of a tool call, without what its route says. On the caller's memory. */
struct tool_request {
    json_t *path;       /* object of texts: values of the route's {names}, not encoded */
    const char *query;  /* raw, without "?"; "" without a query */
    json_t *fields;     /* object of texts: header fields by name */
    const char *body;   /* JSON text, or NULL without a body */
    size_t body_length; /* octets */
};

/*
 * Place arguments (an object, or NULL) by `args` (an object with the lists path, query and header,
 * and body: a list, or "*" for all that no other list names; NULL to place no argument).
 * AZ_INVALID: *ret_why, on mem, tells the model what to correct. AZ_SERVER_ERROR: out of memory.
 */
enum az_status arguments_place(TALLOC_CTX *mem, const json_t *args, const json_t *arguments,
                               struct tool_request *ret, const char **ret_why);

#endif
