/* Sets of characters of patterns, and the forms in which a pattern writes them. */
#include "config.h"

#include <string.h>

#include "rego/pattern_private.h"

void
pattern_set_add(struct character_set *set, unsigned first, unsigned last)
{
    for (unsigned c = first; c <= last; c++)
        set->bits[c / 64] |= (uint64_t) 1 << (c % 64);
}

static void
set_join(struct character_set *set, const struct character_set *other, bool negated)
{
    set->bits[0] |= negated ? ~other->bits[0] : other->bits[0];
    set->bits[1] |= negated ? ~other->bits[1] : other->bits[1];
    set->beyond |= other->beyond != negated;
}

void
pattern_set_fold(struct character_set *set)
{
    for (unsigned c = 'A'; c <= 'Z'; c++)
        if (pattern_set_has(set, c) || pattern_set_has(set, c | 0x20)) {
            pattern_set_add(set, c, c);
            pattern_set_add(set, c | 0x20, c | 0x20);
        }
}

bool
pattern_set_add_class(struct character_set *set, char letter)
{
    struct character_set class = {0};
    char small = (char) (letter | 0x20);
    if (small == 'd' || small == 'w')
        pattern_set_add(&class, '0', '9');
    if (small == 'w') {
        pattern_set_add(&class, 'A', 'Z');
        pattern_set_add(&class, 'a', 'z');
        pattern_set_add(&class, '_', '_');
    }
    if (small == 's') {
        pattern_set_add(&class, '\t', '\n');
        pattern_set_add(&class, '\f', '\r');
        pattern_set_add(&class, ' ', ' ');
    }
    if (small != 'd' && small != 'w' && small != 's')
        return false;
    set_join(set, &class, letter != small);
    return true;
}

/* The classes of POSIX, as pairs of first and last characters. */
static const struct {
    const char *name, *ranges;
} posix_classes[] = {
    {"[:alnum:]",  "09AZaz"  },
    {"[:alpha:]",  "AZaz"    },
    {"[:blank:]",  "\t\t  "  },
    {"[:digit:]",  "09"      },
    {"[:graph:]",  "!~"      },
    {"[:lower:]",  "az"      },
    {"[:print:]",  " ~"      },
    {"[:punct:]",  "!/:@[`{~"},
    {"[:space:]",  "\t\r  "  },
    {"[:upper:]",  "AZ"      },
    {"[:word:]",   "09AZaz__"},
    {"[:xdigit:]", "09AFaf"  },
};

/* Add a POSIX class. False: its name is unknown. */
static bool
set_add_posix(struct pattern_reader *reader, struct character_set *set)
{
    for (size_t i = 0; i < sizeof(posix_classes) / sizeof(posix_classes[0]); i++) {
        size_t length = strlen(posix_classes[i].name);
        if ((size_t) (reader->end - reader->at) < length
            || memcmp(reader->at, posix_classes[i].name, length) != 0)
            continue;
        for (const char *c = posix_classes[i].ranges; *c != '\0'; c += 2)
            pattern_set_add(set, (unsigned char) c[0], (unsigned char) c[1]);
        reader->at += length;
        return true;
    }
    return false;
}

bool
pattern_is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

int
pattern_read_escaped(struct pattern_reader *reader)
{
    static const char letters[] = "afnrtv", controls[] = "\a\f\n\r\t\v";
    char c = *reader->at++;
    const char *known = strchr(letters, c);
    if (c != '\0' && known != NULL)
        return controls[known - letters];
    return c > 0x20 && c < 0x7f && !pattern_is_alphanumeric(c) ? c : -1;
}

/* Read one end of a range within brackets. Returns -1 for what is not a single character. */
static int
read_set_character(struct pattern_reader *reader)
{
    if (reader->at >= reader->end)
        return -1;
    if (*reader->at != '\\')
        return *reader->at++;
    reader->at++;
    return reader->at < reader->end ? pattern_read_escaped(reader) : -1;
}

bool
pattern_read_set(struct pattern_reader *reader, struct character_set *ret)
{
    bool negated = reader->at < reader->end && *reader->at == '^';
    struct character_set set = {0};
    reader->at += negated;
    for (bool first = true; reader->at < reader->end && (first || *reader->at != ']');
         first = false) {
        if (*reader->at == '[' && reader->at + 1 < reader->end && reader->at[1] == ':') {
            if (!set_add_posix(reader, &set))
                return false;
            continue;
        }
        if (*reader->at == '\\' && reader->at + 1 < reader->end
            && pattern_set_add_class(&set, reader->at[1])) {
            reader->at += 2;
            continue;
        }
        int from = read_set_character(reader), to = from;
        if (reader->at + 1 < reader->end && *reader->at == '-' && reader->at[1] != ']') {
            reader->at++;
            to = read_set_character(reader);
        }
        if (from < 0 || to < from)
            return false;
        pattern_set_add(&set, (unsigned) from, (unsigned) to);
    }
    if (reader->at >= reader->end)
        return false;
    reader->at++;
    if (reader->flags.fold)
        pattern_set_fold(&set);
    *ret = (struct character_set){0};
    set_join(ret, &set, negated);
    return true;
}
