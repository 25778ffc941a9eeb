#include "config.h"

#include "crypto/jwk.h"

#include <string.h>

#include "base/b64url.h"
#include "base/jsonx.h"
#include "crypto/jwk_set.h"
#include "tap.h"
#include "vectors/load.h"

/* The key of RFC 7515 A.3, and y of the mirrored point. */
#define EC_X "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
#define EC_Y "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
#define ED_X "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"

static json_t *
parse_json(TALLOC_CTX *mem, const char *text)
{
    json_t *value = NULL;
    if (jsonx_parse(mem, text, strlen(text), 9, &value, NULL) != AZ_OK)
        ok(false, "test JSON: %s", text);
    return value;
}

/* clang-format off */
static const struct {
    const char *text;
    const char *why; /* NULL: accepted */
    const char *name;
} rows[] = {
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\",\"y\":\"" EC_Y "\"}", NULL,
     "a P-256 key"},
    {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" ED_X "\"}", NULL, "an Ed25519 key"},
    {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" ED_X "\",\"x5c\":[\"!\"],\"ext\":true}", NULL,
     "members it does not know"},
    {"[]", "key is not a JSON object", "an array"},
    {"{}", "key type is not supported", "no kty"},
    {"{\"kty\":1}", "key type is not supported", "a kty that is no text"},
    {"{\"kty\":\"ec\"}", "key type is not supported", "a kty in small letters"},
    {"{\"kty\":\"oct\",\"k\":\"AAAA\"}", "key has private members", "a symmetric key"},
    {"{\"kty\":\"oct\"}", "key type is not supported", "a symmetric key without its octets"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\",\"y\":\"" EC_Y "\",\"d\":\"AA\"}",
     "key has private members", "a private key where public is asked for"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\",\"y\":\"" EC_Y "\",\"d\":null}",
     "key has private members", "a private member that is null"},
    {"{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"x\":\"" EC_X "\",\"y\":\"" EC_Y "\"}",
     "curve is not supported", "an unknown curve"},
    {"{\"kty\":\"EC\",\"crv\":\"Ed25519\",\"x\":\"" EC_X "\",\"y\":\"" EC_Y "\"}",
     "curve is not supported", "a curve of another kty"},
    {"{\"kty\":\"OKP\",\"crv\":\"P-256\",\"x\":\"" EC_X "\"}", "curve is not supported",
     "an EC curve under OKP"},
    {"{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"" ED_X "\"}", "curve is not supported", "X25519"},
    {"{\"kty\":\"EC\",\"x\":\"" EC_X "\",\"y\":\"" EC_Y "\"}", "curve is not supported", "no crv"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\"}",
     "a member of the key is missing or malformed", "no y"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\",\"y\":1}",
     "a member of the key is missing or malformed", "a y that is no text"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "=\",\"y\":\"" EC_Y "\"}",
     "a member of the key is missing or malformed", "padding"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AH_NzidwdsRdQYPL7m_bS3tYBzM1e-nvE7rPbjx70VRF\","
     "\"y\":\"" EC_Y "\"}",
     "a member of the key is missing or malformed",
     "a coordinate that is too long (RFC 7518 6.2.1.2)"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"zc4ncPbEXUGDy-5v20t7WAczNXvp7xO6z248e9FURQ\",\"y\":"
     "\"" EC_Y "\"}",
     "a member of the key is missing or malformed",
     "a coordinate that is too short (RFC 7518 6.2.1.2)"},
    {"{\"kty\":\"EC\",\"crv\":\"P-384\",\"x\":\"" EC_X "\",\"y\":\"" EC_Y "\"}",
     "a member of the key is missing or malformed", "coordinates of another curve"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\",\"y\":\"" EC_X "\"}",
     "key is not a valid point or number of its kind", "a point off the curve (RFC 7518 6.2.1)"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\","
     "\"y\":"
     "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
     "key is not a valid point or number of its kind", "the point 0, 0"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"__________________________________________8\","
     "\"y\":"
     "\"__________________________________________8\"}",
     "key is not a valid point or number of its kind", "coordinates beyond the field"},
    {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" ED_X "\",\"kid\":1}",
     "kid, use, alg or key_ops is malformed", "a kid that is no text"},
    {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" ED_X "\",\"use\":[]}",
     "kid, use, alg or key_ops is malformed", "a use that is no text"},
    {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" ED_X "\",\"alg\":null}",
     "kid, use, alg or key_ops is malformed", "an alg that is null"},
    {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" ED_X "\",\"key_ops\":\"verify\"}",
     "kid, use, alg or key_ops is malformed", "key_ops that is no array"},
    {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" ED_X "\",\"key_ops\":[1]}",
     "kid, use, alg or key_ops is malformed", "key_ops of numbers"},
    {"{\"kty\":\"RSA\",\"e\":\"AQAB\"}", "a member of the key is missing or malformed", "no n"},
    {"{\"kty\":\"RSA\",\"n\":\"\",\"e\":\"AQAB\"}", "a member of the key is missing or malformed",
     "an empty n"},
    {"{\"kty\":\"RSA\",\"n\":\"AAAA\",\"e\":\"AQAB\"}",
     "a member of the key is missing or malformed", "an n of zeros"},
};
/* clang-format on */

