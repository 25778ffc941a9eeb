#include "config.h"

#include "crypto/jws.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "crypto/keypair.h"
#include "keys.h"
#include "tap.h"
#include "vectors/load.h"

static const char *const usual_algs[] = {"RS256", "PS256", "ES256", "ES384",
                                         "ES512", "EdDSA", NULL};
static const char *const usual_types[] = {"JWT", NULL};

/* Names of vectors to faults. */
/* clang-format off */
static const struct {
    const char *name;
    enum jws_fault fault;
} faults[] = {
    {"NONE", JWS_FAULT_NONE},
    {"SIZE", JWS_FAULT_SIZE},
    {"FORM", JWS_FAULT_FORM},
    {"HEADER", JWS_FAULT_HEADER},
    {"EXTENSION", JWS_FAULT_EXTENSION},
    {"TYP", JWS_FAULT_TYP},
    {"ALG", JWS_FAULT_ALG},
    {"KEY", JWS_FAULT_KEY},
    {"SIGNATURE", JWS_FAULT_SIGNATURE},
};
/* clang-format on */

static enum jws_fault
fault_of(const char *name)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        if (strcmp(name, faults[i].name) == 0)
            return faults[i].fault;
    return JWS_FAULT_OURS;
}

static struct jwk_set *
read_keys(TALLOC_CTX *mem, const json_t *keys)
{
    struct jwk_set *set = NULL;
    const char *why = "";
    json_t *object = jsonx_own(mem, json_pack("{s:O}", "keys", keys));

    if (jwk_set_parse(mem, object, JWK_SET_REGISTERED, &set, &why) != AZ_OK)
        ok(false, "keys of a vector: %s", why);
    return set;
}

/* A NULL-terminated list from an array, or the usual one. */
static const char *const *
read_list(TALLOC_CTX *mem, const json_t *array, const char *const *usual)
{
    if (array == NULL)
        return usual;
    size_t count = json_array_size(array);
    const char **list = talloc_zero_array(mem, const char *, (unsigned) count + 1);
    for (size_t i = 0; i < count; i++)
        list[i] = json_string_value(json_array_get(array, i));
    return list;
}

static enum jws_fault
check(TALLOC_CTX *mem, const char *text, size_t len, const struct jws_policy *policy,
      struct jws **ret)
{
    enum jws_fault fault = JWS_FAULT_NONE;

    if (jws_parse_unverified(mem, text, len, ret, &fault) == AZ_OK)
        jws_verify(*ret, policy, NULL, &fault);
    return fault;
}

static void
test_rfc(TALLOC_CTX *mem)
{
    size_t i;
    const json_t *row;

    json_array_foreach (json_object_get(vectors_load(mem, "rfc-jws.json"), "cases"), i, row) {
        const char *name = vectors_text(row, "name");
        const char *text = vectors_text(row, "token");
        json_t *public = json_deep_copy(json_object_get(row, "key"));
        static const char *const private[] = {"d", "p", "q", "dp", "dq", "qi"};
        for (size_t j = 0; j < sizeof(private) / sizeof(private[0]); j++)
            json_object_del(public, private[j]);
        json_t *keys = jsonx_own(mem, json_pack("[o]", public));
        const char *algs[] = {vectors_text(row, "alg"), NULL};
        struct jws_policy policy = {
            .keys = read_keys(mem, keys), .algs = algs, .types = usual_types, .typ_optional = true};
        struct jws *jws = NULL;
        is_int(check(mem, text, strlen(text), &policy, &jws), JWS_FAULT_NONE, "verify %s", name);
        char *changed = talloc_strdup(mem, text);
        char *last = strrchr(changed, '.') + 1;
        *last = *last == 'A' ? 'B' : 'A';
        is_int(check(mem, changed, strlen(changed), &policy, &jws), JWS_FAULT_SIGNATURE,
               "... and refuse it with another signature");
    }
}

/* A member of a private JWK as octets. */
static gnutls_datum_t
octets_of(TALLOC_CTX *mem, const json_t *key, const char *name)
{
    const char *text = json_string_value(json_object_get(key, name));
    unsigned char *octets = NULL;
    size_t length = 0;
    if (text != NULL)
        b64url_decode(mem, text, strlen(text), &octets, &length);
    return (gnutls_datum_t){.data = octets, .size = (unsigned) length};
}

