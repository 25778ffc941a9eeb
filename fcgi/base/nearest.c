#include "config.h"

#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

/* Longest word that can be a mistyped verb or setting, in octets; also the size of one row of the
 * distance table. */
#define NEAREST_WORD_MAX 64
/* A word is near if at most one of so many letters differs, or a single one: a hint that is far
 * from what was typed leads the reader astray. */
#define NEAREST_LETTERS 3

size_t
nearest_distance(const char *a, const char *b)
{
    size_t row[NEAREST_WORD_MAX + 1], length_a = strlen(a), length_b = strlen(b);
    if (length_a > NEAREST_WORD_MAX || length_b > NEAREST_WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[length_b];
}

const char *
nearest_words(TALLOC_CTX *mem, const char *const *words, const char *word)
{
    size_t best = SIZE_MAX, count = 0, left;
    for (size_t i = 0; words[i] != NULL; i++) {
        size_t distance = nearest_distance(word, words[i]);
        count = distance < best ? 1 : count + (distance == best);
        best = distance < best ? distance : best;
    }
    size_t far = strlen(word) / NEAREST_LETTERS;
    if (best > (far > 1 ? far : 1))
        return NULL;
    char *list = talloc_strdup(mem, "");
    for (left = count; *words != NULL; words++)
        if (nearest_distance(word, *words) == best) {
            const char *before = left == count ? "" : left == 1 ? " or " : ", ";
            list = talloc_asprintf_append_buffer(list, "%s'%s'", before, *words);
            left--;
        }
    return list;
}
