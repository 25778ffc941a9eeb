/* "Did you mean": the words of the table that are nearest to what was typed. */
#ifndef AZ_CLI_NEAREST_H
#define AZ_CLI_NEAREST_H

#include <stddef.h>
#include <talloc.h>

/*
 * Words that may follow `path`, joined by ", ": those nearest to `word` by edit distance, all of
 * them when none is near or word is NULL. On mem.
 */
const char *nearest_words(TALLOC_CTX *mem, const char *path, const char *word);

/* Levenshtein distance of two words: least number of letters inserted, left out or replaced. */
size_t nearest_distance(const char *a, const char *b);

#endif
