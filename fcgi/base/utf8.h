/* UTF-8 (RFC 3629). All text from outside is checked here before it reaches JSON, SQL or a log. */
#ifndef AZ_BASE_UTF8_H
#define AZ_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
