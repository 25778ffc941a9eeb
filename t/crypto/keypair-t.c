#include "config.h"

#include "crypto/keypair.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/jws.h"
#include "keys.h"
#include "tap.h"

/* clang-format off */
static const struct {
    const char *curve; /* NULL: RSA */
    const char *alg;
} kinds[] = {
    {NULL, "RS256"},    {"P-256", "ES256"},   {"P-384", "ES384"},
    {"P-521", "ES512"}, {"Ed25519", "EdDSA"},
};
/* clang-format on */

/* Signs with one key and verifies with another. */
static bool
verifies(TALLOC_CTX *mem, const struct jwk *signer, const struct jwk *verifier)
{
    const char *algs[] = {signer->alg, NULL};
    const char *types[] = {NULL};
    struct jws_policy policy = {
        .keys = keys_of(mem, &verifier, 1), .algs = algs, .types = types, .typ_optional = true};
    struct jws *jws;
    char *text;

    return jws_sign(mem, signer, signer->alg, NULL, "{}", 2, &text) == AZ_OK
           && jws_parse_unverified(mem, text, strlen(text), &jws, NULL) == AZ_OK
           && jws_verify(jws, &policy, NULL, NULL) == AZ_OK;
}

static void
test_kind(TALLOC_CTX *mem, const char *curve, const char *alg)
{
    const char *name = curve != NULL ? curve : "RSA";
    char thumbprint[JWK_THUMBPRINT_SIZE] = "";
    struct jwk *key = NULL;
    struct jwk *other = NULL;
    struct jwk *again = NULL;
    unsigned char *der = NULL;
    size_t len = 0;

    is_int(curve != NULL ? keys_generate_ec(mem, curve, &key)
                         : keypair_generate_rsa(mem, 2048, &key),
           AZ_OK, "%s: generate", name);
    jwk_thumbprint(key, thumbprint);
    is_str(key->kid, thumbprint, "... kid is the thumbprint (RFC 7638)");
    is_str(key->alg, alg, "... alg");
    is_str(key->use, "sig", "... use");
    is_int(keypair_dump(mem, key, &der, &len), AZ_OK, "... dump");
    is_int(keypair_parse(mem, der, len, &again), AZ_OK, "... parse");
    is_str(again->kid, key->kid, "... kid is the same");
    ok(verifies(mem, key, again) && verifies(mem, again, key), "... and so are both halves");
    if (curve != NULL)
        keys_generate_ec(mem, curve, &other);
    else
        keypair_generate_rsa(mem, 2048, &other);
    ok(strcmp(other->kid, key->kid) != 0, "... the next pair is another");
    other->kid = key->kid;
    ok(!verifies(mem, key, other), "... which does not verify what the first signed");
    unsigned parsed = 0;
    for (size_t cut = 0; cut < len; cut++)
        parsed += keypair_parse(mem, der, cut, &again) == AZ_OK;
    is_int(parsed, 0, "... cut short it does not parse");
}

static void
test_public(TALLOC_CTX *mem)
{
    struct jwk *key = NULL;
    struct jwk *public = NULL;
    json_t *object = NULL;
    unsigned char *der = (unsigned char *) mem;
    size_t len = 7;

    keys_generate_ec(mem, "P-256", &key);
    jwk_dump(key, &object);
    jsonx_own(mem, object);
    is_str(json_string_value(json_object_get(object, "kid")), key->kid, "public JWK has the kid");
    is_str(json_string_value(json_object_get(object, "use")), "sig", "... the use");
    is_str(json_string_value(json_object_get(object, "alg")), "ES256", "... the alg");
    is_int((int64_t) json_object_size(object), 7, "... and nothing but kty, crv, x and y besides");
    is_int(jwk_parse(mem, object, &public, NULL), AZ_OK, "... and parses");
    ok(verifies(mem, key, public), "... to a key that verifies");
    is_int(keypair_dump(mem, public, &der, &len), AZ_INVALID, "dump refuses a public key");
    ok(der == (unsigned char *) mem && len == 7, "... and leaves the outputs alone");
}

/* keypair_generate_p256() makes what the service signs ES256 with. */
static void
test_p256(TALLOC_CTX *mem)
{
    struct jwk *key = NULL, *again = NULL;
    unsigned char *der = NULL;
    size_t len = 0;

    is_int(keypair_generate_p256(mem, &key), AZ_OK, "P-256: generated");
    is_str(key->alg, "ES256", "... for ES256");
    is_str(key->use, "sig", "... to sign");
    is_str(key->curve->name, "P-256", "... on this curve");
    is_int(keypair_dump(mem, key, &der, &len), AZ_OK, "... dump");
    is_int(keypair_parse(mem, der, len, &again), AZ_OK, "... parse");
    is_str(again->kid, key->kid, "... to the same kid");
    ok(verifies(mem, again, key), "... and the same pair");
    is_int(keypair_generate_p256(mem, &again), AZ_OK, "P-256: another");
    ok(strcmp(again->kid, key->kid) != 0, "... which differs");
}

static void
test_refused(TALLOC_CTX *mem)
{
    struct jwk *key = NULL;
    static const unsigned char garbage[9000] = {0x30, 0x82};

    is_int(keypair_generate_rsa(mem, 2047, &key), AZ_INVALID, "generate refuses 2047 bits");
    is_int(keypair_generate_rsa(mem, 1024, &key), AZ_INVALID, "generate refuses 1024 bits");
    is_int(keypair_generate_rsa(mem, 8193, &key), AZ_INVALID, "generate refuses 8193 bits");
    is_int(keypair_parse(mem, "", 0, &key), AZ_INVALID, "parse refuses nothing");
    is_int(keypair_parse(mem, garbage, sizeof(garbage), &key), AZ_INVALID,
           "parse refuses what is too long");
    is_int(keypair_parse(mem, garbage, 100, &key), AZ_INVALID, "parse refuses garbage");
    ok(key == NULL, "... and all leave the output alone");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        test_kind(mem, kinds[i].curve, kinds[i].alg);
    test_public(mem);
    test_p256(mem);
    test_refused(mem);
    talloc_free(mem);
    return done();
}
