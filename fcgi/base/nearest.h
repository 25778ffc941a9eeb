/* "Did you mean": the known words nearest to a mistyped one. */
#ifndef AZ_BASE_NEAREST_H
#define AZ_BASE_NEAREST_H

#include <stddef.h>
#include <talloc.h>

/*
 * Return the words (a list ended by NULL) nearest to `word` by edit distance, in quotes and joined
 * as "'a', 'b' or 'c'". NULL when none is near. On mem.
 */
const char *nearest_words(TALLOC_CTX *mem, const char *const *words, const char *word);

/* Return the Levenshtein distance of two words: the least number of letters inserted, removed or
 * replaced. */
size_t nearest_distance(const char *a, const char *b);

#endif
