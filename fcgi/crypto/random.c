#include "config.h"

#include "crypto/random.h"

#include <gnutls/crypto.h>
#include <string.h>

static enum az_status
draw(gnutls_rnd_level_t level, void *ret, size_t len)
{
    if (gnutls_rnd(level, ret, len) == 0)
        return AZ_OK;
    /* A caller that forgets to look must at least not use what happened to lie there. */
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
