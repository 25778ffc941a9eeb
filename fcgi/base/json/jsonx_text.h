/* The contents of JSON strings, for jsonx_read.c and jsonx_write.c: plain octets and escapes. */
#ifndef AZ_BASE_JSON_JSONX_TEXT_H
#define AZ_BASE_JSON_JSONX_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Deepest nesting that is written, and that is read whatever the caller allows: Jansson's own
 * limit. */
#define JSONX_DEPTH_MAX 2048

/* True for an octet that needs no escape in a JSON string and is ASCII: no control, quote or
 * backslash. */
static inline bool
jsonx_is_plain(unsigned char octet)
{
    return octet >= 0x20 && octet < 0x80 && octet != '"' && octet != '\\';
}

/*
 * True if eight octets are plain. The sum of a word with the high bits of its octets cleared
 * carries into no neighbour, so each octet is classified exactly: below 0x20, high bit set, or
 * equal to quote or backslash (zero after xor).
 */
static inline bool
jsonx_are_plain(const char *text)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x80 * ones, lows = 0x7f * ones;
    uint64_t word;
    memcpy(&word, text, sizeof(word));
    uint64_t printable = (word & lows) + 0x60 * ones;
    uint64_t no_quote = ((word ^ '"' * ones) & lows) + lows;
    uint64_t no_backslash = ((word ^ '\\' * ones) & lows) + lows;
    return ((printable & no_quote & no_backslash & ~word) & highs) == highs;
}

/* Return how many octets at the beginning of a text are plain. Eight are looked at together,
 * because most strings are plain throughout; the last eight overlap those before. */
static inline size_t
jsonx_plain_length(const char *text, size_t length)
{
    const size_t each = sizeof(uint64_t);
    size_t at = 0;

    while (length - at >= each && jsonx_are_plain(text + at))
        at += each;
    if (at > 0 && length - at < each && jsonx_are_plain(text + length - each))
        return length;
    while (at < length && jsonx_is_plain((unsigned char) text[at]))
        at++;
    return at;
}

enum jsonx_escape {
    JSONX_ESCAPE_FINE,
    JSONX_ESCAPE_BAD, /* unknown, incomplete, or half a pair of surrogates, which has no UTF-8 */
    JSONX_ESCAPE_NUL, /* \u0000, which would end a C string */
};

/*
 * Replace the escapes in length octets of text, which contain no control character and no unescaped
 * quote. out has room for length octets: an escape is never shorter than its character.
 */
enum jsonx_escape jsonx_unescape(const char *text, size_t length, char *out, size_t *ret_length);

/* Longest escape that is written (\u001F), in octets. */
#define JSONX_ESCAPE_MAX 6

/* Write the escape of a quote, a backslash or a control character to room, which has space for
 * the longest. Return the number of octets. */
size_t jsonx_put_escape(char *room, unsigned char octet);

#endif
