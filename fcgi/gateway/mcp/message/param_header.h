/* Arguments of a tool that header fields repeat: `x-mcp-header` of a property in its inputSchema
 * names the field Mcp-Param-... (MCP 2026-07-28, transports, "Custom Headers"). */
#ifndef AZ_GATEWAY_MCP_MESSAGE_PARAM_HEADER_H
#define AZ_GATEWAY_MCP_MESSAGE_PARAM_HEADER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#define PARAM_HEADER_PREFIX "Mcp-Param-"

/* Fields of one tool. The fields of a message that has them all still fit PEER_FIELDS_MAX. */
#define PARAM_HEADERS_MAX 24
/* Octets of a name behind the prefix. */
#define PARAM_HEADER_NAME_MAX 64

/*
 * True if every x-mcp-header of an inputSchema follows the rules: a token of RFC 9110, once as
 * CGI names its variable, at a property whose type is string, integer or boolean and which a chain
 * of `properties` alone reaches; and there are at most PARAM_HEADERS_MAX. A tool that breaks one of
 * them is not used.
 */
bool param_headers_sound(const json_t *schema);

/* Called with the name of a field and its argument; NULL: that is absent, or null. Return false to
 * stop. */
typedef bool param_header_fn(void *arg, const char *name, const json_t *value);

/* Call `each` for the fields of a sound schema. Return what the last call returned, or true without
 * fields. */
bool param_headers_each(const json_t *schema, const json_t *arguments, param_header_fn *each,
                        void *arg);

/* True if a field repeats arguments of this kind: texts, booleans, and integers that every JSON
 * reader understands alike. */
bool param_header_carries(const json_t *value);

/* Return the value of the field for such an argument, on mem, or NULL if out of memory. */
const char *param_header_value(TALLOC_CTX *mem, const json_t *argument);

/* True if the value of a field, or NULL if it is absent, says the same as such an argument.
 * Integers are compared as numbers. */
bool param_header_says(TALLOC_CTX *mem, const char *field, const json_t *argument);

#endif
