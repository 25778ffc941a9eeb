#include "config.h"

#include "base/json/jsonx_text.h"

#include "base/digits.h"

/* Return the value of the four hexadecimal digits at text, or -1. */
static long
text_hex_four(const char *text)
{
    long value = 0;

    for (size_t i = 0; i < 4; i++) {
        int digit = digits_hex(text[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Read the digits after \u, and the second escape of a pair: a surrogate without its other half
 * has no UTF-8. Return the code point, or -1. */
static long
read_code_point(const char **at, const char *end)
{
    long point = end - *at >= 4 ? text_hex_four(*at) : -1;
    if (point < 0 || (point >= 0xdc00 && point <= 0xdfff))
        return -1;
    *at += 4;
    if (point < 0xd800 || point > 0xdbff)
        return point;
    if (end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return -1;
    long low = text_hex_four(*at + 2);
    if (low < 0xdc00 || low > 0xdfff)
        return -1;
    *at += 6;
    return 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
}

/* Write a code point as UTF-8, which is never longer than its escape. Return the number of
 * octets. */
static size_t
put_utf8(char *out, long point)
{
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t octets = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

    if (octets == 1) {
        *out = (char) point;
        return 1;
    }
    for (size_t i = octets - 1; i > 0; i--) {
        out[i] = (char) (0x80 | (point & 0x3f));
        point >>= 6;
    }
    out[0] = (char) (leads[octets] | point);
    return octets;
}

/* Decode the escape after a backslash: move *at behind it and append its character to *out. */
static enum jsonx_escape
read_escape(const char **at, const char *end, char **out)
{
    static const char letters[] = "\"\\/bfnrt", octets[] = "\"\\/\b\f\n\r\t";

    if (*at == end)
        return JSONX_ESCAPE_BAD;
    char letter = *(*at)++;
    if (letter == 'u') {
        long point = read_code_point(at, end);
        if (point <= 0)
            return point == 0 ? JSONX_ESCAPE_NUL : JSONX_ESCAPE_BAD;
        *out += put_utf8(*out, point);
        return JSONX_ESCAPE_FINE;
    }
    const char *place = memchr(letters, letter, sizeof(letters) - 1);
    if (place == NULL)
        return JSONX_ESCAPE_BAD;
    *(*out)++ = octets[place - letters];
    return JSONX_ESCAPE_FINE;
}

enum jsonx_escape
jsonx_unescape(const char *text, size_t length, char *out, size_t *ret_length)
{
    const char *at = text, *end = text + length;
    char *next = out;

    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t) (end - at));
        size_t run = (size_t) ((escape != NULL ? escape : end) - at);
        memcpy(next, at, run);
        next += run;
        if (escape == NULL)
            break;
        at = escape + 1;
        enum jsonx_escape outcome = read_escape(&at, end, &next);
        if (outcome != JSONX_ESCAPE_FINE)
            return outcome;
    }
    *ret_length = (size_t) (next - out);
    return JSONX_ESCAPE_FINE;
}

size_t
jsonx_put_escape(char *room, unsigned char octet)
{
    static const char hex[] = "0123456789ABCDEF";
    static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* octet, letter */

    room[0] = '\\';
    for (size_t i = 0; i < sizeof(shorts) - 1; i += 2) {
        if ((unsigned char) shorts[i] == octet) {
            room[1] = shorts[i + 1];
            return 2;
        }
    }
    memcpy(room + 1, "u00", 3);
    room[4] = hex[octet >> 4];
    room[5] = hex[octet & 15];
    return JSONX_ESCAPE_MAX;
}
