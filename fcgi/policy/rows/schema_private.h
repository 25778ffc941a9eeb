/* What schema.c (the walk) and schema_keywords.c (the table of keywords) share. */
#ifndef AZ_POLICY_ROWS_SCHEMA_PRIVATE_H
#define AZ_POLICY_ROWS_SCHEMA_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

/* Where in the value the walk is; the names are the value's own. */
struct schema_place {
    const struct schema_place *up; /* NULL at the top */
    const char *name;              /* member, or NULL for an item */
    size_t index;                  /* of the item */
};

/* One walk over one value. */
struct schema_walk {
    TALLOC_CTX *mem;    /* for messages */
    json_t *failures;   /* told so far */
    bool out_of_memory; /* nothing that was found counts then */
};

/* A schema that is an object, and the value it is held against. */
struct schema_site {
    const json_t *schema;
    const json_t *value;
    const struct schema_place *place;
};

/* What a keyword's value holds that is a schema itself. */
enum schema_holds { HOLDS_NONE, HOLDS_SCHEMA, HOLDS_SCHEMA_LIST, HOLDS_SCHEMA_MAP };

/* One keyword. A check is called only for a value of a type it speaks of. */
struct schema_keyword {
    const char *name;
    enum schema_holds holds;
    const char *(*fault)(
        const json_t *rule); /* what is wrong with the keyword's own value, or NULL */
    unsigned types;          /* bits 1 << json_type it speaks of */
    void (*check)(struct schema_walk *walk, const struct schema_site *site, const json_t *rule);
};

/* The row of a keyword; annotations have a row without check. NULL: unknown. */
const struct schema_keyword *schema_keyword_find(const char *name);

/* Holds a value against a schema and tells the failures. */
void schema_walk_value(struct schema_walk *walk, const json_t *schema, const json_t *value,
                       const struct schema_place *place);

/* Tells a failure; the second form adds the keyword's value, as text, and a unit. */
void schema_walk_fail(struct schema_walk *walk, const struct schema_place *place,
                      const char *message);
void schema_walk_fail_rule(struct schema_walk *walk, const struct schema_place *place,
                           const char *what, const json_t *rule, const char *unit);

/* Tells what an inner walk has told. */
void schema_walk_append(struct schema_walk *walk, const json_t *failures);

/* Whether a value is of the type (or one of the types) that a `type` keyword names. */
bool schema_type_admits(const json_t *rule, const json_t *value);

/* Text that is the same for equal values and for no others; free() it. NULL: no memory. */
char *schema_value_text(const json_t *value);

bool schema_value_same(struct schema_walk *walk, const json_t *a, const json_t *b);

/* Whether number a is less than number b. */
bool schema_value_less(const json_t *a, const json_t *b);

/* Jansson reads through pointers that are not const. */
static inline json_t *
schema_plain(const json_t *value)
{
    return (json_t *) (uintptr_t) value;
}

#endif
