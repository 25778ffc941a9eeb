/* The canonical text of JSON (RFC 8785) and the pin of a tool. */
#ifndef AZ_MANAGED_CANONICAL_H
#define AZ_MANAGED_CANONICAL_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

#define MANAGED_PIN_SIZE 65 /* 64 hex digits and NUL */

/* Write the SHA-256, in hex, of the canonical JSON of {name, description, inputSchema,
 * outputSchema, annotations} of a tool as its upstream sent it; absent members are left out. False:
 * out of memory. */
bool managed_pin_hash(TALLOC_CTX *mem, const json_t *tool, char ret[MANAGED_PIN_SIZE]);

#endif
