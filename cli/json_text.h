/* JSON text laid out anew: white space changes, everything else stays as its writer gave it. */
#ifndef AZ_CLI_JSON_TEXT_H
#define AZ_CLI_JSON_TEXT_H

#include <stddef.h>
#include <talloc.h>

/*
 * The text without white space, or with one member to a line and a final line feed. `text` must be
 * JSON that a parser has taken. Numbers keep their digits: read and written again, 0.1 would become
 * 0.10000000000000001. On mem; NULL when memory is out or the result would pass max octets.
 */
char *json_text_compact(TALLOC_CTX *mem, const char *text, size_t max);
char *json_text_pretty(TALLOC_CTX *mem, const char *text, size_t max);

#endif
