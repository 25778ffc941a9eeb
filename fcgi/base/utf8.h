/* UTF-8 (RFC 3629). All text from outside passes here before it reaches JSON, SQL or a log. */
#ifndef AZ_BASE_UTF8_H
#define AZ_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether all len octets are well-formed UTF-8. Overlong forms (which hide a '/' or a NUL from
 * checks that look at octets), surrogates and code points above U+10FFFF are refused. A NUL octet
 * is a valid code point: ask text_has_nul() too where a C string or PostgreSQL will hold the text.
 */
bool utf8_valid(const char *text, size_t len);

bool text_has_nul(const char *text, size_t len);

/* Code points in len octets that utf8_valid() accepts, as PostgreSQL's char_length() counts. */
size_t utf8_length(const char *text, size_t len);

#endif
