#include "config.h"

#include "gateway/upstream/escape.h"

#include <ctype.h>
#include <string.h>

#include "base/digits.h"

#define CODE_POINT_MAX 0x10ffff

/* A place in the text, behind what was read of an escape. */
struct place {
    const char *at;
    size_t left, used;
    int layers; /* of what is read next */
    bool ended; /* the text ends within the escape */
};

/* Read the next character of an escape. False: the text ends, or the escape is too long. */
static bool
next(struct place *place, uint32_t *ret)
{
    struct escape_unit unit = escape_read(place->at, place->left, place->layers);
    if (unit.length == 0 || place->used + unit.length > ESCAPE_MAX) {
        place->ended = unit.length == 0;
        return false;
    }
    place->at += unit.length;
    place->left -= unit.length;
    place->used += unit.length;
    *ret = unit.value;
    return true;
}

/* Read so many hexadecimal digits. */
static bool
hex(struct place *place, int count, uint32_t *ret)
{
    *ret = 0;
    for (int i = 0; i < count; i++) {
        uint32_t c;
        int digit = next(place, &c) && c < 128 ? digits_hex((char) c) : -1;
        if (digit < 0)
            return false;
        *ret = *ret << 4 | (uint32_t) digit;
    }
    return true;
}

/* %XX (RFC 3986 2.1). */
static bool
read_percent(struct place *place, struct escape_unit *ret)
{
    ret->octet = true;
    return hex(place, 2, &ret->value);
}

/* The second half of a surrogate pair, \uXXXX (RFC 8259 section 7). */
static bool
read_low(struct place *place, uint32_t *value)
{
    uint32_t c, low;
    if (!next(place, &c) || c != '\\' || !next(place, &c) || c != 'u' || !hex(place, 4, &low)
        || low < 0xdc00 || low > 0xdfff)
        return false;
    *value = 0x10000 + ((*value - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

/* \uXXXX, \xXX, or a backslash before a character that is no letter and no digit. */
static bool
read_backslash(struct place *place, struct escape_unit *ret)
{
    uint32_t c;
    if (!next(place, &c))
        return false;
    if (c == 'x') {
        ret->octet = true;
        return hex(place, 2, &ret->value);
    }
    if (c == 'u')
        return hex(place, 4, &ret->value)
               && (ret->value < 0xd800 || ret->value > 0xdbff || read_low(place, &ret->value));
    ret->value = c;
    return c < 128 && ispunct((int) c);
}

/* Names that encoders of HTML give to characters of a credential. */
static const struct {
    const char *name;
    char value;
} names[] = {
    {"amp",    '&' },
    {"lt",     '<' },
    {"gt",     '>' },
    {"quot",   '"' },
    {"apos",   '\''},
    {"plus",   '+' },
    {"sol",    '/' },
    {"equals", '=' },
    {"bsol",   '\\'},
    {"lowbar", '_' },
    {"period", '.' },
    {"colon",  ':' },
    {"comma",  ',' },
    {"semi",   ';' },
    {"num",    '#' },
    {"dollar", '$' },
    {"percnt", '%' },
    {"excl",   '!' },
    {"quest",  '?' },
    {"ast",    '*' },
    {"commat", '@' },
    {"Hat",    '^' },
    {"grave",  '`' },
    {"lpar",   '(' },
    {"rpar",   ')' },
    {"lsqb",   '[' },
    {"rsqb",   ']' },
    {"lcub",   '{' },
    {"rcub",   '}' },
    {"verbar", '|' },
    {"vert",   '|' },
};
#define NAME_OCTETS 6

/* A name and a semicolon. */
static bool
read_name(struct place *place, uint32_t c, struct escape_unit *ret)
{
    char name[NAME_OCTETS + 1];
    size_t length = 0;
    while (c < 128 && isalpha((int) c) && length < NAME_OCTETS) {
        name[length++] = (char) c;
        if (!next(place, &c))
            return false;
    }
    name[length] = '\0';
    for (size_t i = 0; c == ';' && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].name, name) == 0) {
            ret->value = (unsigned char) names[i].value;
            return true;
        }
    return false;
}

/* The digits of a number, and the semicolon behind it, without which browsers read it too. */
static bool
read_number(struct place *place, uint32_t base, uint32_t *ret)
{
    bool some = false;
    for (*ret = 0; *ret <= CODE_POINT_MAX; some = true) {
        struct place before = *place;
        uint32_t c = 0;
        if (!next(place, &c) && place->ended)
            return false;
        int digit = c < 128 ? digits_hex((char) c) : -1;
        if (digit < 0 || (uint32_t) digit >= base) {
            if (c != ';')
                *place = before;
            return some;
        }
        *ret = *ret * base + (uint32_t) digit;
    }
    return false;
}

/* &#43; &#x2B; or a name. */
static bool
read_entity(struct place *place, struct escape_unit *ret)
{
    uint32_t c;
    if (!next(place, &c))
        return false;
    if (c != '#')
        return read_name(place, c, ret);
    struct place before = *place;
    if (!next(place, &c))
        return false;
    bool in_hex = c == 'x' || c == 'X';
    if (!in_hex)
        *place = before;
    return read_number(place, in_hex ? 16 : 10, &ret->value);
}

/* ---- one unit */

/* The kinds of escapes, by the octet that they begin with. */
static const struct {
    char begin;
    const char *seconds;
    bool (*read)(struct place *place, struct escape_unit *ret);
} kinds[] = {
    {'%',  "0123456789ABCDEFabcdef", read_percent  },
    {'\\', "ux",                     read_backslash},
    {'&',  "#abcdeglnpqrsvH",        read_entity   },
};

const char *
escape_seconds(char begin)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i].begin == begin)
            return kinds[i].seconds;
    return "";
}

struct escape_unit
escape_read(const char *text, size_t length, int layers)
{
    if (length == 0)
        return (struct escape_unit){.length = 0};
    if (layers == 0 || !escape_begins(*text))
        return (struct escape_unit){(unsigned char) *text, 1, true};
    struct escape_unit first = escape_read(text, length, layers - 1), whole = {.octet = false};
    struct place place = {text + first.length, length - first.length, first.length, layers - 1,
                          first.length == 0};
    for (size_t i = 0; !place.ended && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (first.value == (unsigned char) kinds[i].begin && kinds[i].read(&place, &whole)) {
            whole.length = place.used;
            return whole;
        }
    return place.ended ? (struct escape_unit){.length = 0} : first;
}

/* Write a code point as UTF-8 (RFC 3629 section 3). Return the number of octets. */
static size_t
to_utf8(uint32_t value, char ret[4])
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, value >>= 6)
        ret[i] = (char) (0x80 | (value & 0x3f));
    ret[0] = (char) (lead[length] | value);
    return length;
}

size_t
escape_stands_for(const struct escape_unit *unit, const char *wanted, size_t left)
{
    char octets[4];
    size_t length = unit->octet ? 0 : to_utf8(unit->value, octets);
    if (length > 0 && length <= left && memcmp(octets, wanted, length) == 0)
        return length;
    return left > 0 && unit->value == (unsigned char) *wanted;
}
