/* The keywords of json_schema.h: the rules for a keyword's own value, and the checks it makes. */
#ifndef AZ_BASE_JSON_SCHEMA_SCHEMA_KEYWORDS_H
#define AZ_BASE_JSON_SCHEMA_SCHEMA_KEYWORDS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/json/schema/schema_failures.h"

/* A value and the schema that it must match. */
struct schema_site {
    const json_t *root;   /* the whole schema, which holds the definitions */
    const json_t *schema; /* an object or a boolean */
    const json_t *value;
    const struct schema_place *place; /* of the value */
};

/* The schemas that a keyword holds, and the part of the value that they apply to. */
enum schema_applies {
    APPLIES_NONE,         /* holds no schema */
    APPLIES_PROPERTIES,   /* object of schemas: the members of the same names */
    APPLIES_ADDITIONAL,   /* one schema: the members that `properties` does not name */
    APPLIES_ITEMS,        /* one schema: every item of an array */
    APPLIES_BRANCHES,     /* array of schemas: the value itself must match one of them */
    APPLIES_BY_REFERENCE, /* object of schemas: used where a $ref names them */
    SCHEMA_APPLIES        /* count */
};

/* One keyword. */
struct schema_keyword {
    const char *name;
    enum schema_applies applies;              /* json_schema.c applies the schemas */
    const char *(*fault)(const json_t *rule); /* fault of the keyword's own value, or NULL */
    unsigned types; /* bits 1 << json_type: values of other types are not checked */
    void (*check)(struct schema_failures *failures, const struct schema_site *site,
                  const json_t *rule); /* or NULL */
};

/* Return the row of a keyword; an annotation has a row without check. NULL: unknown. */
const struct schema_keyword *schema_keyword_find(const char *name);

/* True if a value is of the type (or one of the types) that a `type` keyword names. */
bool schema_type_admits(const json_t *rule, const json_t *value);

#endif
