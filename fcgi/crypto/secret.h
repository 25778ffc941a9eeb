/* Secrets in memory: compared in constant time, wiped when freed. */
#ifndef AZ_CRYPTO_SECRET_H
#define AZ_CRYPTO_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

/*
 * Allocate size octets on mem that are wiped when they are freed by any caller. Do not
 * talloc_realloc() them: that may move them and leave a copy. NULL: out of memory.
 */
void *secret_alloc(TALLOC_CTX *mem, size_t size);

/* Return a NUL-terminated copy of len octets, wiped when it is freed. NULL: out of memory. */
char *secret_copy(TALLOC_CTX *mem, const void *data, size_t len);

/*
 * True if two octet strings are equal. The time depends only on their lengths, which are not
 * hidden: compare digests if a length is secret.
 */
bool secret_equal(const void *a, size_t a_len, const void *b, size_t b_len);

/* Wipe octets in a way that the compiler does not remove. */
void secret_wipe(void *data, size_t len);

#endif
