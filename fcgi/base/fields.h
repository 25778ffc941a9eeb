/*
 * The declarative field table of an API object: one row per member says what it must be, which rule
 * it keeps and which column it is stored in. From the table come the reading, the fieldErrors and
 * the columns of the row.
 */
#ifndef AZ_BASE_FIELDS_H
#define AZ_BASE_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

enum field_kind {
    FIELD_TEXT,      /* string */
    FIELD_BOOLEAN,   /* true or false */
    FIELD_TEXT_LIST, /* array of strings; rule and maximum hold for each of them */
    FIELD_OBJECT,    /* object */
    FIELD_READ_ONLY, /* set by the service: ignored, so that what a GET answered can be sent back; a
                        text keeps the maximum, if there is one */
    FIELD_UNSUPPORTED, /* not there yet: refused, so that nobody takes it for stored */
};

struct field {
    const char *name;     /* member of the object */
    enum field_kind kind; /* what it must be */
    size_t max;           /* code points of a text; 0: no limit of its own */
    bool required;        /* absent or null is a fault */
    const char *(*rule)(
        TALLOC_CTX *mem,
        const json_t *value); /* what is wrong with a value of the right kind, or NULL */
    const char *column; /* column it is stored in; NULL: the reader of the object sees to it */
};

/* Hears of each fault: path of the field (`redirectUris[1]`) and a text that fits after it. Neither
 * outlives the call. */
typedef void field_fault_fn(void *arg, const char *path, const char *why);

/*
 * Holds object against the table and tells every fault, so that one answer can name them all. null
 * counts as absent, a text must not be empty, a member outside the table is a fault: a misspelt
 * `enabled` must not leave a client enabled. *ret_columns, owned by mem, is an object of the values
 * by column; absent members are not in it. AZ_INVALID: a fault was told. AZ_SERVER_ERROR: no
 * memory.
 */
enum az_status fields_read(TALLOC_CTX *mem, const struct field *table, size_t count,
                           const json_t *object, field_fault_fn *fault, void *fault_arg,
                           json_t **ret_columns);

#endif
