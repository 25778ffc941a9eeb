/* UTF-8 (RFC 3629). All text from outside is checked here before it reaches JSON, SQL or a log. */
#ifndef AZ_BASE_UTF8_H
#define AZ_BASE_UTF8_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

/*
 * True if all len octets are well-formed UTF-8. Refused are overlong forms (which hide a '/' or a
 * NUL from checks of octets), surrogates and code points above U+10FFFF. A NUL octet is a valid
 * code point: use text_has_nul() too if a C string or PostgreSQL will store the text.
 */
bool utf8_valid(const char *text, size_t len);

/* True if one of len octets is NUL. */
bool text_has_nul(const char *text, size_t len);

/* Return the number of code points in len octets that utf8_valid() accepts, as char_length() of
 * PostgreSQL counts them. */
size_t utf8_length(const char *text, size_t len);

/* utf8_step() returns this, which is no code point, for an octet that begins no well-formed
 * sequence. */
#define UTF8_MALFORMED 0x110000U

/*
 * Return the octets of the first character of a text that ends with a NUL, and its code point. An
 * octet that begins no well-formed sequence is one character. At the end of the text the length is
 * 0: no caller can walk past it, whatever the text has.
 */
size_t utf8_step(const char *text, unsigned *ret_point);

/*
 * Return the length of the start of a text that has at most max octets and does not end within a
 * character. Every text that has a limit is cut with this function: half a character is no JSON and
 * no text of PostgreSQL. The text ends with a NUL, or has max octets.
 */
size_t utf8_start(const char *text, size_t max);

/* Return a copy of that start. */
char *utf8_strndup(TALLOC_CTX *mem, const char *text, size_t max);

/* The arguments of "%.*s" for that start. The text is evaluated twice. */
#define UTF8_SHOWN(text, max) (int) utf8_start((text), (max)), (text)

/* Do the same as snprintf() and vsnprintf() with texts as arguments, and do not end within a
 * character. */
void utf8_print(char *room, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void utf8_vprint(char *room, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

#endif
