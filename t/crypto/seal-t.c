#include "config.h"

#include "crypto/seal.h"

#include <gnutls/crypto.h>
#include <string.h>

#include "tap.h"
#include "vectors/load.h"

#define CREDENTIAL "0123456789abcdef"
#define PLACE "clients/secret/42"
#define DAY 20779

static struct seal_key
derive(const char *credential, const char *purpose)
{
    struct seal_key key = {{0}, {0}, {0}};
    seal_key_derive(credential, strlen(credential), purpose, &key);
    return key;
}

static struct seal_day
day_of(const struct seal_key *key, uint32_t number)
{
    struct seal_day day = {0, {0}};
    is_int(seal_day_derive(key, number, &day), AZ_OK, "the key of day %u", (unsigned) number);
    return day;
}

static void
test_days(void)
{
    struct seal_key one = derive(CREDENTIAL, "clients");
    struct seal_key two = derive(CREDENTIAL, "idps");
    struct seal_day day = day_of(&one, DAY), again = day_of(&one, DAY),
                    next = day_of(&one, DAY + 1), other = day_of(&two, DAY);

    ok(memcmp(&day, &again, sizeof(day)) == 0, "a day has one key");
    ok(memcmp(day.key, next.key, SEAL_KEY_OCTETS) != 0,
       "each day has a key of its own (NIST SP 800-38D 8.3)");
    ok(memcmp(day.key, other.key, SEAL_KEY_OCTETS) != 0, "... of each purpose");
    ok(memcmp(day.key, one.key, SEAL_KEY_OCTETS) != 0
           && memcmp(day.key, one.root, SEAL_KEY_OCTETS) != 0
           && memcmp(one.root, one.key, SEAL_KEY_OCTETS) != 0,
       "... that is none of the purpose's own");
}

static void
test_derive(void)
{
    struct seal_key key;
    struct seal_key one = derive(CREDENTIAL, "clients");
    struct seal_key two = derive(CREDENTIAL, "idps");
    struct seal_key three = derive("0123456789abcdeg", "clients");

    is_int(seal_key_derive(CREDENTIAL, 16, "p", &key), AZ_OK, "a credential key of 16 octets");
    is_int(seal_key_derive(CREDENTIAL, 15, "p", &key), AZ_INVALID, "a credential key of 15 octets");
    is_int(seal_key_derive(CREDENTIAL, 0, "p", &key), AZ_INVALID, "no credential key");
    is_int(seal_key_derive(CREDENTIAL, 16, "", &key), AZ_INVALID, "no purpose");
    ok(memcmp(one.key, two.key, SEAL_KEY_OCTETS) != 0, "each purpose has its own key");
    ok(memcmp(one.id, two.id, SEAL_KEY_ID_OCTETS) != 0, "... and key id");
    ok(memcmp(one.key, three.key, SEAL_KEY_OCTETS) != 0, "each credential key has its own key");
    ok(memcmp(one.key, one.id, SEAL_KEY_ID_OCTETS) != 0, "the key id is no piece of the key");
}

static void
test_known_box(TALLOC_CTX *mem)
{
    const json_t *vector = vectors_load(mem, "seal.json");
    struct seal_key key =
        derive(vectors_text(vector, "credential_key"), vectors_text(vector, "purpose"));
    struct seal_day day =
        day_of(&key, (uint32_t) json_integer_value(json_object_get(vector, "day")));
    const char *plain = vectors_text(vector, "plain"), *place = vectors_text(vector, "place");
    unsigned char *opened = NULL;
    size_t day_len, box_len;
    size_t len = 0;
    uint32_t number;
    unsigned char *day_key = vectors_octets(mem, vector, "day_key", &day_len);
    unsigned char *old = vectors_octets(mem, vector, "box_1", &box_len);

    is_bin(day.key, SEAL_KEY_OCTETS, day_key, day_len,
           "the key of a day is that of another implementation");
    ok(!seal_has_day(old, box_len, &number), "a box of version 1 has no day");
    is_int(seal_open(mem, &key, NULL, place, old, box_len, &opened, &len), AZ_OK,
           "a box of version 1 made by another implementation opens");
    is_bin(opened, len, plain, strlen(plain), "... to what it holds");
    is_int(seal_open(mem, &key, &day, place, old, box_len, &opened, &len), AZ_INVALID,
           "... not with the key of a day");
    unsigned char *box = vectors_octets(mem, vector, "box_2", &box_len);
    ok(seal_has_day(box, box_len, &number) && number == day.day, "a box of version 2 has its day");
    is_int(seal_open(mem, &key, &day, place, box, box_len, &opened, &len), AZ_OK,
           "a box of version 2 made by another implementation opens");
    is_bin(opened, len, plain, strlen(plain), "... to what it holds");
    is_int(seal_open(mem, &key, NULL, place, box, box_len, &opened, &len), AZ_INVALID,
           "... not without the key of its day");
    box[0] = 1;
    is_int(seal_open(mem, &key, NULL, place, box, box_len, &opened, &len), AZ_INVALID,
           "a box of version 2 that claims version 1 does not open");
}

