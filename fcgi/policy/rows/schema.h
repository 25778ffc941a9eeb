/*
 * The part of JSON Schema 2020-12 that the rows of policy data are described with (policy.md 6.4).
 *
 *   checks       type properties required additionalProperties items enum const pattern minimum
 * maximum minLength maxLength minItems maxItems uniqueItems anyOf format annotations  title
 * description default examples $schema x-... formats      uri cidr timezone hh:mm
 *
 * Any other keyword makes the schema itself unsound: what is written in a schema is checked or
 * refused, never overlooked. An integer is a number written without a fraction (stricter than the
 * standard, which takes 1.0). Lengths count code points.
 */
#ifndef AZ_POLICY_ROWS_SCHEMA_H
#define AZ_POLICY_ROWS_SCHEMA_H

#include <jansson.h>
#include <talloc.h>

#include "base/status.h"

/* Nesting of a schema. The shipped ones stay below 12. */
#define SCHEMA_DEPTH_MAX 64

/* Failures told: more help nobody, and a row of a megabyte can have a hundred thousand. */
#define SCHEMA_FAILURES_MAX 100

/* Octets of a failure's path. Names of members come from the caller; a longer path ends at an
 * ancestor that fits. */
#define SCHEMA_PATH_MAX 1024

/* Why a schema is unsound, naming the place; NULL when it is sound. The text lives on mem. */
const char *schema_fault(TALLOC_CTX *mem, const json_t *schema);

/*
 * Holds value against schema. AZ_INVALID: it breaks it; *ret_failures, owned by mem, is an array of
 * {path, message} with a JSON Pointer (RFC 6901) to each failing place, at most
 * SCHEMA_FAILURES_MAX; messages quote the schema, never the value. AZ_SERVER_ERROR: the schema is
 * unsound, or no memory.
 */
enum az_status schema_validate(TALLOC_CTX *mem, const json_t *schema, const json_t *value,
                               json_t **ret_failures);

#endif
