/* The language of what is there in several (OpenID Connect Core 3.1.2.1, RFC 9110 12.5.4). */
#ifndef AZ_HTTP_PAGE_LANGUAGE_H
#define AZ_HTTP_PAGE_LANGUAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The language of the program, in which every text is there. */
#define LANGUAGE_ENGLISH "en"

/* Tags of a request that are looked at; browsers send fewer than ten. */
#define LANGUAGE_TAGS_MAX 32

/*
 * Return the member of `by_tag`, an object by language tag, that fits a request best: the first tag
 * of ui_locales that is there, else the one with the largest weight of Accept-Language, else
 * English, else NULL. A tag is there by lookup (RFC 4647 3.4): de-AT finds de. Either may be NULL.
 * Borrowed from `by_tag`.
 */
const char *language_best(const json_t *by_tag, const char *ui_locales, const char *accept);

/* Return the member of `by_tag` with this tag in any case of letters, or NULL. */
const char *language_same(const json_t *by_tag, const char *tag, size_t length);

/* True for a text in the form of a language tag: letters, then parts of letters and digits after
 * hyphens (RFC 5646 2.1). */
bool language_is_tag(const char *text);

#endif
