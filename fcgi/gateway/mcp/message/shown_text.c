#include "config.h"

#include "gateway/mcp/message/shown_text.h"

#include <string.h>

/* True for a character that is not shown: controls, other ends of lines, and those that reorder
 * text, with which an upstream could make one entry look like another; and the tags and selectors
 * of plane 14, which models read and people do not see. */
static bool
is_hidden(unsigned long c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f
           || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069)
           || (c >= 0xe0000 && c <= 0xe0fff);
}

/* Return the code point at a place of well-formed UTF-8, and its octets. */
static unsigned long
code_point(const char *at, size_t *ret_octets)
{
    unsigned char first = (unsigned char) *at;
    size_t octets = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    unsigned long c = octets == 1 ? first : first & (0x7fU >> octets);
    for (size_t i = 1; i < octets; i++)
        c = c << 6 | ((unsigned char) at[i] & 0x3fU);
    *ret_octets = octets;
    return c;
}

/* Copy at most max characters that are shown, and line feeds if `lines`. NULL: out of memory. */
static char *
copy_shown(TALLOC_CTX *mem, const char *text, size_t max, bool lines)
{
    char *shown = talloc_strdup(mem, text);
    size_t length = 0, characters = 0, octets;
    if (shown == NULL)
        return NULL;
    for (const char *at = text; *at != '\0' && characters < max; at += octets) {
        if (is_hidden(code_point(at, &octets)) && !(lines && *at == '\n'))
            continue;
        memmove(shown + length, at, octets);
        length += octets;
        characters++;
    }
    shown[length] = '\0';
    return shown;
}

json_t *
shown_text(TALLOC_CTX *mem, const char *text)
{
    const char *shown = copy_shown(mem, text, SHOWN_TEXT_MAX, false);
    return shown != NULL ? json_string(shown) : NULL;
}

const char *
shown_lines(TALLOC_CTX *mem, const char *text)
{
    return copy_shown(mem, text, strlen(text), true);
}

const char *
shown_instructions(TALLOC_CTX *mem, const char *text)
{
    return copy_shown(mem, text, SHOWN_INSTRUCTIONS_MAX, true);
}

bool
shown_is_plain(const char *text)
{
    size_t octets;
    for (const char *at = text; *at != '\0'; at += octets)
        if (is_hidden(code_point(at, &octets)))
            return false;
    return true;
}
