#include "config.h"

#include "gateway/mcp/message/shown_text.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/visible.h"

/* The characters that are taken out of a text. */
enum hiding {
    HIDE_NAMES, /* in one line: every character that could make one entry look like another */
    HIDE_LINES, /* of several lines: the same, but for line feeds */
    HIDE_WORDS, /* of a result: what reorders text, and what models read and people do not see */
};

/* True for a character that is taken out; `at` is its place. */
static bool
is_hidden(enum visible_class class, const char *at, enum hiding hiding)
{
    switch (class) {
    case VISIBLE_REORDERS:
    case VISIBLE_TAG:
    case VISIBLE_SELECTOR:
    case VISIBLE_MALFORMED:
        return true;
    case VISIBLE_MARK:
        return hiding != HIDE_WORDS;
    case VISIBLE_CONTROL:
        return hiding != HIDE_WORDS && !(hiding == HIDE_LINES && *at == '\n');
    default:
        return false;
    }
}

/* Copy at most max characters that are shown. NULL: out of memory. */
static char *
copy_shown(TALLOC_CTX *mem, const char *text, size_t max, enum hiding hiding)
{
    char *shown = talloc_strdup(mem, text);
    size_t length = 0, characters = 0;
    if (shown == NULL)
        return NULL;
    for (const char *at = text, *next = text; *at != '\0' && characters < max; at = next) {
        if (is_hidden(visible_next(&next), at, hiding))
            continue;
        memmove(shown + length, at, (size_t) (next - at));
        length += (size_t) (next - at);
        characters++;
    }
    shown[length] = '\0';
    return shown;
}

/* True if nothing would be taken out of a text. */
static bool
is_plain(const char *text, enum hiding hiding)
{
    for (const char *at = text, *next = text; *at != '\0'; at = next)
        if (is_hidden(visible_next(&next), at, hiding))
            return false;
    return true;
}

json_t *
shown_text(TALLOC_CTX *mem, const char *text)
{
    const char *shown = copy_shown(mem, text, SHOWN_TEXT_MAX, HIDE_NAMES);
    return shown != NULL ? json_string(shown) : NULL;
}

const char *
shown_lines(TALLOC_CTX *mem, const char *text)
{
    return copy_shown(mem, text, strlen(text), HIDE_LINES);
}

const char *
shown_instructions(TALLOC_CTX *mem, const char *text)
{
    return copy_shown(mem, text, SHOWN_INSTRUCTIONS_MAX, HIDE_LINES);
}

bool
shown_is_plain(const char *text)
{
    return is_plain(text, HIDE_NAMES);
}

/* ---- results */

/* True if nothing would be taken out of a text. The first octet tells of most: what is taken out
 * begins with one of two. */
static bool
text_is_plain(const char *text)
{
    const char *first = strpbrk(text, "\xe2\xf3");
    return first == NULL || is_plain(first, HIDE_WORDS);
}

/* True if nothing would be taken out of a value. */
static bool
value_is_plain(const json_t *value)
{
    size_t index;
    const char *name;
    json_t *inner;
    if (json_is_string(value))
        return text_is_plain(json_string_value(value));
    json_array_foreach (value, index, inner)
        if (!value_is_plain(inner))
            return false;
    json_object_foreach ((json_t *) (uintptr_t) value, name, inner)
        if (!text_is_plain(name) || !value_is_plain(inner))
            return false;
    return true;
}

static json_t *
plain_array(TALLOC_CTX *mem, const json_t *array)
{
    struct jsonx_build plain = {json_array(), false};
    size_t index;
    json_t *inner;
    json_array_foreach (array, index, inner)
        jsonx_append(&plain, shown_value(mem, inner));
    if (plain.lost)
        json_decref(plain.value);
    return jsonx_built(&plain);
}

static json_t *
plain_object(TALLOC_CTX *mem, json_t *object)
{
    struct jsonx_build plain = {json_object(), false};
    const char *name;
    json_t *inner;
    json_object_foreach (object, name, inner) {
        plain.lost = plain.lost || !text_is_plain(name);
        jsonx_set(&plain, name, shown_value(mem, inner));
    }
    if (plain.lost)
        json_decref(plain.value);
    return jsonx_built(&plain);
}

json_t *
shown_value(TALLOC_CTX *mem, json_t *value)
{
    if (value_is_plain(value))
        return json_incref(value);
    if (json_is_array(value))
        return plain_array(mem, value);
    if (json_is_object(value))
        return plain_object(mem, value);
    const char *text = json_string_value(value);
    const char *shown = copy_shown(mem, text, strlen(text), HIDE_WORDS);
    return shown != NULL ? json_string(shown) : NULL;
}
