#include "config.h"

#include "crypto/keyring.h"

#include <string.h>

#include "base/clock.h"
#include "tap.h"
#include "vectors/load.h"

#define CREDENTIAL "0123456789abcdef"
#define PLACE "client/secret/42"
#define FIRST_DAY 20000
#define DAYS 100 /* more than a process keeps */

static struct keyring *
ring_of(TALLOC_CTX *mem, const char *credential)
{
    return keyring_new(mem, credential, "pepper");
}

static bool
opens(TALLOC_CTX *mem, const struct keyring *ring, enum keyring_purpose purpose, const void *box,
      size_t length)
{
    unsigned char *plain;
    size_t plain_length;
    return keyring_open(mem, ring, purpose, PLACE, box, length, &plain, &plain_length) == AZ_OK
           && plain_length == 7 && memcmp(plain, "hunter2", 8) == 0;
}

static void
test_today(TALLOC_CTX *mem)
{
    struct keyring *ring = ring_of(mem, CREDENTIAL);
    unsigned char *box;
    size_t length;
    uint32_t day = 0, before = (uint32_t) (clock_realtime_ms() / 86400000);
    is_int(keyring_seal(mem, ring, KEYRING_CLIENT_SECRET, PLACE, "hunter2", 7, &box, &length),
           AZ_OK, "seal");
    ok(seal_has_day(box, length, &day) && day >= before
           && day <= (uint32_t) (clock_realtime_ms() / 86400000),
       "a value is sealed with the key of the day (NIST SP 800-38D 8.3)");
    ok(opens(mem, ring, KEYRING_CLIENT_SECRET, box, length), "... and opens");
    ok(opens(mem, ring_of(mem, CREDENTIAL), KEYRING_CLIENT_SECRET, box, length),
       "... in another process");
    ok(!opens(mem, ring, KEYRING_SIGN_IN, box, length), "... not for another purpose");
    ok(!opens(mem, ring_of(mem, "another credential"), KEYRING_CLIENT_SECRET, box, length),
       "... not with another credential key");
}

/* Boxes of many days, opened in an order in which no kept key serves for long. */
static void
test_days(TALLOC_CTX *mem)
{
    struct keyring *ring = ring_of(mem, CREDENTIAL);
    struct seal_key key;
    unsigned char *box[DAYS];
    size_t length[DAYS];
    unsigned sealed = 0, opened = 0;
    seal_key_derive(CREDENTIAL, strlen(CREDENTIAL), "client secrets", &key);
    for (uint32_t i = 0; i < DAYS; i++) {
        struct seal_day day;
        sealed += seal_day_derive(&key, FIRST_DAY + i, &day) == AZ_OK
                  && seal_box(mem, &key, &day, PLACE, "hunter2", 7, &box[i], &length[i]) == AZ_OK;
    }
    is_int(sealed, DAYS, "values of %d days", DAYS);
    for (unsigned i = 0; i < 3 * DAYS; i++)
        opened +=
            opens(mem, ring, KEYRING_CLIENT_SECRET, box[i * 37 % DAYS], length[i * 37 % DAYS]);
    is_int(opened, 3 * DAYS, "... all open, more than keys are kept for");
    unsigned others = 0;
    for (unsigned i = 0; i < DAYS; i++)
        others += opens(mem, ring, KEYRING_ADMIN_KEY, box[i], length[i]);
    is_int(others, 0, "... none of them for another purpose");
}

/* Earlier builds stored boxes under one key for each purpose, without a day. */
static void
test_old(TALLOC_CTX *mem)
{
    const json_t *vector = vectors_load(mem, "seal.json");
    struct keyring *ring = ring_of(mem, vectors_text(vector, "credential_key"));
    size_t length, plain_length;
    unsigned char *plain;
    unsigned char *box = vectors_octets(mem, vector, "client_secret_1", &length);
    is_int(keyring_open(mem, ring, KEYRING_CLIENT_SECRET, vectors_text(vector, "place"), box,
                        length, &plain, &plain_length),
           AZ_OK, "a client secret that an earlier build stored opens");
    is_bin(plain, plain_length, vectors_text(vector, "plain"),
           strlen(vectors_text(vector, "plain")), "... to what it holds");
    box[0] = 3;
    is_int(keyring_open(mem, ring, KEYRING_CLIENT_SECRET, vectors_text(vector, "place"), box,
                        length, &plain, &plain_length),
           AZ_INVALID, "a box of an unknown version does not open");
    for (size_t cut = 0; cut < SEAL_OVERHEAD_1; cut++)
        if (keyring_open(mem, ring, KEYRING_CLIENT_SECRET, PLACE, box, cut, &plain, &plain_length)
            != AZ_INVALID)
            ok(false, "a box of %zu octets does not open", cut);
}

/* A change of the credential key: the previous one opens and does not seal. */
static void
test_previous(TALLOC_CTX *mem)
{
    struct keyring *old = ring_of(mem, CREDENTIAL), *both = ring_of(mem, "the key of tomorrow");
    struct keyring *alone = ring_of(mem, "the key of tomorrow");
    unsigned char *box, *made;
    size_t length, made_length;
    is_int(keyring_seal(mem, old, KEYRING_CLIENT_SECRET, PLACE, "hunter2", 7, &box, &length), AZ_OK,
           "a value of the key before");
    is_int(keyring_add_previous(both, "too short"), AZ_INVALID, "a previous key that is too short");
    ok(!opens(mem, both, KEYRING_CLIENT_SECRET, box, length), "... opens nothing");
    is_int(keyring_add_previous(both, CREDENTIAL), AZ_OK, "the previous key");
    ok(opens(mem, both, KEYRING_CLIENT_SECRET, box, length), "... opens the value");
    ok(!opens(mem, both, KEYRING_ADMIN_KEY, box, length), "... not for another purpose");
    box[length - 1] ^= 1;
    ok(!opens(mem, both, KEYRING_CLIENT_SECRET, box, length), "... nor if it was changed");
    keyring_seal(mem, both, KEYRING_CLIENT_SECRET, PLACE, "hunter2", 7, &made, &made_length);
    ok(opens(mem, alone, KEYRING_CLIENT_SECRET, made, made_length),
       "what is sealed then opens with the new key alone");
    ok(!opens(mem, old, KEYRING_CLIENT_SECRET, made, made_length), "... and not with the old one");
    is_bin(made + 1, SEAL_KEY_ID_OCTETS, keyring_id(both, KEYRING_CLIENT_SECRET),
           SEAL_KEY_ID_OCTETS, "a box names its key");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_today(mem);
    test_days(mem);
    test_old(mem);
    test_previous(mem);
    talloc_free(mem);
    return done();
}
