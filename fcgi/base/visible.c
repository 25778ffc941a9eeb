#include "config.h"

#include "base/visible.h"

#include <stdbool.h>
#include <stddef.h>

/* First and last code points of a block. */
struct range {
    unsigned first, last;
};

/* Invisible characters, and those that reorder the text around them. */
static const struct range unseen[] = {
    {0x00,    0x1f   },
    {0x7f,    0x9f   },
    {0xad,    0xad   },
    {0x61c,   0x61c  },
    {0x180e,  0x180e },
    {0x200b,  0x200f },
    {0x2028,  0x202e },
    {0x2060,  0x206f },
    {0xfeff,  0xfeff },
    {0xfff9,  0xfffb },
    {0x1d173, 0x1d17a},
    {0xe0000, 0xe007f},
};

/* Characters that are allowed among others but show nothing alone: blanks, fillers, joiners, and
 * the variation selectors that end many an emoji. */
static const struct range blank[] = {
    {0x20,    0x20   },
    {0xa0,    0xa0   },
    {0x34f,   0x34f  },
    {0x115f,  0x1160 },
    {0x1680,  0x1680 },
    {0x17b4,  0x17b5 },
    {0x180b,  0x180f },
    {0x2000,  0x200a },
    {0x202f,  0x202f },
    {0x205f,  0x205f },
    {0x2800,  0x2800 },
    {0x3000,  0x3000 },
    {0x3164,  0x3164 },
    {0xfe00,  0xfe0f },
    {0xffa0,  0xffa0 },
    {0xe0100, 0xe01ef},
};

/* Return the code point at *text, which is valid UTF-8, and move *text behind it. */
static unsigned
next_code_point(const char **text)
{
    const unsigned char *c = (const unsigned char *) *text;
    int more = c[0] >= 0xf0 ? 3 : c[0] >= 0xe0 ? 2 : c[0] >= 0xc0 ? 1 : 0;
    unsigned value = more == 0 ? c[0] : c[0] & (0x3fU >> more);
    for (int i = 1; i <= more; i++)
        value = value << 6 | (c[i] & 0x3fU);
    *text += 1 + more;
    return value;
}

static bool
is_in(unsigned point, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (point >= ranges[i].first && point <= ranges[i].last)
            return true;
    return false;
}

const char *
visible_fault(const char *text)
{
    bool shows = *text == '\0';
    while (*text != '\0') {
        unsigned point = next_code_point(&text);
        if (is_in(point, unseen, sizeof(unseen) / sizeof(unseen[0])))
            return "must not have control or invisible characters";
        shows = shows || !is_in(point, blank, sizeof(blank) / sizeof(blank[0]));
    }
    return shows ? NULL : "must not be blank";
}
