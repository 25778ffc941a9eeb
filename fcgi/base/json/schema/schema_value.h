/* Comparing values as JSON Schema does: 1 and 1.0 are equal (JSON Schema core, 4.2.2). */
#ifndef AZ_BASE_JSON_SCHEMA_SCHEMA_VALUE_H
#define AZ_BASE_JSON_SCHEMA_SCHEMA_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Return a text that is the same for equal values and differs for all others; the caller frees it
 * with free(). NULL: no memory. */
char *schema_value_text(const json_t *value);

/* True if the values are equal. Sets *ret_no_memory when that cannot be found out. */
bool schema_value_same(const json_t *a, const json_t *b, bool *ret_no_memory);

/* True if number a is less than number b. */
bool schema_value_less(const json_t *a, const json_t *b);

/* Return the value without const: Jansson's iterators take pointers that are not const. */
static inline json_t *
schema_plain(const json_t *value)
{
    return (json_t *) (uintptr_t) value;
}

#endif
