/*
 * The part of JSON Schema 2020-12 that the rows of policy data are described with (policy.md 6.4).
 *
 *   checks       type properties required additionalProperties items enum const pattern
 *                minimum maximum minLength maxLength minItems maxItems uniqueItems anyOf format
 *   references   $defs, at the top alone; {"$ref": "#/$defs/name"}, without any other member
 *   annotations  title description default examples $schema x-...
 *   formats      uri cidr timezone hh:mm closed-schema
 *
 * Any other keyword is a fault of the schema: what a schema says is checked or refused, never
 * ignored. So is a reference to a definition that does not exist or that contains the reference. An
 * integer is a number written without a fraction (stricter than the standard, which accepts 1.0).
 * Lengths count code points.
 */
#ifndef AZ_BASE_JSON_SCHEMA_JSON_SCHEMA_H
#define AZ_BASE_JSON_SCHEMA_JSON_SCHEMA_H

#include <jansson.h>
#include <talloc.h>

#include "base/json/schema/schema_failures.h"
#include "base/status.h"

/* Nesting of a schema, references followed. The shipped ones stay below 12. */
#define SCHEMA_DEPTH_MAX 64

/* Sub-schemas of a schema, references followed: a few definitions that use one another twice would
 * otherwise grow without bound. The largest shipped schema has about 200. */
#define SCHEMA_SIZE_MAX 5000

/* Return the first fault of a schema, with its place; NULL if it has none. The text lives on mem.
 */
const char *schema_fault(TALLOC_CTX *mem, const json_t *schema);

/* Return the schema itself, or the definition that it refers to; borrowed. `root` is the whole
 * schema, which schema_fault() has found to be sound. */
const json_t *schema_follow(const json_t *root, const json_t *schema);

/*
 * Validate a value. AZ_INVALID: the value does not match; *ret_failures, owned by mem, is an array
 * of {path, message} with a JSON Pointer (RFC 6901) to each failing place, at most
 * SCHEMA_FAILURES_MAX; messages quote the schema, never the value. AZ_SERVER_ERROR: the schema has
 * a fault, or no memory.
 */
enum az_status schema_validate(TALLOC_CTX *mem, const json_t *schema, const json_t *value,
                               json_t **ret_failures);

#endif
