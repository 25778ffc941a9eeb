#include "config.h"

#include "base/visible.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/utf8.h"

/* First and last code points of a block. */
struct range {
    unsigned first, last;
    enum visible_class class;
};

/* All characters that show nothing alone; the first row that has a character counts. The variation
 * selectors of the first plane end many an emoji. */
static const struct range ranges[] = {
    {0x00,    0x1f,    VISIBLE_CONTROL },
    {0x20,    0x20,    VISIBLE_BLANK   },
    {0x7f,    0x9f,    VISIBLE_CONTROL },
    {0xa0,    0xa0,    VISIBLE_BLANK   },
    {0xad,    0xad,    VISIBLE_NOTHING },
    {0x34f,   0x34f,   VISIBLE_BLANK   },
    {0x61c,   0x61c,   VISIBLE_MARK    },
    {0x115f,  0x1160,  VISIBLE_BLANK   },
    {0x1680,  0x1680,  VISIBLE_BLANK   },
    {0x17b4,  0x17b5,  VISIBLE_BLANK   },
    {0x180e,  0x180e,  VISIBLE_NOTHING },
    {0x180b,  0x180f,  VISIBLE_BLANK   },
    {0x2000,  0x200a,  VISIBLE_BLANK   },
    {0x200b,  0x200d,  VISIBLE_NOTHING },
    {0x200e,  0x200f,  VISIBLE_MARK    },
    {0x2028,  0x2029,  VISIBLE_CONTROL },
    {0x202a,  0x202e,  VISIBLE_REORDERS},
    {0x202f,  0x202f,  VISIBLE_BLANK   },
    {0x205f,  0x205f,  VISIBLE_BLANK   },
    {0x2060,  0x2065,  VISIBLE_NOTHING },
    {0x2066,  0x2069,  VISIBLE_REORDERS},
    {0x206a,  0x206f,  VISIBLE_NOTHING },
    {0x2800,  0x2800,  VISIBLE_BLANK   },
    {0x3000,  0x3000,  VISIBLE_BLANK   },
    {0x3164,  0x3164,  VISIBLE_BLANK   },
    {0xfe00,  0xfe0f,  VISIBLE_BLANK   },
    {0xfeff,  0xfeff,  VISIBLE_NOTHING },
    {0xffa0,  0xffa0,  VISIBLE_BLANK   },
    {0xfff9,  0xfffb,  VISIBLE_NOTHING },
    {0x1d173, 0x1d17a, VISIBLE_NOTHING },
    {0xe0100, 0xe01ef, VISIBLE_SELECTOR},
    {0xe0000, 0xe0fff, VISIBLE_TAG     },
};

enum visible_class
visible_next(const char **text)
{
    unsigned point;
    *text += utf8_step(*text, &point);
    if (point == UTF8_MALFORMED)
        return VISIBLE_MALFORMED;
    if (point > 0x20 && point < 0x7f)
        return VISIBLE_GLYPH;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (point >= ranges[i].first && point <= ranges[i].last)
            return ranges[i].class;
    return VISIBLE_GLYPH;
}

const char *
visible_fault(const char *text)
{
    bool shows = *text == '\0';
    while (*text != '\0') {
        enum visible_class class = visible_next(&text);
        if (class > VISIBLE_SELECTOR)
            return "must not have control or invisible characters";
        shows = shows || class == VISIBLE_GLYPH;
    }
    return shows ? NULL : "must not be blank";
}
