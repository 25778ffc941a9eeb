/* The parts of json.match_schema. */
#ifndef AZ_REGO_BUILTIN_SCHEMA_PRIVATE_H
#define AZ_REGO_BUILTIN_SCHEMA_PRIVATE_H

#include "rego/builtin/builtin.h"

struct schema_reading {
    struct rego_machine *machine;
    unsigned depth;
    bool unsure; /* the engine must be asked */
};

/* Kinds of values of keywords. */
enum schema_shape {
    SCHEMA_DRAFT, /* the address of draft 7; OPA reads schemas without it in the same way */
    SCHEMA_WORD,
    SCHEMA_SWITCH,
    SCHEMA_BOUND, /* a 64-bit integer */
    SCHEMA_COUNT,
    SCHEMA_TYPE,   /* a name of a type, or an array of different ones */
    SCHEMA_NAMES,  /* an array of different strings */
    SCHEMA_PLAIN,  /* a value for which schema_is_plain() is true */
    SCHEMA_PLAINS, /* an array of different ones */
    SCHEMA_PATTERN,
    SCHEMA_SCHEMA,
    SCHEMA_SCHEMAS,    /* an array */
    SCHEMA_PROPERTIES, /* an object of schemas */
};

/* Names of types, in the order of enum rego_type; the last one, integer, is a part of the numbers.
 */
#define SCHEMA_TYPES 7
extern const char *const schema_types[SCHEMA_TYPES];

/* True if the text of a string is the name. */
bool schema_text_is(const struct rego_value *text, const char *name);

/* True if OPA compares the value with others as rego_compare() does. */
bool schema_is_plain(const struct rego_value *value);

/* True if no two items of an array are equal; false too when the evaluation ends. */
bool schema_is_unique(struct schema_reading *reading, const struct rego_value *list);

/* True if OPA takes the value of a keyword, and its meaning is certain. */
bool schema_shape_fits(struct schema_reading *reading, enum schema_shape shape,
                       const struct rego_value *value);

/* True if OPA takes the schema, and each of its keywords is one whose meaning is certain. */
bool schema_is_known(struct schema_reading *reading, const struct rego_value *schema);

#endif