static void
test_round_trip(TALLOC_CTX *mem)
{
    struct seal_key key = derive(CREDENTIAL, "clients");
    struct seal_day day = day_of(&key, DAY);
    unsigned char *box = NULL;
    unsigned char *again = NULL;
    unsigned char *plain = NULL;
    size_t box_len = 0;
    size_t again_len = 0;
    size_t len = 0;

    is_int(seal_box(mem, &key, &day, PLACE, "hunter2", 7, &box, &box_len), AZ_OK, "seal");
    is_int((int64_t) box_len, 7 + SEAL_OVERHEAD, "... takes the stated overhead");
    is_int(box[0], 2, "... starts with the version");
    ok(memmem(box, box_len, "hunter2", 7) == NULL, "... does not show the plain text");
    seal_box(mem, &key, &day, PLACE, "hunter2", 7, &again, &again_len);
    ok(memcmp(box + 9, again + 9, SEAL_NONCE_OCTETS) != 0, "each box has a nonce of its own");
    is_int(seal_open(mem, &key, &day, PLACE, box, box_len, &plain, &len), AZ_OK, "open");
    is_bin(plain, len + 1, "hunter2", 8, "... and a NUL after it");
    is_int(seal_box(mem, &key, &day, PLACE, "", 0, &box, &box_len), AZ_OK, "seal nothing");
    is_int(seal_open(mem, &key, &day, PLACE, box, box_len, &plain, &len), AZ_OK, "open nothing");
    is_int((int64_t) len, 0, "... holds nothing");
    is_int(seal_open(mem, &key, &day, PLACE "x", box, box_len, &plain, &len), AZ_INVALID,
           "a box that holds nothing is bound to its place too");
}

/* A repeated nonce would give away the plain texts and the key that authenticates (NIST 800-38D 8).
 */
static void
test_nonces(TALLOC_CTX *mem)
{
    struct seal_key key = derive(CREDENTIAL, "clients");
    struct seal_day day = day_of(&key, DAY);
    unsigned char nonces[200][SEAL_NONCE_OCTETS];
    unsigned repeated = 0;

    for (size_t i = 0; i < 200; i++) {
        unsigned char *box = NULL;
        size_t len = 0;
        seal_box(mem, &key, &day, PLACE, "hunter2", 7, &box, &len);
        memcpy(nonces[i], box + 1 + SEAL_KEY_ID_OCTETS + SEAL_DAY_OCTETS, SEAL_NONCE_OCTETS);
        talloc_free(box);
        for (size_t j = 0; j < i; j++)
            repeated += memcmp(nonces[i], nonces[j], SEAL_NONCE_OCTETS) == 0;
    }
    is_int(repeated, 0, "of 200 boxes no two have one nonce");
}

/* Opens and looks that the outputs stay as they were. */
static void
refused(TALLOC_CTX *mem, const struct seal_key *key, const char *place, const unsigned char *box,
        size_t box_len, const char *why)
{
    struct seal_day day = day_of(key, DAY);
    unsigned char *plain = (unsigned char *) mem;
    size_t len = 77;
    enum az_status status = seal_open(mem, key, &day, place, box, box_len, &plain, &len);
    ok(status == AZ_INVALID && plain == (unsigned char *) mem && len == 77, "open refuses %s", why);
}

static void
test_refused(TALLOC_CTX *mem)
{
    struct seal_key key = derive(CREDENTIAL, "clients");
    struct seal_day day = day_of(&key, DAY);
    struct seal_key purpose = derive(CREDENTIAL, "idps");
    struct seal_key other = derive("another credential key", "clients");
    struct seal_key same_id = other;
    unsigned char *box = NULL;
    size_t len = 0;
    char place[SEAL_PLACE_MAX + 2];

    memcpy(same_id.id, key.id, SEAL_KEY_ID_OCTETS);
    seal_box(mem, &key, &day, PLACE, "hunter2", 7, &box, &len);
    refused(mem, &key, "clients/secret/43", box, len, "a box moved to another row");
    refused(mem, &key, "clients/secre/t42", box, len, "a box moved to another column");
    refused(mem, &key, "clients/secret/4", box, len, "a place cut short");
    refused(mem, &key, "", box, len, "no place");
    refused(mem, &purpose, PLACE, box, len, "the key of another purpose");
    refused(mem, &other, PLACE, box, len, "the key of another credential key");
    refused(mem, &same_id, PLACE, box, len, "another key that claims the same id");
    struct seal_day next = day_of(&key, DAY + 1), mixed = next;
    unsigned char *plain = NULL;
    size_t plain_len;
    is_int(seal_open(mem, &key, &next, PLACE, box, len, &plain, &plain_len), AZ_INVALID,
           "open refuses the key of another day");
    mixed.day = DAY;
    is_int(seal_open(mem, &key, &mixed, PLACE, box, len, &plain, &plain_len), AZ_INVALID,
           "open refuses another key that claims the day");
    ok(seal_is_of_key(&key, box, len), "is_of_key knows its own");
    ok(!seal_is_of_key(&other, box, len), "is_of_key knows another's");
    memset(place, 'p', sizeof(place) - 1);
    place[SEAL_PLACE_MAX + 1] = '\0';
    is_int(seal_box(mem, &key, &day, place, "x", 1, &box, &len), AZ_INVALID,
           "a place one too long");
    place[SEAL_PLACE_MAX] = '\0';
    is_int(seal_box(mem, &key, &day, place, "x", 1, &box, &len), AZ_OK,
           "a place of the largest length");
    is_int(seal_box(mem, &key, &day, "", "x", 1, &box, &len), AZ_INVALID, "seal refuses no place");
}

