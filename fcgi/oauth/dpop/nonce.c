#include "config.h"

#include "oauth/dpop/nonce.h"

#include <string.h>

#include "crypto/keyring.h"
#include "crypto/secret.h"

/* Steps of the clock within the lifetime of a nonce. A nonce is accepted in its own step and in the
 * next one. */
#define STEPS_PER_TTL 2

/* Return the number of the step that a time is in; each takes half of the lifetime. */
static int64_t
step_of(int64_t now, int64_t ttl)
{
    return now / ((ttl + STEPS_PER_TTL - 1) / STEPS_PER_TTL);
}

/* Write the nonce of a step. */
static enum az_status
make_of_step(const struct keyring *ring, int64_t step, char ret[DPOP_NONCE_SIZE])
{
    unsigned char octets[8], mac[SHA256_OCTETS];
    for (size_t i = 0; i < sizeof(octets); i++)
        octets[i] = (unsigned char) ((uint64_t) step >> (56 - 8 * i));
    enum az_status st = keyring_mac(ring, KEYRING_DPOP_NONCE, octets, sizeof(octets), mac);
    if (st == AZ_OK)
        b64url_encode_into(mac, sizeof(mac), ret);
    return st;
}

enum az_status
dpop_nonce_make(const struct keyring *ring, int64_t now, int64_t ttl, char ret[DPOP_NONCE_SIZE])
{
    return make_of_step(ring, step_of(now, ttl), ret);
}

bool
dpop_nonce_good(const struct keyring *ring, int64_t now, int64_t ttl, const char *nonce)
{
    /* The next step too: the clock of the host that made the nonce may be ahead of ours. */
    static const int around[] = {0, -1, 1};
    bool good = false;
    if (nonce == NULL || strlen(nonce) != DPOP_NONCE_SIZE - 1)
        return false;
    for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
        char made[DPOP_NONCE_SIZE];
        if (make_of_step(ring, step_of(now, ttl) + around[i], made) != AZ_OK)
            return false;
        good = secret_equal(nonce, DPOP_NONCE_SIZE - 1, made, DPOP_NONCE_SIZE - 1) || good;
    }
    return good;
}
