/* Change the white space of JSON text and nothing else. */
#ifndef AZ_CLI_LIB_JSON_TEXT_H
#define AZ_CLI_LIB_JSON_TEXT_H

#include <stddef.h>
#include <talloc.h>

/*
 * Return the text without white space, or with one member per line and a final line feed. A parser
 * must have accepted `text`. Numbers keep their digits; parsed and printed again, 0.1 would become
 * 0.10000000000000001. On mem; NULL when out of memory or when the result would exceed max octets.
 */
char *json_text_compact(TALLOC_CTX *mem, const char *text, size_t max);
char *json_text_pretty(TALLOC_CTX *mem, const char *text, size_t max);

#endif
