/* The functions of base/words.h that make and read JSON arrays. */
#include "config.h"

#include "base/words.h"

#include <string.h>

#include "base/json/jsonx.h"

json_t *
words_array(const char *const *list)
{
    struct jsonx_build array = {json_array(), list == NULL};
    for (; list != NULL && *list != NULL; list++)
        jsonx_append(&array, json_string(*list));
    if (array.lost)
        json_decref(array.value);
    return jsonx_built(&array);
}

static bool
words_array_has_octets(const json_t *array, const char *word, size_t length)
{
    size_t index;
    const json_t *item;
    json_array_foreach (array, index, item)
        if (json_is_string(item) && json_string_length(item) == length
            && memcmp(json_string_value(item), word, length) == 0)
            return true;
    return false;
}

bool
words_array_has(const json_t *array, const char *word)
{
    return word != NULL && words_array_has_octets(array, word, strlen(word));
}

json_t *
words_array_once(TALLOC_CTX *mem, const json_t *array)
{
    return words_array_within(mem, array, array);
}

json_t *
words_array_within(TALLOC_CTX *mem, const json_t *array, const json_t *ceiling)
{
    struct jsonx_build kept = {jsonx_own(mem, json_array()), false};
    size_t index;
    json_t *item;
    json_array_foreach (array, index, item) {
        const char *word = json_string_value(item);
        if (words_array_has(ceiling, word) && !words_array_has(kept.value, word))
            jsonx_append(&kept, json_incref(item));
    }
    return jsonx_built(&kept);
}

bool
words_array_is_within(const json_t *array, const json_t *wider)
{
    size_t index;
    const json_t *item;
    json_array_foreach (array, index, item)
        if (!words_array_has(wider, json_string_value(item)))
            return false;
    return true;
}

const char **
words_array_list(TALLOC_CTX *mem, const json_t *array)
{
    size_t index, count = 0;
    const json_t *item;
    const char **list = talloc_array(mem, const char *, (unsigned) json_array_size(array) + 1);
    if (list == NULL)
        return NULL;
    json_array_foreach (array, index, item)
        if (json_is_string(item))
            list[count++] = json_string_value(item);
    list[count] = NULL;
    return list;
}

char *
words_join(TALLOC_CTX *mem, const json_t *array)
{
    char *text = talloc_strdup(mem, "");
    size_t index;
    const json_t *item;
    json_array_foreach (array, index, item)
        if (text != NULL && json_is_string(item))
            text = talloc_asprintf_append_buffer(text, "%s%s", *text != '\0' ? " " : "",
                                                 json_string_value(item));
    return text;
}

/* Return a text as one word, on mem; NULL: no memory. */
static char *
word_of_text(TALLOC_CTX *mem, const char *text)
{
    char *word = talloc_array(mem, char, (unsigned) strlen(text) * 3 + 1), *to = word;
    for (; word != NULL && *text != '\0'; text++) {
        *to++ = *text == ' ' ? '%' : *text;
        if (*text == ' ' || *text == '%') {
            *to++ = '2';
            *to++ = *text == ' ' ? '0' : '5';
        }
    }
    if (word != NULL)
        *to = '\0';
    return word;
}

char *
words_join_texts(TALLOC_CTX *mem, const json_t *array)
{
    char *text = talloc_strdup(mem, "");
    size_t index;
    const json_t *item;
    json_t *once = words_array_once(mem, array);
    json_array_foreach (once, index, item) {
        char *word = word_of_text(mem, json_string_value(item));
        if (text != NULL && word != NULL)
            text = talloc_asprintf_append_buffer(text, "%s%s", *text != '\0' ? " " : "", word);
        talloc_free(word);
        if (word == NULL)
            return NULL;
    }
    return once != NULL ? text : NULL;
}

/* Turn a word of word_of_text into its text, in place. */
static void
text_of_word(char *word)
{
    char *to = word;
    for (; *word != '\0'; word++, to++) {
        bool space = strncmp(word, "%20", 3) == 0, percent = strncmp(word, "%25", 3) == 0;
        *to = space ? ' ' : *word;
        word += space || percent ? 2 : 0;
    }
    *to = '\0';
}

json_t *
words_split_texts(const char *text)
{
    struct jsonx_build texts = {text != NULL ? json_array() : NULL, false};
    const char *word;
    size_t length;
    while (words_next(&text, &word, &length)) {
        char *copy = talloc_strndup(NULL, word, length);
        if (copy != NULL)
            text_of_word(copy);
        jsonx_append(&texts, copy != NULL ? json_string(copy) : NULL);
        talloc_free(copy);
    }
    if (texts.lost)
        json_decref(texts.value);
    return jsonx_built(&texts);
}

json_t *
words_split(TALLOC_CTX *mem, const char *text)
{
    struct jsonx_build words = {jsonx_own(mem, json_array()), false};
    const char *word;
    size_t length;
    while (words_next(&text, &word, &length))
        if (!words_array_has_octets(words.value, word, length))
            jsonx_append(&words, json_stringn(word, length));
    return jsonx_built(&words);
}
