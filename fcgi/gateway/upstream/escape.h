/*
 * The ways in which an encoder writes one character of a text, for the search for a credential
 * (echo.h): itself, or an escape of JSON and programming languages (RFC 8259 section 7; `\/` of
 * PHP, `\x2f`), of addresses (RFC 3986 2.1) or of HTML (numbers and names). An encoder chooses for
 * each character anew, and an answer may hold a text that was escaped before: a tool that answers
 * with JSON has it as a text within JSON.
 */
#ifndef AZ_GATEWAY_UPSTREAM_ESCAPE_H
#define AZ_GATEWAY_UPSTREAM_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Octets that an escape begins with. */
#define ESCAPE_BEGINS "%\\&"

/* True if an escape may begin with the octet. */
static inline bool
escape_begins(char c)
{
    return c == '%' || c == '\\' || c == '&';
}

/* Escapes of escapes that are read: JSON or an address within JSON. Each makes reading dearer. */
#define ESCAPE_LAYERS 2
/* Longest escape that is read, in octets. Only leading zeros that no encoder writes would make one
 * longer. It limits how much of a stream is held back. */
#define ESCAPE_MAX 32

/* One octet or character of an answer, with its escapes undone. */
struct escape_unit {
    uint32_t value; /* an octet, or a code point */
    size_t length;  /* octets that it takes; 0: the text ends within it */
    bool octet;     /* the value is an octet, not a code point */
};

/* Return the octets that may stand behind one that an escape begins with, if they are not escaped
 * themselves; but for a backslash not those that stand for themselves. */
const char *escape_seconds(char begin);

/* Read what stands at the beginning of a text, through so many layers of escapes. What is no escape
 * is an octet that stands for itself; without layers each is. */
struct escape_unit escape_read(const char *text, size_t length, int layers);

/*
 * Return the number of octets of `wanted` (which has some left) that the unit stands for: 0 if it
 * stands for others. Code points stand for their UTF-8, and below 256 for an octet too, because
 * some encoders take octets for ISO 8859-1.
 */
size_t escape_stands_for(const struct escape_unit *unit, const char *wanted, size_t left);

#endif
