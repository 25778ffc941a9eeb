/*
 * JSON from outside (RFC 8259), read strictly, and read into structs by a table of fields.
 */
#ifndef AZ_BASE_JSONX_H
#define AZ_BASE_JSONX_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

/*
 * Parses len octets of text that must be one JSON value of any type and nothing after it.
 *
 * Refused with AZ_INVALID: invalid UTF-8, NUL octets and \u0000, lone surrogates, repeated member
 * names (two readers that pick different ones can be played against each other), numbers beyond
 * 64-bit integers or doubles, and nesting deeper than max_depth, or than 2048 whatever max_depth
 * says: a scalar has depth 0, [] depth 1. The caller limits len. Out of memory is AZ_SERVER_ERROR.
 *
 * *ret belongs to mem: do not json_decref() it. *ret_why, unless ret_why is NULL, becomes a
 * constant text for the public when AZ_INVALID is answered; it never holds a piece of the input.
 */
enum az_status jsonx_parse(TALLOC_CTX *mem, const char *text, size_t len, size_t max_depth,
                           json_t **ret, const char **ret_why);

/*
 * Gives the caller's reference to value to mem, which drops it when freed. Returns value, or NULL
 * (with the reference dropped) when value is NULL or memory is out.
 */
json_t *jsonx_own(TALLOC_CTX *mem, json_t *value);

/*
 * Compact text with members in the order they stand in, reals with as few digits as name them;
 * belongs to mem. NULL when out of memory, and for what has no text: a string that is no UTF-8,
 * nesting beyond Jansson's bound (a value that holds itself), no value at all.
 */
char *jsonx_dump(TALLOC_CTX *mem, const json_t *value);

/* The same with members sorted by name: one text for equal values. */
char *jsonx_dump_sorted(TALLOC_CTX *mem, const json_t *value);

/*
 * The same with the octets of before and after around it, so that a document is put into an
 * envelope without a copy. *ret_length, unless NULL, is the length of the whole.
 */
char *jsonx_dump_around(TALLOC_CTX *mem, const char *before, const json_t *value, const char *after,
                        size_t *ret_length);

/* What a member must be, and the C type its target has. */
enum jsonx_type {
    JSONX_TEXT,       /* string; const char * that lives as long as the JSON value */
    JSONX_INTEGER,    /* integer; int64_t */
    JSONX_BOOLEAN,    /* true or false; bool */
    JSONX_OBJECT,     /* object; const json_t * */
    JSONX_ARRAY,      /* array of anything; const json_t * */
    JSONX_TEXT_ARRAY, /* array of strings; const json_t * */
    JSONX_ANY,        /* any value, null too; const json_t * */
};

/*
 * One row per member of an object. An absent member leaves its target as it was, so defaults are
 * set before reading. min and max count code points of a text, items of an array, or are the range
 * of an integer; item_max counts code points of each text of a text array. A max of 0 sets no limit
 * (for integers: when min is 0 as well).
 */
struct jsonx_field {
    const char *name;     /* member name */
    enum jsonx_type type; /* what it must be */
    size_t offset;        /* of the target in the struct that is read into */
    bool required;        /* absent or null is a fault */
    int64_t min;
    int64_t max;
    size_t item_max;
};

enum jsonx_flags {
    JSONX_REFUSE_UNKNOWN = 1, /* a member outside the table is a fault; else it is ignored */
    JSONX_REFUSE_NULL = 2,    /* null is a fault; else it counts as absent */
};

/* Hears of each fault: name of the member and a constant text that fits after it ("is required").
 */
typedef void jsonx_fault_fn(void *arg, const char *name, const char *why);

/*
 * Reads object into the struct at target. All members are looked at and each fault is told to
 * fault (which may be NULL), so that one answer can name them all. AZ_INVALID when there was any:
 * then target is partly written. An object that is no JSON object is the fault of member "".
 */
enum az_status jsonx_read(const json_t *object, const struct jsonx_field *fields, size_t count,
                          unsigned flags, void *target, jsonx_fault_fn *fault, void *fault_arg);

#endif
