#include "config.h"

#include "http/page/page_text.h"

#include <string.h>

bool
text_next(const char **text, struct text_part *ret)
{
    const char *at = *text;
    size_t words = strcspn(at, "{}"), name = 0;
    if (at[words] != '\0') {
        name = strspn(at + words + 1, TEMPLATE_NAME_CHARS);
        *text = at + words;
        if (at[words] != '{' || name == 0 || name > TEMPLATE_NAME_MAX
            || at[words + 1 + name] != '}')
            return false;
    }
    if (*at == '\0')
        return false;
    ret->words = at;
    ret->length = words;
    memcpy(ret->value, at + words + (name > 0), name);
    ret->value[name] = '\0';
    *text = at + words + (name > 0 ? name + 2 : 0);
    return true;
}

/* True if each value of a text is one of the other, and the text has no fault. */
static bool
is_within(const char *text, const char *other)
{
    struct text_part part, there;
    while (text_next(&text, &part)) {
        bool found = part.value[0] == '\0';
        for (const char *at = other; !found && text_next(&at, &there);)
            found = strcmp(part.value, there.value) == 0;
        if (!found)
            return false;
    }
    return *text == '\0';
}

bool
text_same_values(const char *text, const char *other)
{
    return is_within(text, other) && is_within(other, text);
}