static void
test_rows(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct jwk *key = NULL;
        const char *why = NULL;
        enum az_status status =
            jwk_parse(mem, parse_json(mem, rows[i].text), JWK_PUBLIC_ONLY, &key, &why);
        if (rows[i].why == NULL) {
            ok(status == AZ_OK && key != NULL, "accepts %s", rows[i].name);
            continue;
        }
        ok(status == AZ_INVALID && key == NULL, "refuses %s", rows[i].name);
        is_str(why, rows[i].why, "... and says why");
    }
}

/* An RSA key with a modulus of so many bits (all ones), after zeros octets of zero. */
static json_t *
rsa_json(TALLOC_CTX *mem, unsigned bits, size_t zeros, const char *e)
{
    size_t octets = (bits + 7) / 8;
    unsigned char *n = talloc_zero_size(mem, zeros + octets);

    memset(n + zeros, 0xff, octets);
    if (bits % 8)
        n[zeros] = (unsigned char) ((1U << bits % 8) - 1);
    return jsonx_own(mem, json_pack("{s:s, s:s, s:s}", "kty", "RSA", "n",
                                    b64url_encode(mem, n, zeros + octets), "e", e));
}

static void
test_rsa_limits(TALLOC_CTX *mem)
{
    static const char weak[] = "RSA key is smaller than 2048 bits";
    static const char large[] = "RSA key is larger than 8192 bits or its exponent is too large";
    static const char wrong[] = "key is not a valid point or number of its kind";
    /* clang-format off */
    static const struct {
        unsigned bits;
        size_t zeros;
        const char *e;
        const char *why; /* NULL: accepted */
        const char *name;
    } sizes[] = {
        {2048, 0, "AQAB", NULL, "2048 bits"},
        {2047, 0, "AQAB", weak, "2047 bits"},
        {2047, 1, "AQAB", weak, "2047 bits and a zero octet"},
        {1024, 0, "AQAB", weak, "1024 bits"},
        {1024, 128, "AQAB", weak, "1024 bits filled up with zeros"},
        {2048, 1, "AQAB", NULL, "2048 bits after a zero octet"},
        {8192, 0, "AQAB", NULL, "8192 bits"},
        {8193, 0, "AQAB", large, "8193 bits"},
        {16384, 0, "AQAB", "a member of the key is missing or malformed", "16384 bits"},
        {2048, 0, "Aw", NULL, "exponent 3"},
        {2048, 0, "_____w", NULL, "an exponent of 4 octets"},
        {2048, 0, "AQAAAAE", large, "an exponent of 5 octets"},
        {2048, 0, "AQ", wrong, "exponent 1"},
        {2048, 0, "Ag", wrong, "an even exponent"},
        {2048, 0, "AA", "a member of the key is missing or malformed", "exponent 0"},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct jwk *key = NULL;
        const char *why = NULL;
        json_t *object = rsa_json(mem, sizes[i].bits, sizes[i].zeros, sizes[i].e);
        enum az_status status = jwk_parse(mem, object, JWK_PUBLIC_ONLY, &key, &why);
        is_str(why, sizes[i].why, "RSA: %s", sizes[i].name);
        is_int(status, sizes[i].why == NULL ? AZ_OK : AZ_INVALID, "... and its status");
    }
    json_t *even = rsa_json(mem, 2048, 0, "AQAB");
    unsigned char *n;
    size_t len;
    const char *text = json_string_value(json_object_get(even, "n"));
    b64url_decode(mem, text, strlen(text), &n, &len);
    n[len - 1] = 0xfe;
    json_object_set_new(even, "n", json_string(b64url_encode(mem, n, len)));
    struct jwk *key = NULL;
    is_int(jwk_parse(mem, even, JWK_PUBLIC_ONLY, &key, NULL), AZ_INVALID, "RSA: an even modulus");
}

