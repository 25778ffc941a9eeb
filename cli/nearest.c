#include "config.h"

#include "nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cli.h"

/* Longer words are no typing error of a verb; also the room of one row of the distance table. */
#define WORD_MAX 32
/* Verbs and nouns there can be after one path. */
#define WORDS_MAX 32

size_t
nearest_distance(const char *a, const char *b)
{
    size_t row[WORD_MAX + 1], length_a = strlen(a), length_b = strlen(b);
    if (length_a > WORD_MAX || length_b > WORD_MAX)
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

/* The words after a path, each once, in table order. */
static size_t
list_words(TALLOC_CTX *mem, const char *path, const char *words[WORDS_MAX])
{
    size_t count = 0, skip = strlen(path) + (*path != '\0');
    for (const struct cli_verb *row = cli_verbs; row->words != NULL; row++) {
        if (row->hidden || !cli_below(row->words, path) || strlen(row->words) <= skip)
            continue;
        const char *next = row->words + skip;
        const char *word = talloc_strndup(mem, next, strcspn(next, " "));
        bool known = count > 0 && strcmp(words[count - 1], word) == 0;
        if (!known && count < WORDS_MAX)
            words[count++] = word;
    }
    return count;
}

const char *
nearest_words(TALLOC_CTX *mem, const char *path, const char *word)
{
    const char *words[WORDS_MAX];
    size_t count = list_words(mem, path, words), best = SIZE_MAX;
    for (size_t i = 0; i < count && word != NULL; i++) {
        size_t distance = nearest_distance(word, words[i]);
        best = distance < best ? distance : best;
    }
    bool all = word == NULL || best > strlen(word) / 2 + 1;
    char *list = talloc_strdup(mem, "");
    for (size_t i = 0; i < count; i++)
        if (all || nearest_distance(word, words[i]) == best)
            list = talloc_asprintf_append_buffer(list, "%s%s", *list != '\0' ? ", " : "", words[i]);
    return list;
}