/* The key pair of a vector. The service itself reads no private JWK. */
static struct jwk *
pair_of(TALLOC_CTX *mem, const json_t *object)
{
    gnutls_datum_t n = octets_of(mem, object, "n"), e = octets_of(mem, object, "e"),
                   d = octets_of(mem, object, "d"), p = octets_of(mem, object, "p"),
                   q = octets_of(mem, object, "q"), x = octets_of(mem, object, "x");
    gnutls_privkey_t priv = NULL;
    gnutls_pubkey_t pub = NULL;
    struct jwk *key = NULL;
    gnutls_privkey_init(&priv);
    gnutls_pubkey_init(&pub);
    int failed = n.size > 0
                     ? gnutls_privkey_import_rsa_raw(priv, &n, &e, &d, &p, &q, NULL, NULL, NULL)
                     : gnutls_privkey_import_ecc_raw(priv, GNUTLS_ECC_CURVE_ED25519, &x, NULL, &d);
    ok(!failed && gnutls_pubkey_import_privkey(pub, priv, 0, 0) == 0
           && jwk_wrap(mem, pub, priv, &key, NULL) == AZ_OK,
       "the key pair of a vector is read");
    return key;
}

/* RS256 and EdDSA are deterministic: our signature must be the one of the RFC. */
static void
test_rfc_sign(TALLOC_CTX *mem)
{
    size_t i;
    const json_t *row;

    json_array_foreach (json_object_get(vectors_load(mem, "rfc-jws.json"), "cases"), i, row) {
        const char *alg = vectors_text(row, "alg");
        if (strcmp(alg, "RS256") != 0 && strcmp(alg, "EdDSA") != 0)
            continue;
        const char *text = vectors_text(row, "token");
        struct jwk *key = pair_of(mem, json_object_get(row, "key"));
        struct jws *jws = NULL;
        char *made = NULL;
        jws_parse_unverified(mem, text, strlen(text), &jws, NULL);
        is_int(jws_sign(mem, key, alg, NULL, jws->payload, jws->payload_len, &made), AZ_OK,
               "sign %s", vectors_text(row, "name"));
        is_str(made, text, "... to the same token");
    }
}

static void
test_cases(TALLOC_CTX *mem)
{
    const json_t *vectors = vectors_load(mem, "jws-cases.json");
    const struct jwk_set *usual = read_keys(mem, json_object_get(vectors, "keys"));
    size_t i;
    const json_t *row;

    json_array_foreach (json_object_get(vectors, "cases"), i, row) {
        const char *wanted = vectors_text(row, "wanted");
        const char *text = vectors_text(row, "token");
        const json_t *keys = json_object_get(row, "keys");
        struct jws_policy policy = {
            .keys = keys != NULL ? read_keys(mem, keys) : usual,
            .algs = read_list(mem, json_object_get(row, "algs"), usual_algs),
            .types = read_list(mem, json_object_get(row, "types"), usual_types),
            .typ_optional = !json_is_true(json_object_get(row, "typ_required")),
            .key_use = json_string_value(json_object_get(row, "key_use")),
        };
        struct jws *jws = NULL;
        enum jws_fault fault = check(mem, text, strlen(text), &policy, &jws);
        ok(fault == fault_of(wanted), "%s: %s (%s)",
           fault_of(wanted) == JWS_FAULT_NONE ? "accepts" : "refuses", vectors_text(row, "name"),
           jws_fault_text(fault));
    }
}

static void
test_outputs(TALLOC_CTX *mem)
{
    const json_t *vectors = vectors_load(mem, "jws-cases.json");
    struct jws_policy policy = {.keys = read_keys(mem, json_object_get(vectors, "keys")),
                                .algs = usual_algs,
                                .types = usual_types,
                                .typ_optional = true};
    const char *text = vectors_text(json_array_get(json_object_get(vectors, "cases"), 0), "token");
    struct jws *jws = (struct jws *) mem;
    const struct jwk *key = NULL;

    is_int(jws_parse_unverified(mem, "a.b", 3, &jws, NULL), AZ_INVALID, "a fault may be ignored");
    ok(jws == (struct jws *) mem, "... and the output stays as it was");
    jws_parse_unverified(mem, text, strlen(text), &jws, NULL);
    is_str(jws->alg, "RS256", "alg is read");
    is_str(jws->kid, "rsa", "kid is read");
    ok(jws->typ == NULL, "typ is read");
    is_int(jws_verify(jws, &policy, &key, NULL), AZ_OK, "verify");
    is_str(key->kid, "rsa", "... tells which key it was");
    policy.keys = keys_of(mem, NULL, 0);
    const struct jwk *kept = key;
    jws_verify(jws, &policy, &key, NULL);
    ok(key == kept, "... and does not when none was");
}

/* A set of keys is fetched again for a token that a newer key may have signed, and for no other. */
static void
test_new_key(TALLOC_CTX *mem)
{
    struct jws named = {.kid = talloc_strdup(mem, "k")}, unnamed = {.kid = NULL};

    ok(jws_key_may_be_new(&named, JWS_FAULT_KEY), "an unknown kid may be that of a new key");
    ok(jws_key_may_be_new(&unnamed, JWS_FAULT_KEY), "no fitting key: there may be a new one");
    ok(jws_key_may_be_new(&unnamed, JWS_FAULT_SIGNATURE), "without kid, so may a bad signature");
    ok(!jws_key_may_be_new(&named, JWS_FAULT_SIGNATURE), "with a known kid it is just bad");
    ok(!jws_key_may_be_new(&unnamed, JWS_FAULT_ALG), "another fault has nothing to do with keys");
}

