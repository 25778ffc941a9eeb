/* The values of the keywords of JSON Schema. OPA refuses a schema for a fault in any part, so all
 * of them are checked. */
#include "config.h"

#include <string.h>

#include "rego/builtin/schema_private.h"
#include "rego/pattern.h"

/* OPA compares values as binary64 numbers, which hold all integers up to 2^53. */
#define EXACT_INTEGER_MAX ((int64_t) 1 << 53)

#define DRAFT_7 "http://json-schema.org/draft-07/schema"

const char *const schema_types[SCHEMA_TYPES] = {"null",  "boolean", "number", "string",
                                                "array", "object",  "integer"};

bool
schema_text_is(const struct rego_value *text, const char *name)
{
    return text->type == REGO_STRING && text->count == strlen(name)
           && memcmp(text->text, name, text->count) == 0;
}

bool
schema_is_plain(const struct rego_value *value)
{
    return value->type < REGO_ARRAY
           && (value->type != REGO_NUMBER
               || (!value->decimal && value->integer <= EXACT_INTEGER_MAX
                   && value->integer >= -EXACT_INTEGER_MAX));
}

bool
schema_is_unique(struct schema_reading *reading, const struct rego_value *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (!rego_spend(reading->machine, i))
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (rego_compare(list->item[i], list->item[k]) == 0)
                return false;
    }
    return true;
}

static bool
is_type_name(const struct rego_value *value)
{
    for (size_t i = 0; i < SCHEMA_TYPES; i++)
        if (schema_text_is(value, schema_types[i]))
            return true;
    return false;
}

/* True if all items have a shape. */
static bool
is_list(struct schema_reading *reading, enum schema_shape shape, const struct rego_value *value)
{
    for (uint32_t i = 0; value->type == REGO_ARRAY && i < value->count; i++)
        if (!schema_shape_fits(reading, shape, value->item[i]))
            return false;
    return value->type == REGO_ARRAY;
}

/* True if it is a list whose items are all different, too. */
static bool
is_unique_list(struct schema_reading *reading, enum schema_shape shape,
               const struct rego_value *value)
{
    return is_list(reading, shape, value) && schema_is_unique(reading, value);
}

static bool
is_type_list(struct schema_reading *reading, const struct rego_value *value)
{
    for (uint32_t i = 0; i < value->count; i++)
        if (!is_type_name(value->item[i]))
            return false;
    return schema_is_unique(reading, value);
}

static bool
is_properties(struct schema_reading *reading, const struct rego_value *value)
{
    for (uint32_t i = 0; value->type == REGO_OBJECT && i < value->count; i++)
        if (value->member[i].key->type != REGO_STRING
            || !schema_is_known(reading, value->member[i].value))
            return false;
    return value->type == REGO_OBJECT;
}

bool
schema_shape_fits(struct schema_reading *reading, enum schema_shape shape,
                  const struct rego_value *value)
{
    bool integer = value->type == REGO_NUMBER && !value->decimal;
    switch (shape) {
    case SCHEMA_DRAFT:
        return schema_text_is(value, DRAFT_7) || schema_text_is(value, DRAFT_7 "#");
    case SCHEMA_WORD:
        return value->type == REGO_STRING;
    case SCHEMA_SWITCH:
        return value->type == REGO_BOOLEAN;
    case SCHEMA_BOUND:
        return integer;
    case SCHEMA_COUNT:
        return integer && value->integer >= 0;
    case SCHEMA_TYPE:
        return value->type == REGO_ARRAY ? is_type_list(reading, value) : is_type_name(value);
    case SCHEMA_NAMES:
        return is_unique_list(reading, SCHEMA_WORD, value);
    case SCHEMA_PLAIN:
        return schema_is_plain(value);
    case SCHEMA_PLAINS:
        return is_unique_list(reading, SCHEMA_PLAIN, value);
    case SCHEMA_PATTERN:
        return value->type == REGO_STRING
               && pattern_read(reading->machine->arena, value->text, value->count) != NULL;
    case SCHEMA_SCHEMA:
        return schema_is_known(reading, value);
    case SCHEMA_SCHEMAS:
        return is_list(reading, SCHEMA_SCHEMA, value);
    case SCHEMA_PROPERTIES:
        return is_properties(reading, value);
    }
    return false;
}
