/* base64 and base64url (RFC 4648 sections 4 and 5), read strictly. */
#ifndef AZ_BASE_B64URL_H
#define AZ_BASE_B64URL_H

#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Characters that n octets take in base64url without padding. */
#define B64URL_LENGTH(n) (((n) *4 + 2) / 3)

/*
 * Decode base64url without padding, as JOSE uses it (RFC 7515 section 2).
 *
 * Refused are padding, white space, characters of the other alphabet, a length of 4n+1, and unused
 * bits that are not zero. So each octet string has exactly one text, and an attacker cannot change
 * the text of a token without changing its octets. Otherwise a changed text would pass a check for
 * replays that remembers texts.
 *
 * *ret belongs to mem and is followed by a NUL octet that *ret_len does not count. AZ_INVALID: the
 * text is not valid. AZ_SERVER_ERROR: out of memory.
 */
enum az_status b64url_decode(TALLOC_CTX *mem, const char *text, size_t len, unsigned char **ret,
                             size_t *ret_len);

/*
 * Decode into ret, which the text must fill exactly. Use it for values of a fixed length that
 * should not pass through the heap. ret is wiped if the text is refused.
 */
enum az_status b64url_decode_into(const char *text, size_t len, void *ret, size_t size);

/* Return base64url as a NUL-terminated text that belongs to mem; NULL: out of memory. */
char *b64url_encode(TALLOC_CTX *mem, const void *data, size_t len);

/* Write B64URL_LENGTH(len) characters and a NUL to ret. */
void b64url_encode_into(const void *data, size_t len, char *ret);

/* Return standard base64 with padding, for data: addresses and Content-Security-Policy; NULL: out
 * of memory. */
char *b64_encode(TALLOC_CTX *mem, const void *data, size_t len);

/* Decode standard base64 with its padding, as b64_encode() writes it and as strictly as
 * b64url_decode(): no octets have two texts, so what was signed is what is read. */
enum az_status b64_decode(TALLOC_CTX *mem, const char *text, size_t len, unsigned char **ret,
                          size_t *ret_len);

/* Do the same, but the padding may be absent: some clients of HTTP Basic (RFC 7617 section 2) and
 * writers of data leave it out. It must not be wrong. Nothing that is signed is read so. */
enum az_status b64_decode_lenient(TALLOC_CTX *mem, const char *text, size_t len,
                                  unsigned char **ret, size_t *ret_len);

#endif
