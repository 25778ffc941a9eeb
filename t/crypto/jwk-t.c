#include "config.h"

#include "crypto/jwk.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "crypto/jwk_set.h"
#include "keys.h"
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
     "key is not valid for its type or curve", "a point off the curve (RFC 7518 6.2.1)"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\","
     "\"y\":"
     "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
     "key is not valid for its type or curve", "the point 0, 0"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"__________________________________________8\","
     "\"y\":"
     "\"__________________________________________8\"}",
     "key is not valid for its type or curve", "coordinates beyond the field"},
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
        enum az_status status = jwk_parse(mem, parse_json(mem, rows[i].text), &key, &why);
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
    static const char wrong[] = "key is not valid for its type or curve";
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
        enum az_status status = jwk_parse(mem, object, &key, &why);
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
    is_int(jwk_parse(mem, even, &key, NULL), AZ_INVALID, "RSA: an even modulus");
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
    is_int(jwk_parse(mem, object, &key, NULL), AZ_INVALID, "a kid one too long");
    kid[JWK_NAME_MAX] = '\0';
    json_object_set_new(object, "kid", json_string(kid));
    is_int(jwk_parse(mem, object, &key, NULL), AZ_OK, "the longest kid");
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
        jwk_parse(mem, json_object_get(row, "key"), &key, NULL);
        is_int(jwk_thumbprint(key, seen), AZ_OK, "thumbprint: %s", vectors_text(row, "name"));
        is_str(seen, vectors_text(row, "thumbprint"), "... is the published one");
    }
    char plain[JWK_THUMBPRINT_SIZE] = "";
    char filled[JWK_THUMBPRINT_SIZE] = "";
    struct jwk *key = NULL;
    jwk_parse(mem, rsa_json(mem, 2048, 0, "AQAB"), &key, NULL);
    jwk_thumbprint(key, plain);
    jwk_parse(mem, rsa_json(mem, 2048, 1, "AAEAAQ"), &key, NULL);
    jwk_thumbprint(key, filled);
    is_str(filled, plain, "thumbprint: leading zeros of n and e do not count (RFC 7638 3.3)");
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
            enum az_status status = keys_parse_text(mem, sets[i].text, strlen(sets[i].text),
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

    is_int(keys_parse_text(mem, at, strlen(at), JWK_SET_FETCHED, &set, NULL), AZ_OK,
           "the largest number of keys");
    is_int(keys_parse_text(mem, past, strlen(past), JWK_SET_FETCHED, &set, NULL), AZ_INVALID,
           "one key more");
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
    test_sets(mem);
    test_set_limits(mem);
    talloc_free(mem);
    return done();
}
