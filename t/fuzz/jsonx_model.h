/* The model for jsonx_parse() and jsonx_dump(): Jansson's own reader and writer behind the checks
 * that Jansson does not make. Slow and simple; for tests only. */
#ifndef AZ_T_FUZZ_JSONX_MODEL_H
#define AZ_T_FUZZ_JSONX_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* True if brackets outside strings nest at most max_depth deep. */
static inline bool
model_depth_within(const char *text, size_t len, size_t max_depth)
{
    size_t depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '"')
            in_string = !in_string;
        else if (in_string && c == '\\')
            i++;
        else if (!in_string && (c == '[' || c == '{') && ++depth > max_depth)
            return false;
        else if (!in_string && (c == ']' || c == '}') && depth > 0)
            depth--;
    }
    return true;
}

/* The caller's reference to the value of text, or NULL where text is to be refused. */
static inline json_t *
model_parse(const char *text, size_t len, size_t max_depth)
{
    if (text_has_nul(text, len) || !utf8_valid(text, len)
        || !model_depth_within(text, len, max_depth))
        return NULL;
    return json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
}

/* To be freed; NULL where Jansson cannot write it. */
static inline char *
model_dump(const json_t *value)
{
    return json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
}

/* True if a text is what Jansson writes for a value. A real may have fewer digits (9.2e16 may be
 * longer than 92000000000000000.0 all the same), but must name the same double. */
static inline bool
model_written(const char *text, const json_t *value)
{
    char *theirs = model_dump(value), *again = NULL;
    json_t *read = text != NULL ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    if (read != NULL && theirs != NULL && strcmp(text, theirs) != 0)
        again = model_dump(read);
    bool good = text == NULL || theirs == NULL ? text == theirs
                                               : strcmp(again != NULL ? again : text, theirs) == 0;
    json_decref(read);
    free(theirs);
    free(again);
    return good;
}

/* Equal values, and the same order of members, which json_equal() does not look at. */
static inline bool
model_same(const json_t *one, const json_t *other)
{
    char *a = model_dump(one), *b = model_dump(other);
    bool same = a != NULL && b != NULL && strcmp(a, b) == 0 && json_equal(one, other);
    free(a);
    free(b);
    return same;
}

#endif
