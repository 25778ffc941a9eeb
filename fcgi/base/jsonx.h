/*
 * JSON from outside (RFC 8259), read strictly; JSON that is written. base/fields.h reads objects.
 */
#ifndef AZ_BASE_JSONX_H
#define AZ_BASE_JSONX_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
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
 * An object or array that is filled step by step. A value that could not be made or added, because
 * memory ran out, is remembered: so the steps need no checks, and none is lost silently.
 */
struct jsonx_build {
    json_t *value; /* object or array; NULL counts as lost */
    bool lost;     /* a value could not be added */
};

/* Set a member of the object, or append to the array. Both take the reference to value; a value of
 * NULL counts as lost. */
void jsonx_set(struct jsonx_build *build, const char *name, json_t *value);
void jsonx_append(struct jsonx_build *build, json_t *value);

/* Return the value with all that was added, or NULL: something was lost. */
json_t *jsonx_built(const struct jsonx_build *build);

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

#endif
