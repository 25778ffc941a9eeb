/* base64 and base64url (RFC 4648 sections 4 and 5), read strictly. */
#ifndef AZ_BASE_B64URL_H
#define AZ_BASE_B64URL_H

#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Characters that n octets take in base64url without padding. */
#define B64URL_LENGTH(n) (((n) *4 + 2) / 3)

/*
 * base64url without padding, as JOSE wants it (RFC 7515 section 2). Refused: padding, white space,
 * characters of the other alphabet, a length of 4n+1, and bits left over that are not zero. So
 * each octet string has exactly one text, and a token cannot be changed without changing its octets
 * (which would let a replay slip past a memory of texts).
 *
 * *ret belongs to mem and is followed by a NUL octet that *ret_len does not count.
 * AZ_INVALID: not such a text. AZ_SERVER_ERROR: out of memory.
 */
enum az_status b64url_decode(TALLOC_CTX *mem, const char *text, size_t len, unsigned char **ret,
                             size_t *ret_len);

/*
 * The same into ret, which must be exactly filled: size octets, no more and no fewer. For values of
 * a fixed length that should not pass through the heap. ret is wiped when the text is refused.
 */
enum az_status b64url_decode_into(const char *text, size_t len, void *ret, size_t size);

/* NUL-terminated text that belongs to mem, or NULL when out of memory. */
char *b64url_encode(TALLOC_CTX *mem, const void *data, size_t len);

/* Writes B64URL_LENGTH(len) characters and a NUL to ret. */
void b64url_encode_into(const void *data, size_t len, char *ret);

/*
 * Standard base64, for HTTP Basic (RFC 7617 section 2). Padding may be left out, as some clients
 * do, but when it is there it must be right. Otherwise as strict as b64url_decode().
 */
enum az_status b64_decode(TALLOC_CTX *mem, const char *text, size_t len, unsigned char **ret,
                          size_t *ret_len);

#endif