static void
test_names(TALLOC_CTX *mem)
{
    char kid[JWK_NAME_MAX + 2];
    struct jwk *key = NULL;
    json_t *object = parse_json(mem, rows[1].text);

    memset(kid, 'k', sizeof(kid) - 1);
    kid[JWK_NAME_MAX + 1] = '\0';
    json_object_set_new(object, "kid", json_string(kid));
    is_int(jwk_parse(mem, object, JWK_PUBLIC_ONLY, &key, NULL), AZ_INVALID, "a kid one too long");
    kid[JWK_NAME_MAX] = '\0';
    json_object_set_new(object, "kid", json_string(kid));
    is_int(jwk_parse(mem, object, JWK_PUBLIC_ONLY, &key, NULL), AZ_OK, "the longest kid");
    is_str(key->kid, kid, "... is kept");
    ok(key->use == NULL && key->alg == NULL && key->may_verify, "absent names are NULL");
}

static void
test_thumbprints(TALLOC_CTX *mem)
{
    size_t i;
    const json_t *row;

    json_array_foreach (json_object_get(vectors_load(mem, "rfc-thumbprints.json"), "cases"), i,
                        row) {
        char seen[JWK_THUMBPRINT_SIZE] = "";
        struct jwk *key = NULL;
        jwk_parse(mem, json_object_get(row, "key"), JWK_PUBLIC_ONLY, &key, NULL);
        is_int(jwk_thumbprint(key, seen), AZ_OK, "thumbprint: %s", vectors_text(row, "name"));
        is_str(seen, vectors_text(row, "thumbprint"), "... is the published one");
    }
    char plain[JWK_THUMBPRINT_SIZE] = "";
    char filled[JWK_THUMBPRINT_SIZE] = "";
    struct jwk *key = NULL;
    jwk_parse(mem, rsa_json(mem, 2048, 0, "AQAB"), JWK_PUBLIC_ONLY, &key, NULL);
    jwk_thumbprint(key, plain);
    jwk_parse(mem, rsa_json(mem, 2048, 1, "AAEAAQ"), JWK_PUBLIC_ONLY, &key, NULL);
    jwk_thumbprint(key, filled);
    is_str(filled, plain, "thumbprint: leading zeros of n and e do not count (RFC 7638 3.3)");
}

static bool
has_private_member(const json_t *object)
{
    static const char *const names[] = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (json_object_get(object, names[i]) != NULL)
            return true;
    return false;
}

static void
test_dump(TALLOC_CTX *mem)
{
    size_t i;
    const json_t *row;

    json_array_foreach (json_object_get(vectors_load(mem, "rfc-jws.json"), "cases"), i, row) {
        const json_t *source = json_object_get(row, "key");
        const char *name = vectors_text(row, "name");
        struct jwk *key = NULL;
        json_t *seen = NULL;
        json_t *public = NULL;
        if (json_object_get(source, "d") == NULL)
            continue;
        is_int(jwk_parse(mem, source, JWK_PRIVATE, &key, NULL), AZ_OK, "parse the pair of %s",
               name);
        is_int(jwk_dump_private(key, &seen), AZ_OK, "... dump it");
        ok(json_equal(jsonx_own(mem, seen), source), "... to the same members");
        is_int(jwk_dump(key, &public), AZ_OK, "... dump its public half");
        ok(!has_private_member(jsonx_own(mem, public)), "... without private members");
        is_int(jwk_parse(mem, public, JWK_PRIVATE, &key, NULL), AZ_INVALID,
               "... which is no private key");
        is_int(jwk_parse(mem, public, JWK_PUBLIC_ONLY, &key, NULL), AZ_OK, "... but a public one");
        is_int(jwk_dump_private(key, &seen), AZ_INVALID, "... that has no private half to dump");
    }
}

