/* Memory of secrets: compared in constant time, wiped when freed. */
#ifndef AZ_CRYPTO_SECRET_H
#define AZ_CRYPTO_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

/*
 * size octets on mem that are wiped when they are freed, whoever frees them. Do not
 * talloc_realloc() them: that may move them and leave a copy. NULL when out of memory.
 */
void *secret_alloc(TALLOC_CTX *mem, size_t size);

/* A NUL-terminated copy of len octets, wiped when freed. NULL when out of memory. */
char *secret_copy(TALLOC_CTX *mem, const void *data, size_t len);

/*
 * Whether two octet strings are equal, in a time that depends on their lengths alone. The lengths
 * are not hidden: compare digests where a length is secret.
 */
bool secret_equal(const void *a, size_t a_len, const void *b, size_t b_len);

/* Wipes octets in a way the compiler does not drop. */
void secret_wipe(void *data, size_t len);

#endif
