#include "config.h"

#include "crypto/random.h"

#include <gnutls/crypto.h>
#include <string.h>

#include "base/uuid7.h"

static enum az_status
draw(gnutls_rnd_level_t level, void *ret, size_t len)
{
    if (gnutls_rnd(level, ret, len) == 0)
        return AZ_OK;
    /* Wipe the result: a caller that ignores the error must not use old octets. */
    explicit_bzero(ret, len);
    return AZ_SERVER_ERROR;
}

enum az_status
random_octets(void *ret, size_t len)
{
    return draw(GNUTLS_RND_KEY, ret, len);
}

enum az_status
random_nonce(void *ret, size_t len)
{
    return draw(GNUTLS_RND_NONCE, ret, len);
}

bool
random_one_in(int64_t rate)
{
    uint64_t number;
    return rate > 0 && random_nonce(&number, sizeof(number)) == AZ_OK
           && number % (uint64_t) rate == 0;
}

const char *
random_uuid7(TALLOC_CTX *mem, int64_t now_ms)
{
    unsigned char random[UUID7_RANDOM_OCTETS], id[UUID7_OCTETS];
    char text[UUID7_TEXT_LENGTH + 1];
    if (random_nonce(random, sizeof(random)) != AZ_OK)
        return NULL;
    uuid7_make((uint64_t) now_ms, random, id);
    uuid7_format(id, text);
    return talloc_strdup(mem, text);
}