/* A private key whose public half is another's must not become ours. */
static void
test_pairs(TALLOC_CTX *mem)
{
    size_t i;
    const json_t *row;

    json_array_foreach (json_object_get(vectors_load(mem, "rfc-jws.json"), "cases"), i, row) {
        json_t *source = jsonx_own(mem, json_deep_copy(json_object_get(row, "key")));
        struct jwk *key = NULL;
        unsigned char *d;
        size_t len;
        const char *text = json_string_value(json_object_get(source, "d"));
        if (text == NULL)
            continue;
        b64url_decode(mem, text, strlen(text), &d, &len);
        d[len - 2] ^= 2;
        json_object_set_new(source, "d", json_string(b64url_encode(mem, d, len)));
        is_int(jwk_parse(mem, source, JWK_PRIVATE, &key, NULL), AZ_INVALID,
               "refuses a pair whose halves differ: %s", vectors_text(row, "name"));
        ok(key == NULL, "... and leaves the output alone");
    }
}

/* A copy of a key with one bit of a member changed. */
static json_t *
changed_member(TALLOC_CTX *mem, const json_t *source, const char *name)
{
    json_t *copy = jsonx_own(mem, json_deep_copy(source));
    const char *text = json_string_value(json_object_get(source, name));
    unsigned char *octets;
    size_t len;

    b64url_decode(mem, text, strlen(text), &octets, &len);
    octets[len / 2] ^= 2;
    json_object_set_new(copy, name, json_string(b64url_encode(mem, octets, len)));
    return copy;
}

/* RFC 7518 6.3.2; GnuTLS leaks memory when it has to complete a pair that does not fit. */
static void
test_rsa_pair_members(TALLOC_CTX *mem)
{
    static const char *const names[] = {"n", "e", "d", "p", "q", "dp", "dq", "qi"};
    const json_t *cases = json_object_get(vectors_load(mem, "rfc-jws.json"), "cases");
    const json_t *source = json_object_get(json_array_get(cases, 0), "key");

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        json_t *without = jsonx_own(mem, json_deep_copy(source));
        struct jwk *key = NULL;
        json_t *dumped = NULL;
        json_object_del(without, names[i]);
        is_int(jwk_parse(mem, without, JWK_PRIVATE, &key, NULL), AZ_INVALID,
               "refuses an RSA pair without %s", names[i]);
        ok(key == NULL, "... and leaves the output alone");
        enum az_status status =
            jwk_parse(mem, changed_member(mem, source, names[i]), JWK_PRIVATE, &key, NULL);
        if (i < 5) {
            is_int(status, AZ_INVALID, "refuses an RSA pair with another %s", names[i]);
            continue;
        }
        /* Members that follow from the others are computed again. */
        jwk_dump_private(key, &dumped);
        ok(json_equal(jsonx_own(mem, dumped), source), "a wrong %s is put right", names[i]);
    }
}

#define GOOD "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" ED_X "\"}"
#define OFF_CURVE "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\",\"y\":\"" EC_X "\"}"
#define WEAK "{\"kty\":\"RSA\",\"n\":\"_w\",\"e\":\"AQAB\"}"
#define PRIVATE "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" ED_X "\",\"d\":\"AA\"}"

