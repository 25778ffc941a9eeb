/* Words: in lists of C strings, in JSON arrays, and in texts that separate them by spaces (scopes,
 * RFC 6749 3.3). */
#ifndef AZ_BASE_WORDS_H
#define AZ_BASE_WORDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

/* Limits of a scope. Each is far above real use, and bounds the policy input. */
#define SCOPE_TEXT_MAX 1024 /* characters (specification 8) */
#define SCOPE_WORDS_MAX 100 /* scopes of one request or client */

/* Return true if a text has only the characters of scopes (RFC 6749 3.3) and spaces. */
bool scope_characters(const char *text);

/* Return true if `list`, which ends with NULL, contains `word`; a word of NULL is in no list. */
bool words_has(const char *const *list, const char *word);

/* Return the words of `list` as a JSON array: a new reference. NULL: no memory, or no list. */
json_t *words_array(const char *const *list);

/* Return true if a JSON array contains the string `word`. NULL contains nothing; items of other
 * types are passed over. */
bool words_array_has(const json_t *array, const char *word);

/* Return a JSON array, owned by mem, of the strings of `array`, once each and in their order; NULL:
 * no memory. */
json_t *words_array_once(TALLOC_CTX *mem, const json_t *array);

/*
 * Return such an array of the strings that are also in `ceiling`. A ceiling of NULL
 * contains nothing, so a caller for whom it means no limit has to say so.
 */
json_t *words_array_within(TALLOC_CTX *mem, const json_t *array, const json_t *ceiling);

/* Return true if every string of `array` is also in `wider`. */
bool words_array_is_within(const json_t *array, const json_t *wider);

/* Return the strings of a JSON array as a list on mem, which ends with NULL; NULL: no memory. */
const char **words_array_list(TALLOC_CTX *mem, const json_t *array);

/* Return the strings of a JSON array joined by spaces, on mem; NULL: no memory. */
char *words_join(TALLOC_CTX *mem, const json_t *array);

/* Return the strings of a JSON array, once each, joined by spaces, on mem; NULL: no memory. A space
 * within a string is %20, and a percent sign %25: a code of a reason may be a sentence, since a
 * rule may deny with any text. */
char *words_join_texts(TALLOC_CTX *mem, const json_t *array);

/* Return the texts that words_join_texts joined, as a new JSON array; NULL: no text, or no memory.
 */
json_t *words_split_texts(const char *text);

/*
 * Find the next word of a text that separates words by spaces. True: *ret_word has *ret_length
 * octets, and *text is behind it. False: there is no other word. *text may be NULL.
 */
bool words_next(const char **text, const char **ret_word, size_t *ret_length);

/* Return the words of such a text (or NULL), once each, as a JSON array owned by mem; NULL: no
 * memory, or a text that is not UTF-8. */
json_t *words_split(TALLOC_CTX *mem, const char *text);

/* Return true if a text ends with `end` and has at least one more octet before it. */
bool words_end(const char *text, const char *end);

#endif