static void
test_changed(TALLOC_CTX *mem)
{
    struct seal_key key = derive(CREDENTIAL, "clients");
    struct seal_day day = day_of(&key, DAY);
    unsigned char *box = NULL;
    unsigned char *plain = NULL;
    size_t len = 0;
    size_t plain_len;
    unsigned opened = 0;

    seal_box(mem, &key, &day, PLACE, "hunter2", 7, &box, &len);
    for (size_t bit = 0; bit < len * 8; bit++) {
        box[bit / 8] = (unsigned char) (box[bit / 8] ^ 1U << bit % 8);
        opened += seal_open(mem, &key, &day, PLACE, box, len, &plain, &plain_len) != AZ_INVALID;
        box[bit / 8] = (unsigned char) (box[bit / 8] ^ 1U << bit % 8);
    }
    is_int(opened, 0, "open refuses a box with any one bit flipped");
    for (size_t cut = 0; cut < len; cut++) {
        unsigned char *copy = talloc_memdup(mem, box, cut);
        opened += seal_open(mem, &key, &day, PLACE, copy, cut, &plain, &plain_len) != AZ_INVALID;
        talloc_free(copy);
    }
    is_int(opened, 0, "open refuses a box cut short anywhere");
    unsigned char *longer = talloc_zero_size(mem, len + 1);
    memcpy(longer, box, len);
    is_int(seal_open(mem, &key, &day, PLACE, longer, len + 1, &plain, &plain_len), AZ_INVALID,
           "open refuses a box with an octet more");
    is_int(seal_open(mem, &key, &day, PLACE, box, len, &plain, &plain_len), AZ_OK,
           "the box itself still opens");
}

static void
test_limit(TALLOC_CTX *mem)
{
    struct seal_key key = derive(CREDENTIAL, "clients");
    struct seal_day day = day_of(&key, DAY);
    unsigned char *data = talloc_zero_size(mem, SEAL_PLAIN_MAX + 1);
    unsigned char *box = NULL;
    unsigned char *plain = NULL;
    size_t len = 0;
    size_t plain_len = 0;

    is_int(seal_box(mem, &key, &day, PLACE, data, SEAL_PLAIN_MAX, &box, &len), AZ_OK,
           "seal: the largest length");
    is_int(seal_open(mem, &key, &day, PLACE, box, len, &plain, &plain_len), AZ_OK, "... opens");
    is_int(seal_box(mem, &key, &day, PLACE, data, SEAL_PLAIN_MAX + 1, &box, &len), AZ_INVALID,
           "seal: one octet more");
}

/* The library agrees with the published vector when called as seal.c calls it. */
static void
test_gcm(TALLOC_CTX *mem)
{
    const json_t *vector = vectors_load(mem, "gcm.json");
    gnutls_aead_cipher_hd_t cipher;
    unsigned char out[128];
    size_t out_len = sizeof(out);
    size_t key_len, iv_len, aad_len, plain_len, sealed_len;
    unsigned char *key = vectors_octets(mem, vector, "key", &key_len);
    unsigned char *iv = vectors_octets(mem, vector, "iv", &iv_len);
    unsigned char *aad = vectors_octets(mem, vector, "aad", &aad_len);
    unsigned char *plain = vectors_octets(mem, vector, "plain", &plain_len);
    unsigned char *sealed = vectors_octets(mem, vector, "sealed", &sealed_len);
    gnutls_datum_t datum = {.data = key, .size = (unsigned) key_len};

    gnutls_aead_cipher_init(&cipher, GNUTLS_CIPHER_AES_256_GCM, &datum);
    gnutls_aead_cipher_encrypt(cipher, iv, iv_len, aad, aad_len, SEAL_TAG_OCTETS, plain, plain_len,
                               out, &out_len);
    gnutls_aead_cipher_deinit(cipher);
    is_bin(out, out_len, sealed, sealed_len, "AES-256-GCM (GCM specification, test case 16)");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    test_gcm(mem);
    test_derive();
    test_days();
    test_known_box(mem);
    test_round_trip(mem);
    test_nonces(mem);
    test_refused(mem);
    test_changed(mem);
    test_limit(mem);
    talloc_free(mem);
    return done();
}
