/*
 * The reader of JSON objects: a table has one row per member. The row describes the value and says
 * where it goes: into a struct, into an object of columns, or both.
 */
#ifndef AZ_BASE_JSON_FIELDS_H
#define AZ_BASE_JSON_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

enum field_kind {
    FIELD_TEXT,      /* string */
    FIELD_INTEGER,   /* integer */
    FIELD_BOOLEAN,   /* true or false */
    FIELD_OBJECT,    /* object */
    FIELD_ARRAY,     /* array of anything */
    FIELD_TEXT_LIST, /* array of strings; the rule holds for each of them */
    FIELD_ANY,       /* any value, null too */
    FIELD_READ_ONLY, /* set by the service: ignored, so that a client can send back the answer to
                        its GET; a text still keeps the maximum of the row */
};

/* C type of a target. */
enum field_target {
    FIELD_NOWHERE,   /* no target */
    FIELD_TO_TEXT,   /* const char *, lives as long as the JSON value */
    FIELD_TO_NUMBER, /* int64_t */
    FIELD_TO_TRUTH,  /* bool */
    FIELD_TO_JSON,   /* json_t *, borrowed */
};

/* Return NULL, or the fault of a value of the right kind, as a text that fits after the name of
 * the field. */
typedef const char *field_rule_fn(TALLOC_CTX *mem, const json_t *value);

/*
 * One member of an object. min and max count code points of a text, items of an array or a list, or
 * are the range of an integer. A max of 0 sets no limit (for an integer: when min is 0 as well).
 */
struct field {
    const char *name;     /* member of the object */
    enum field_kind kind; /* kind of its value */
    bool required;        /* absent or null is a fault */
    bool may_be_empty;    /* a text, or an item of a list, may be "" */
    int64_t min, max;
    size_t item_max; /* code points of each item of a text list; 0: no limit */
    field_rule_fn
        *rule; /* for a text that is not empty, each item of a list, or an object; or NULL */
    const char *const *words; /* the texts that are accepted, ending with NULL; NULL: any */
    const char *column;       /* column that the value is stored in, or NULL */
    enum field_target target; /* set by FIELD_INTO */
    size_t offset;            /* the same */

    /* The rest is for the description of the interface (http/api); the reader does not use it. */
    const struct field_table *shape; /* members of the object, or of each item of the array */
    enum field_kind shown;           /* kind of a value that is set by the service */
    bool secret;                     /* no answer has the value */
    bool absent_is_true;             /* a boolean: so its target is set before reading */
    const char *help;                /* meaning, for a person; NULL: the name says it */
    const char *example;             /* a value as JSON text, or NULL */
};

/* The target of a row: a member of the struct that is read into. The compiler checks its type. */
#define FIELD_INTO(type, member)                                                                   \
    .target = _Generic(((type *) 0)->member,                                                       \
        const char *: FIELD_TO_TEXT,                                                               \
        int64_t: FIELD_TO_NUMBER,                                                                  \
        bool: FIELD_TO_TRUTH,                                                                      \
        json_t *: FIELD_TO_JSON,                                                                   \
        const json_t *: FIELD_TO_JSON),                                                            \
    .offset = offsetof(type, member)

enum fields_flags {
    FIELDS_IGNORE_UNKNOWN = 1,  /* a member outside the table is ignored; else it is a fault: a
                                   misspelt `enabled` must not leave a client enabled */
    FIELDS_EMPTY_IS_ABSENT = 2, /* a text "" counts as absent; else it is a fault */
    FIELDS_ANSWER = 4,          /* members of an answer: never null, so no reader uses the table */
};

struct field_table {
    const char *name; /* in the description of the interface: "ClientDto"; NULL: stands in place */
    const struct field *row;
    size_t count;
    unsigned flags;
};

/* The value of a table of these rows, with its name and its flags. */
#define FIELD_TABLE(its_name, rows, its_flags)                                                     \
    {                                                                                              \
        .name = (its_name), .row = (rows), .count = sizeof(rows) / sizeof((rows)[0]),              \
        .flags = (its_flags)                                                                       \
    }

/* The table of these rows, read with these flags, where it needs no name. */
#define FIELDS(rows, its_flags) (&(const struct field_table) FIELD_TABLE(NULL, rows, its_flags))

/* Called for each fault with the path of the field (`redirectUris[1]`; "" is the object itself) and
 * a text that fits after it. Neither outlives the call. */
typedef void field_fault_fn(void *arg, const char *path, const char *why);

/*
 * Read an object by a table. Every fault is reported to `fault` (which may be NULL), so that one
 * answer can name them all.
 *
 * `target` is the struct that rows with FIELD_INTO are read into, or NULL. An absent member leaves
 * its target unchanged, so set defaults before reading. *ret_columns, owned by mem, becomes the
 * object of the values by column, without absent ones; ret_columns may be NULL.
 *
 * AZ_INVALID: a fault was reported; the target is partly written. AZ_SERVER_ERROR: no memory.
 */
enum az_status fields_read(TALLOC_CTX *mem, const struct field_table *table, const json_t *object,
                           field_fault_fn *fault, void *fault_arg, void *target,
                           json_t **ret_columns);

#endif
