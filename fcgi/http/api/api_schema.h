/* The JSON Schema (draft 2020-12, as OpenAPI 3.1.0 section 4.8.24 has it) of a table of fields. */
#ifndef AZ_HTTP_API_API_SCHEMA_H
#define AZ_HTTP_API_API_SCHEMA_H

#include "base/json/fields.h"
#include "base/json/jsonx.h"

/*
 * Return the schema of an object with these members: a new reference. A table with a name is added
 * to `schemas` once, and the value is a reference to it ($ref). Without memory the value is NULL,
 * or `schemas` has lost a part.
 */
json_t *schema_of_table(struct jsonx_build *schemas, const struct field_table *table);

/* Return an example of the object, from the examples of its rows: a new reference. NULL: no row has
 * an example, one of them is not JSON, or memory ran out. */
json_t *schema_example(const struct field_table *table);

#endif
