#include "config.h"

#include "base/words.h"

#include <string.h>

bool
scope_characters(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char) *text < 0x20 || (unsigned char) *text > 0x7e || *text == '"'
            || *text == '\\')
            return false;
    return true;
}

bool
words_has(const char *const *list, const char *word)
{
    for (; word != NULL && list != NULL && *list != NULL; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

bool
words_next(const char **text, const char **ret_word, size_t *ret_length)
{
    if (*text == NULL)
        return false;
    const char *word = *text + strspn(*text, " ");
    size_t length = strcspn(word, " ");
    *text = word + length;
    *ret_word = word;
    *ret_length = length;
    return length > 0;
}

bool
words_end(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length > wanted && strcmp(text + length - wanted, end) == 0;
}
