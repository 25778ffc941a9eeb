/* Raw characters in the target of a request. Browsers leave some as they are that RFC 3986 does not
 * have (WHATWG URL), and stock APIs are asked with them: ?filter[status]=open. */
#ifndef AZ_BASE_RAW_URI_H
#define AZ_BASE_RAW_URI_H

#include <talloc.h>

/* The part of a target. */
enum raw_uri_part { RAW_URI_PATH, RAW_URI_QUERY };

/*
 * Return a path, or a query without its "?", with these raw characters encoded: " < > [ ] ^ { | }
 * and the backtick, and in a query the backslash too. In a path a backslash stays as it is, and
 * every reader refuses it: some servers take it for a slash. All other octets stay: those over 0x7e
 * are refused too, because servers read several charsets. What was encoded already is not encoded
 * twice. The meaning is the same, so whoever decides about a request, records it or sends it reads
 * this text and no other (RFC 9112 3.2). On mem, or `text` itself; NULL: no memory.
 */
const char *raw_uri_encode(TALLOC_CTX *mem, const char *text, enum raw_uri_part part);

#endif
