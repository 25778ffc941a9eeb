/* Random octets from the operating system, through GnuTLS. */
#ifndef AZ_CRYPTO_RANDOM_H
#define AZ_CRYPTO_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

/* For keys, tokens and everything else that must not be guessed. AZ_SERVER_ERROR: no randomness. */
enum az_status random_octets(void *ret, size_t len);

/*
 * For values that must not repeat but that anyone may see: cipher nonces, request ids. Cheaper.
 * After a fork parent and child draw different octets from both functions (GnuTLS notices the
 * fork).
 */
enum az_status random_nonce(void *ret, size_t len);

/* The text of a new UUID of version 7, for ids that anyone may see; on mem, NULL without randomness
 * or memory. now_ms: milliseconds since 1970. */
const char *random_uuid7(TALLOC_CTX *mem, int64_t now_ms);

#endif
