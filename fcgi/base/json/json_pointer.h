/* JSON Pointer (RFC 6901): the one reader of it. */
#ifndef AZ_BASE_JSON_JSON_POINTER_H
#define AZ_BASE_JSON_JSON_POINTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Longest reference token, in octets: names of members have fewer than 100. A pointer with a longer
 * one is malformed. */
#define JSON_POINTER_TOKEN_MAX 512
/* Largest index of an array: no document that is read has so many elements. */
#define JSON_POINTER_INDEX_MAX 9999999

/* True if a text is a JSON Pointer (RFC 6901 section 3); "" is one, for the whole document. */
bool json_pointer_is_good(const char *text);

/* Take one reference token, without its escapes (RFC 6901 section 4). Return the rest of the
 * pointer, or NULL if it is malformed. */
const char *json_pointer_token(const char *pointer, char token[JSON_POINTER_TOKEN_MAX + 1]);

/* Return the place in an array that a token names, or SIZE_MAX if it names none ("01" and "-" do
 * not). */
size_t json_pointer_place(const json_t *array, const char *token);

/* Return the member or element that a token names, or NULL. The value stays its owner's. */
json_t *json_pointer_step(const json_t *value, const char *token);

/* Return the value at a pointer, or NULL: nothing is there, or the pointer is malformed. The value
 * stays the document's. */
json_t *json_pointer_get(const json_t *document, const char *pointer);

#endif
