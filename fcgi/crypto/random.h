/* Random octets from the operating system, through GnuTLS. */
#ifndef AZ_CRYPTO_RANDOM_H
#define AZ_CRYPTO_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

/* Get octets for keys, tokens and other values that must not be guessed. AZ_SERVER_ERROR: no
 * randomness. */
enum az_status random_octets(void *ret, size_t len);

/*
 * Get octets for values that must not repeat but may be public: cipher nonces, request ids. This is
 * cheaper. After a fork, parent and child get different octets from both functions (GnuTLS notices
 * the fork).
 */
enum az_status random_nonce(void *ret, size_t len);

/* True for one call in `rate`, at random, so that no order of requests evades a sample; never for 0
 * or less. */
bool random_one_in(int64_t rate);

/* Return the text of a new UUID of version 7, for public ids; on mem; NULL: no randomness or no
 * memory. now_ms: milliseconds since 1970. */
const char *random_uuid7(TALLOC_CTX *mem, int64_t now_ms);

#endif
