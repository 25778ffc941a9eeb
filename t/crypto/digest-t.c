#include "config.h"

#include "crypto/digest.h"

#include <stdlib.h>
#include <string.h>
#include <talloc.h>

#include "crypto/random.h"
#include "tap.h"
#include "vectors/load.h"

static void
test_sha256(void)
{
    unsigned char digest[SHA256_OCTETS];
    char hex[SHA256_HEX_SIZE];
    char *million = malloc(1000000);

    is_int(sha256_hex("abc", 3, hex), AZ_OK, "sha256");
    is_str(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
           "... of abc (FIPS 180-2 B.1)");
    sha256_hex("", 0, hex);
    is_str(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
           "sha256 of nothing");
    memset(million, 'a', 1000000);
    sha256_hex(million, 1000000, hex);
    is_str(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
           "sha256 of a million a (FIPS 180-2 B.3)");
    free(million);
    is_int(sha256("abc", 3, digest), AZ_OK, "sha256 as octets");
    is_bin(digest, 4, "\xba\x78\x16\xbf", 4, "... are the same");
    digest_hex(digest, hex);
    is_str(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
           "... also in hex");
}

static void
test_texts_equal(void)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        {"abc", "abc",  true },
        {"",    "",     true },
        {"abc", "abd",  false},
        {"abc", "ab",   false},
        {"ab",  "abc",  false},
        {"abc", "ABC",  false},
        {"",    "abc",  false},
        {"abc", "abc ", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool equal = !cases[i].equal;
        is_int(sha256_texts_equal(cases[i].a, cases[i].b, &equal), AZ_OK, "'%s' and '%s'",
               cases[i].a, cases[i].b);
        ok(equal == cases[i].equal, "... are %s", cases[i].equal ? "equal" : "not equal");
    }
}

static void
test_hmac(TALLOC_CTX *mem)
{
    size_t i;
    const json_t *row;
    unsigned char mac[SHA256_OCTETS];

    json_array_foreach (json_object_get(vectors_load(mem, "rfc4231.json"), "cases"), i, row) {
        size_t key_len, data_len, mac_len;
        unsigned char *key = vectors_octets(mem, row, "key", &key_len);
        unsigned char *data = vectors_octets(mem, row, "data", &data_len);
        unsigned char *wanted = vectors_octets(mem, row, "mac", &mac_len);
        hmac_sha256(key, key_len, data, data_len, mac);
        is_bin(mac, sizeof(mac), wanted, mac_len, "hmac_sha256 (RFC 4231 %s)",
               vectors_text(row, "name"));
    }
}

static void
test_hkdf(TALLOC_CTX *mem)
{
    size_t i;
    const json_t *row;

    json_array_foreach (json_object_get(vectors_load(mem, "rfc5869.json"), "cases"), i, row) {
        unsigned char out[128];
        size_t ikm_len, salt_len, info_len, okm_len;
        unsigned char *ikm = vectors_octets(mem, row, "ikm", &ikm_len);
        unsigned char *salt = vectors_octets(mem, row, "salt", &salt_len);
        unsigned char *info = vectors_octets(mem, row, "info", &info_len);
        unsigned char *okm = vectors_octets(mem, row, "okm", &okm_len);
        hkdf_sha256(ikm, ikm_len, salt, salt_len, info, info_len, out, okm_len);
        is_bin(out, okm_len, okm, okm_len, "hkdf_sha256 (RFC 5869 %s)", vectors_text(row, "name"));
    }
}

static void
test_hkdf_limits(TALLOC_CTX *mem)
{
    unsigned char *out = talloc_size(mem, HKDF_SHA256_MAX + 1);

    is_int(hkdf_sha256("k", 1, "", 0, "", 0, out, HKDF_SHA256_MAX), AZ_OK,
           "hkdf: 255 blocks (RFC 5869 2.3)");
    is_int(hkdf_sha256("k", 1, "", 0, "", 0, out, HKDF_SHA256_MAX + 1), AZ_INVALID,
           "hkdf: one octet more");
    is_int(hkdf_sha256("k", 1, "", 0, "", 0, out, 0), AZ_INVALID, "hkdf: no output");
}

static void
test_secret(TALLOC_CTX *mem)
{
    ok(secret_equal("abc", 3, "abc", 3), "secret_equal: equal");
    ok(!secret_equal("abc", 3, "abd", 3), "secret_equal: last octet differs");
    ok(!secret_equal("xbc", 3, "abc", 3), "secret_equal: first octet differs");
    ok(!secret_equal("abc", 3, "abcd", 4), "secret_equal: a prefix is not equal");
    ok(!secret_equal("abc", 3, "", 0), "secret_equal: nothing against something");
    ok(secret_equal("", 0, "", 0), "secret_equal: nothing against nothing");
    ok(!secret_equal("a\0b", 3, "a\0c", 3), "secret_equal: looks past a NUL");

    char *copy = secret_copy(mem, "topsecret", 9);
    is_str(copy, "topsecret", "secret_copy adds a NUL");
    unsigned char octets[4] = {1, 2, 3, 4};
    secret_wipe(octets, sizeof(octets));
    is_bin(octets, 4, "\0\0\0\0", 4, "secret_wipe wipes");
}

/* A destructor of a child runs before its parent's memory goes, and after the parent's own. */
static unsigned char *watched;
static unsigned left;

static int
look(int *child)
{
    (void) child;
    for (size_t i = 0; i < 9; i++)
        left += watched[i] != 0;
    return 0;
}

static void
test_wiped_when_freed(TALLOC_CTX *mem)
{
    TALLOC_CTX *inner = talloc_new(mem);

    watched = (unsigned char *) secret_copy(inner, "topsecret", 9);
    talloc_set_destructor(talloc_zero(watched, int), look);
    left = 0;
    look(NULL);
    is_int(left, 9, "a secret is there while its context lives");
    left = 0;
    talloc_free(inner);
    is_int(left, 0, "a secret is wiped when its context is freed");
}

static void
test_random(void)
{
    unsigned char a[32] = {0};
    unsigned char b[32] = {0};
    unsigned char seen[256] = {0};
    unsigned values = 0;

    is_int(random_octets(a, sizeof(a)), AZ_OK, "random_octets");
    random_octets(b, sizeof(b));
    ok(memcmp(a, b, sizeof(a)) != 0, "... differ each time");
    is_int(random_nonce(a, sizeof(a)), AZ_OK, "random_nonce");
    random_nonce(b, sizeof(b));
    ok(memcmp(a, b, sizeof(a)) != 0, "... differ each time");
    for (int i = 0; i < 256; i++) {
        random_octets(a, sizeof(a));
        for (size_t j = 0; j < sizeof(a); j++)
            seen[a[j]] = 1;
    }
    for (size_t i = 0; i < sizeof(seen); i++)
        values += seen[i];
    is_int(values, 256, "8192 random octets hold each value");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    test_sha256();
    test_texts_equal();
    test_hmac(mem);
    test_hkdf(mem);
    test_hkdf_limits(mem);
    test_secret(mem);
    test_wiped_when_freed(mem);
    test_random();
    talloc_free(mem);
    return done();
}
