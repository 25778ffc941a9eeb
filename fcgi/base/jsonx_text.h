/* The inside of JSON strings, for jsonx_read.c and jsonx_write.c: plain octets and escapes. */
#ifndef AZ_BASE_JSONX_TEXT_H
#define AZ_BASE_JSONX_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Deepest nesting that is written, and read whatever the caller allows: Jansson's own bound. */
#define JSONX_DEPTH_MAX 2048

/* An octet that stands for itself in a JSON string and is ASCII: no control, quote or backslash. */
static inline bool
jsonx_is_plain(unsigned char octet)
{
    return octet >= 0x20 && octet < 0x80 && octet != '"' && octet != '\\';
}

/*
 * How many of the first octets of text are plain; eight at a time, as most strings are plain from
 * end to end. The sum of a word with its octets' high bits off carries into no neighbour, so an
 * octet is told exactly: below 0x20, high bit, or equal to quote or backslash (zero after xor).
 */
static inline size_t
jsonx_plain_length(const char *text, size_t length)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x80 * ones, lows = 0x7f * ones;
    size_t at = 0;

    for (; length - at >= sizeof(uint64_t); at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, text + at, sizeof(word));
        uint64_t printable = (word & lows) + 0x60 * ones;
        uint64_t no_quote = ((word ^ '"' * ones) & lows) + lows;
        uint64_t no_backslash = ((word ^ '\\' * ones) & lows) + lows;
        if (((printable & no_quote & no_backslash & ~word) & highs) != highs)
            break;
    }
    while (at < length && jsonx_is_plain((unsigned char) text[at]))
        at++;
    return at;
}

enum jsonx_escape {
    JSONX_ESCAPE_FINE,
    JSONX_ESCAPE_BAD, /* unknown, cut short, or half a pair of surrogates: that has no UTF-8 */
    JSONX_ESCAPE_NUL, /* \u0000, which would end the string for whoever reads it in C */
};

/*
 * Replaces the escapes in length octets of text, which hold no control character and no quote that
 * is not escaped. out has room for length octets: no escape is shorter than what it stands for.
 */
enum jsonx_escape jsonx_unescape(const char *text, size_t length, char *out, size_t *ret_length);

/* Longest escape that is written, \u001F. Octets. */
#define JSONX_ESCAPE_MAX 6

/* Puts the escape of a quote, a backslash or a control character at room, which holds the longest.
 * Returns the octets put. */
size_t jsonx_put_escape(char *room, unsigned char octet);

#endif
