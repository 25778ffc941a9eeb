/*
 * Checking the arguments of a tool against its inputSchema, which may use any keyword of JSON
 * Schema 2020-12. What is checked is the part that base/json/schema/json_schema.h knows: a schema
 * is reduced to that part first, and a keyword or reference outside it is not checked. Every step
 * of the reduction admits more values, never fewer. Nothing is fetched, so a reference to another
 * document is not checked. As in json_schema.h, an integer is a number that is written without a
 * fraction.
 */
#ifndef AZ_GATEWAY_MCP_MESSAGE_TOOL_SCHEMA_H
#define AZ_GATEWAY_MCP_MESSAGE_TOOL_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

#include "base/status.h"

/* Nesting of a schema, and its sub-schemas (gateway-admin.md 1.5). */
#define TOOL_SCHEMA_DEPTH_MAX 32
#define TOOL_SCHEMA_SIZE_MAX 2000
/* Faults of arguments in one answer to a model, which corrects them one call at a time anyway. */
#define TOOL_FAULTS_SHOWN 5

/* True if a schema of a tool is within the limits, its definitions included. The tools of an
 * upstream that are not are left out at sync. */
bool tool_schema_fits(const json_t *schema);

/* Return the part of a schema that is checked, on mem, or NULL if out of memory. */
json_t *tool_schema_reduce(TALLOC_CTX *mem, const json_t *schema);

/*
 * Return arguments without those that are null, are not required and may not be null: models write
 * null for what they leave out. The result is `arguments` itself or a copy on mem; NULL: out of
 * memory.
 */
json_t *tool_schema_drop_nulls(TALLOC_CTX *mem, const json_t *schema, json_t *arguments);

/*
 * Check arguments. AZ_INVALID: *ret_why, on mem, tells the model what to correct, and quotes the
 * schema, never a value. AZ_SERVER_ERROR: out of memory.
 */
enum az_status tool_schema_check(TALLOC_CTX *mem, const json_t *schema, const json_t *arguments,
                                 const char **ret_why);

/* Check the structured content of a result in the same way against an outputSchema. */
enum az_status tool_schema_check_result(TALLOC_CTX *mem, const json_t *schema,
                                        const json_t *content, const char **ret_why);

#endif
