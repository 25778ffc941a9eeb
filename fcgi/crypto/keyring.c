#include "config.h"

#include "crypto/keyring.h"

#include <string.h>

#include "base/clock.h"
#include "crypto/secret.h"

/* Keys of days that a process keeps for each purpose. A busy process opens values of today and
 * yesterday, and a few old client secrets and signing keys; a key that is not kept is derived
 * again, which takes some microseconds. */
#define DAYS 16

struct days {
    struct seal_day day[DAYS];
    size_t count; /* used entries */
    size_t next;  /* entry that is replaced next */
};

/* The keys of one credential key. */
struct ring {
    struct seal_key key[KEYRING_PURPOSES]; /* by purpose */
    struct days *days;                     /* by purpose; wiped when it is freed */
};

struct keyring {
    struct ring now;       /* seals and opens */
    struct ring *previous; /* only opens; or NULL */
    char *pepper;          /* key of the lookup HMAC */
};

static const char *const purposes[KEYRING_PURPOSES] = {
    [KEYRING_CLIENT_SECRET] = "client secrets",
    [KEYRING_ADMIN_KEY] = "admin keys",
    [KEYRING_SIGNING_KEY] = "signing keys",
    [KEYRING_IDENTITY_PROVIDER] = "identity provider secrets",
    [KEYRING_MANAGED_RESOURCE] = "managed resource secrets",
    [KEYRING_SIGN_IN] = "sign-ins",
    [KEYRING_ADDRESS] = "network addresses",
    [KEYRING_DPOP_NONCE] = "DPoP nonces",
    [KEYRING_UPSTREAM_TOKEN] = "tokens of upstreams",
    [KEYRING_CONNECTION] = "gateway connections",
    [KEYRING_LINK_STATE] = "gateway link states",
    [KEYRING_MCP_STATE] = "MCP request states",
    [KEYRING_OBJECT_SECRET] = "secrets of owned objects",
};

/* Derive the keys of one credential key; what it needs lives on mem. */
static enum az_status
ring_derive(TALLOC_CTX *mem, const char *credential_key, struct ring *ring)
{
    ring->days = secret_alloc(mem, KEYRING_PURPOSES * sizeof(struct days));
    enum az_status st = ring->days != NULL ? AZ_OK : AZ_SERVER_ERROR;
    for (size_t i = 0; i < KEYRING_PURPOSES && st == AZ_OK; i++)
        st = seal_key_derive(credential_key, strlen(credential_key), purposes[i], &ring->key[i]);
    return st;
}

struct keyring *
keyring_new(TALLOC_CTX *mem, const char *credential_key, const char *admin_pepper)
{
    struct keyring *ring = secret_alloc(mem, sizeof(*ring));
    if (ring == NULL)
        return NULL;
    ring->pepper = secret_copy(ring, admin_pepper, strlen(admin_pepper));
    ring->previous = NULL;
    if (ring->pepper == NULL || ring_derive(ring, credential_key, &ring->now) != AZ_OK)
        TALLOC_FREE(ring);
    return ring;
}

enum az_status
keyring_add_previous(struct keyring *ring, const char *credential_key)
{
    struct ring *previous = secret_alloc(ring, sizeof(*previous));
    enum az_status st =
        previous != NULL ? ring_derive(previous, credential_key, previous) : AZ_SERVER_ERROR;
    if (st == AZ_OK)
        ring->previous = previous;
    return st;
}

/* Return the key of a day, derived if it is not kept; NULL if that fails. */
static const struct seal_day *
keyring_day(const struct ring *ring, enum keyring_purpose purpose, uint32_t day)
{
    struct days *days = &ring->days[purpose];
    for (size_t i = 0; i < days->count; i++)
        if (days->day[i].day == day)
            return &days->day[i];
    struct seal_day *entry = &days->day[days->next];
    if (seal_day_derive(&ring->key[purpose], day, entry) != AZ_OK)
        return NULL;
    days->next = (days->next + 1) % DAYS;
    days->count += days->count < DAYS;
    return entry;
}

enum az_status
keyring_seal(TALLOC_CTX *mem, const struct keyring *ring, enum keyring_purpose purpose,
             const char *place, const void *plain, size_t length, unsigned char **ret,
             size_t *ret_length)
{
    uint32_t today = (uint32_t) (clock_realtime_ms() / 86400000);
    const struct seal_day *day = keyring_day(&ring->now, purpose, today);
    if (day == NULL)
        return AZ_SERVER_ERROR;
    return seal_box(mem, &ring->now.key[purpose], day, place, plain, length, ret, ret_length);
}

enum az_status
keyring_open(TALLOC_CTX *mem, const struct keyring *ring, enum keyring_purpose purpose,
             const char *place, const void *box, size_t length, unsigned char **ret,
             size_t *ret_length)
{
    uint32_t number;
    const struct seal_day *day = NULL;
    const struct ring *with = &ring->now;
    if (ring->previous != NULL && seal_is_of_key(&ring->previous->key[purpose], box, length))
        with = ring->previous;
    if (seal_has_day(box, length, &number) && (day = keyring_day(with, purpose, number)) == NULL)
        return AZ_SERVER_ERROR;
    return seal_open(mem, &with->key[purpose], day, place, box, length, ret, ret_length);
}

enum az_status
keyring_admin_lookup(const struct keyring *ring, const char *key, unsigned char ret[SHA256_OCTETS])
{
    return hmac_sha256(ring->pepper, strlen(ring->pepper), key, strlen(key), ret);
}

enum az_status
keyring_mac(const struct keyring *ring, enum keyring_purpose purpose, const void *octets,
            size_t length, unsigned char ret[SHA256_OCTETS])
{
    const struct seal_key *key = &ring->now.key[purpose];
    return hmac_sha256(key->key, sizeof(key->key), octets, length, ret);
}

const unsigned char *
keyring_id(const struct keyring *ring, enum keyring_purpose purpose)
{
    return ring->now.key[purpose].id;
}
