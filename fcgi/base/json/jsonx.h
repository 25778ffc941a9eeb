/* JSON text (RFC 8259): a strict reader and a writer. base/json/fields.h reads objects. */
#ifndef AZ_BASE_JSON_JSONX_H
#define AZ_BASE_JSON_JSONX_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/*
 * Parse len octets of text that must be one JSON value of any type, with nothing after it.
 *
 * AZ_INVALID: invalid UTF-8, NUL octets and \u0000, lone surrogates, repeated member names (an
 * attacker could play two readers against each other that pick different ones), numbers beyond
 * 64-bit integers or doubles, and nesting deeper than max_depth, or than 2048 whatever max_depth
 * is. A scalar has depth 0, [] depth 1. The caller limits len. AZ_SERVER_ERROR: out of memory.
 *
 * *ret belongs to mem: do not json_decref() it. With AZ_INVALID, *ret_why, unless ret_why is NULL,
 * becomes a constant public text; it never contains a part of the input.
 */
enum az_status jsonx_parse(TALLOC_CTX *mem, const char *text, size_t len, size_t max_depth,
                           json_t **ret, const char **ret_why);

/*
 * Move the caller's reference to value to mem, which drops it when it is freed. Return value; NULL,
 * with the reference dropped: value is NULL, or out of memory.
 */
json_t *jsonx_own(TALLOC_CTX *mem, json_t *value);

/*
 * Return a copy of a value, a new reference; NULL: out of memory, or no value. jsonx_copy() shares
 * the items and members. Jansson's own functions return a copy that lacks the items and members
 * for which there was no memory.
 */
json_t *jsonx_copy(const json_t *value);
json_t *jsonx_deep_copy(const json_t *value);

/*
 * An object or array that is filled step by step. It remembers if a value could not be made or
 * added because memory ran out. So the steps need no checks, and no value is lost silently.
 */
struct jsonx_build {
    json_t *value; /* object or array; NULL counts as lost */
    bool lost;     /* a value could not be added */
};

/* Set a member of the object, or append to the array. Both take the reference to value; a value of
 * NULL counts as lost. */
void jsonx_set(struct jsonx_build *build, const char *name, json_t *value);
void jsonx_append(struct jsonx_build *build, json_t *value);

/* Return the complete value; NULL: something was lost. */
json_t *jsonx_built(const struct jsonx_build *build);

/* True if an array has an item equal to `wanted`; NULL is an empty array. */
bool jsonx_array_has(const json_t *array, const json_t *wanted);

/* True if each item of one array is in the other; NULL is an empty array. */
bool jsonx_array_within(const json_t *inner, const json_t *outer);

/* Remove the members of an object that are null or an empty text; a value that is no object stays.
 * Many servers send these for what they do not have. */
void jsonx_drop_empty(json_t *object);

/* True for an array of strings, also for an empty one. */
bool jsonx_is_texts(const json_t *value);

/*
 * Return compact text with the members in their order and the fewest digits that identify each
 * real; it belongs to mem. NULL: out of memory, or the value has no text: a string that is not
 * UTF-8, nesting beyond Jansson's limit (a value that contains itself), or no value at all.
 */
char *jsonx_dump(TALLOC_CTX *mem, const json_t *value);

/* The same with members sorted by name, so that equal values have one text. */
char *jsonx_dump_sorted(TALLOC_CTX *mem, const json_t *value);

/*
 * The same between the texts `before` and `after`, so that a document is put into an envelope
 * without a copy. *ret_length, unless NULL, becomes the length of the whole.
 */
char *jsonx_dump_around(TALLOC_CTX *mem, const char *before, const json_t *value, const char *after,
                        size_t *ret_length);

#endif