static void
test_sets(TALLOC_CTX *mem)
{
    /* clang-format off */
    static const struct {
        const char *text;
        int registered; /* keys read, or -1: refused */
        int fetched;
        const char *name;
    } sets[] = {
        {"{\"keys\":[" GOOD "]}", 1, 1, "one key"},
        {"{\"keys\":[]}", 0, 0, "no key"},
        {"{\"keys\":[" GOOD "],\"spiffe_sequence\":1}", 1, 1, "members it does not know"},
        {"{\"keys\":[" GOOD ",{\"kty\":\"XYZ\"}]}", 1, 1, "an unknown kty (RFC 7517 5)"},
        {"{\"keys\":[" GOOD ",{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"AA\"}]}", 1, 1,
         "an unknown crv (RFC 7517 5)"},
        {"{\"keys\":[" GOOD "," OFF_CURVE "]}", -1, 1, "a key off its curve"},
        {"{\"keys\":[" GOOD "," WEAK "]}", -1, 1, "a weak key"},
        {"{\"keys\":[" GOOD "," PRIVATE "]}", -1, 1, "a private key"},
        {"{\"keys\":[" GOOD ",{\"kty\":\"oct\",\"k\":\"AA\"}]}", -1, 1, "a symmetric key"},
        {"{\"keys\":[" GOOD ",{\"kty\":\"XYZ\",\"d\":\"AA\"}]}", -1, 1,
         "a private key of an unknown kty"},
        {"{\"keys\":[" GOOD ",{}]}", -1, 1, "a key without kty"},
        {"{\"keys\":[" GOOD ",1]}", -1, 1, "a key that is a number"},
        {"{\"keys\":{}}", -1, -1, "keys that is an object"},
        {"{}", -1, -1, "no keys"},
        {"[" GOOD "]", -1, -1, "an array"},
        {GOOD, -1, -1, "a key alone"},
        {"{\"keys\":[],\"keys\":[" GOOD "]}", -1, -1, "keys twice"},
        {"", -1, -1, "nothing"},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        const int wanted[] = {sets[i].registered, sets[i].fetched};
        for (int mode = 0; mode < 2; mode++) {
            struct jwk_set *set = NULL;
            const char *why = NULL;
            enum az_status status = jwk_set_parse_text(mem, sets[i].text, strlen(sets[i].text),
                                                       (enum jwk_set_mode) mode, &set, &why);
            int seen = status == AZ_OK ? (int) set->count : -1;
            is_int(seen, wanted[mode], "%s set with %s", mode ? "fetched" : "registered",
                   sets[i].name);
            ok((why != NULL) == (status == AZ_INVALID), "... says why when it is refused");
        }
    }
}

static char *
many_keys(TALLOC_CTX *mem, unsigned count)
{
    char *text = talloc_strdup(mem, "{\"keys\":[" GOOD);
    for (unsigned i = 1; i < count; i++)
        text = talloc_strdup_append_buffer(text, "," GOOD);
    return talloc_strdup_append_buffer(text, "]}");
}

static void
test_set_limits(TALLOC_CTX *mem)
{
    struct jwk_set *set = NULL;
    char *at = many_keys(mem, JWK_SET_KEYS_MAX);
    char *past = many_keys(mem, JWK_SET_KEYS_MAX + 1);
    char *large = talloc_size(mem, JWK_SET_OCTETS_MAX + 1);

    is_int(jwk_set_parse_text(mem, at, strlen(at), JWK_SET_FETCHED, &set, NULL), AZ_OK,
           "the largest number of keys");
    is_int(jwk_set_parse_text(mem, past, strlen(past), JWK_SET_FETCHED, &set, NULL), AZ_INVALID,
           "one key more");
    memset(large, ' ', JWK_SET_OCTETS_MAX + 1);
    memcpy(large, at, strlen(at));
    is_int(jwk_set_parse_text(mem, large, JWK_SET_OCTETS_MAX, JWK_SET_FETCHED, &set, NULL), AZ_OK,
           "the largest text");
    is_int(jwk_set_parse_text(mem, large, JWK_SET_OCTETS_MAX + 1, JWK_SET_FETCHED, &set, NULL),
           AZ_INVALID, "one octet more");
    static const char deep[] = "{\"keys\":[{\"a\":[[[[[1]]]]]}]}";
    static const char deeper[] = "{\"keys\":[{\"a\":[[[[[[1]]]]]]}]}";
    is_int(jwk_set_parse_text(mem, deep, strlen(deep), JWK_SET_FETCHED, &set, NULL), AZ_OK,
           "the deepest nesting");
    is_int(jwk_set_parse_text(mem, deeper, strlen(deeper), JWK_SET_FETCHED, &set, NULL), AZ_INVALID,
           "one level more");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    test_rows(mem);
    test_rsa_limits(mem);
    test_names(mem);
    test_thumbprints(mem);
    test_dump(mem);
    test_pairs(mem);
    test_rsa_pair_members(mem);
    test_sets(mem);
    test_set_limits(mem);
    talloc_free(mem);
    return done();
}
