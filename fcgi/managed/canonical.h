/* The pin of a tool or prompt: a digest of what its upstream says about it. */
#ifndef AZ_MANAGED_CANONICAL_H
#define AZ_MANAGED_CANONICAL_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

#define MANAGED_PIN_SIZE 65 /* 64 hex digits and NUL */

/* Write the SHA-256, in hex, of {name, title, description, inputSchema, outputSchema, annotations,
 * icons, _meta} of a tool as its upstream sent it: as JSON without blanks, the members of all
 * objects sorted by name, absent ones left out. False: out of memory, or `tool` is no object. */
bool managed_pin_hash(TALLOC_CTX *mem, const json_t *tool, char ret[MANAGED_PIN_SIZE]);

/* The same of the whole of an object: of a prompt, whose members are chosen before. */
bool managed_entry_hash(TALLOC_CTX *mem, const json_t *entry, char ret[MANAGED_PIN_SIZE]);

#endif
