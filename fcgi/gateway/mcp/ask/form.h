/* The forms that an upstream asks a person to fill in: requestedSchema of an elicitation (MCP
 * 2025-11-25 and 2026-07-28, client/elicitation). Plain JSON in and out. */
#ifndef AZ_GATEWAY_MCP_ASK_FORM_H
#define AZ_GATEWAY_MCP_ASK_FORM_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

#include "base/status.h"

/* Fields of one form: a person fills them in. */
#define FORM_FIELDS_MAX 32
/* Octets of a form as JSON text: requestState carries it. */
#define FORM_OCTETS_MAX 8192

/*
 * Read a form: an object whose properties are texts, numbers, booleans or choices, without nesting.
 * *ret, on mem, has only the members that MCP defines. AZ_INVALID: the schema is of another kind,
 * or too large. AZ_FORBIDDEN: it asks for a password or the like, which MCP forbids for forms
 * (client/ elicitation, "Security Considerations"). AZ_SERVER_ERROR: out of memory.
 */
enum az_status form_read(TALLOC_CTX *mem, const json_t *schema, json_t **ret);

/* True if the name of a field, or its title, says that it is a secret: password, secret, token, API
 * key, card code or PIN. */
bool form_name_is_secret(const char *name);

#endif
