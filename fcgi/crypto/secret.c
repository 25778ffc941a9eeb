#include "config.h"

#include "crypto/secret.h"

#include <gnutls/gnutls.h>
#include <stdint.h>
#include <string.h>

static int
wipe_at_free(unsigned char *secret)
{
    explicit_bzero(secret, talloc_get_size(secret));
    return 0;
}

void *
secret_alloc(TALLOC_CTX *mem, size_t size)
{
    unsigned char *secret = talloc_zero_size(mem, size);
    if (secret != NULL)
        talloc_set_destructor(secret, wipe_at_free);
    return secret;
}

char *
secret_copy(TALLOC_CTX *mem, const void *data, size_t len)
{
    if (len == SIZE_MAX)
        return NULL;
    char *copy = secret_alloc(mem, len + 1);
    if (copy != NULL && len > 0)
        memcpy(copy, data, len);
    return copy;
}

bool
secret_equal(const void *a, size_t a_len, const void *b, size_t b_len)
{
    if (a_len != b_len)
        return false;
    return a_len == 0 || gnutls_memcmp(a, b, a_len) == 0;
}

void
secret_wipe(void *data, size_t len)
{
    if (len > 0)
        explicit_bzero(data, len);
}