/* Each row of the table signs and verifies, and does not with any key of another kind. */
static void
test_sign(TALLOC_CTX *mem)
{
    static const char *const names[] = {"RS256", "RS384", "RS512", "PS256", "PS384",
                                        "PS512", "ES256", "ES384", "ES512", "EdDSA"};
    struct jwk *keys[5];

    keypair_generate_rsa(mem, 2048, &keys[0]);
    keys_generate_ec(mem, "P-256", &keys[1]);
    keys_generate_ec(mem, "P-384", &keys[2]);
    keys_generate_ec(mem, "P-521", &keys[3]);
    keys_generate_ec(mem, "Ed25519", &keys[4]);
    keys[0]->alg = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *algs[] = {names[i], NULL};
        unsigned signed_with = 0;
        for (size_t k = 0; k < 5; k++) {
            const struct jwk *key = keys[k];
            struct jws_policy policy = {
                .keys = keys_of(mem, &key, 1), .algs = algs, .types = usual_types};
            struct jws *jws = NULL;
            char *text = NULL;
            if (jws_sign(mem, key, names[i], "JWT", "{}", 2, &text) != AZ_OK)
                continue;
            signed_with++;
            is_int(check(mem, text, strlen(text), &policy, &jws), JWS_FAULT_NONE,
                   "%s: sign and verify", names[i]);
            is_str(jws->kid, key->kid, "... with the key's kid");
        }
        is_int(signed_with, 1, "%s signs with keys of one kind only", names[i]);
    }
}

/* r and s have leading zeros in one of 128 signatures: they must be kept (RFC 7518 3.4). */
static void
test_sign_many(TALLOC_CTX *mem)
{
    struct jwk *made;
    unsigned wrong = 0;

    keys_generate_ec(mem, "P-256", &made);
    const struct jwk *key = made;
    struct jws_policy policy = {.keys = keys_of(mem, &key, 1),
                                .algs = usual_algs,
                                .types = usual_types,
                                .typ_optional = true};
    for (int i = 0; i < 600; i++) {
        TALLOC_CTX *scratch = talloc_new(mem);
        struct jws *jws = NULL;
        char *text = NULL;
        jws_sign(scratch, key, "ES256", NULL, &i, sizeof(i), &text);
        wrong += check(scratch, text, strlen(text), &policy, &jws) != JWS_FAULT_NONE;
        wrong += jws->signature_len != 64;
        talloc_free(scratch);
    }
    is_int(wrong, 0, "600 ES256 signatures all have 64 octets and verify");
}

static void
test_sign_refused(TALLOC_CTX *mem)
{
    struct jwk *pair = NULL;
    struct jwk *public = NULL;
    char *text = (char *) mem;
    json_t *object = NULL;

    keys_generate_ec(mem, "P-256", &pair);
    jwk_dump(pair, &object);
    jwk_parse(mem, jsonx_own(mem, object), &public, NULL);
    is_int(jws_sign(mem, pair, "none", NULL, "{}", 2, &text), AZ_INVALID, "sign refuses none");
    is_int(jws_sign(mem, pair, "HS256", NULL, "{}", 2, &text), AZ_INVALID, "sign refuses HS256");
    is_int(jws_sign(mem, pair, "ES384", NULL, "{}", 2, &text), AZ_INVALID,
           "sign refuses an algorithm of another curve");
    is_int(jws_sign(mem, public, "ES256", NULL, "{}", 2, &text), AZ_INVALID,
           "sign refuses a public key");
    char *large = talloc_zero_size(mem, JWS_OCTETS_MAX);
    is_int(jws_sign(mem, pair, "ES256", NULL, large, JWS_OCTETS_MAX, &text), AZ_INVALID,
           "sign refuses a token that no verifier would accept");
    ok(text == (char *) mem, "... and leaves the output alone");
    json_t *claims = jsonx_own(mem, json_pack("{s:s}", "sub", "x"));
    struct jws *jws = NULL;
    is_int(jws_sign_json(mem, pair, "ES256", "dpop+jwt", claims, &text), AZ_OK, "sign an object");
    jws_parse_unverified(mem, text, strlen(text), &jws, NULL);
    is_bin(jws->payload, jws->payload_len, "{\"sub\":\"x\"}", 11, "... as its compact JSON");
    is_str(jws->typ, "dpop+jwt", "... with the typ asked for");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    test_rfc(mem);
    test_rfc_sign(mem);
    test_cases(mem);
    test_outputs(mem);
    test_new_key(mem);
    test_sign(mem);
    test_sign_many(mem);
    test_sign_refused(mem);
    talloc_free(mem);
    return done();
}
