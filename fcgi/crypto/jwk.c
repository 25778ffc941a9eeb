#include "config.h"

#include "crypto/jwk.h"

#include <stdint.h>
#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "crypto/secret.h"

static const struct jwk_curve curves[] = {
    {"P-256",   JWK_EC,  GNUTLS_ECC_CURVE_SECP256R1, 32},
    {"P-384",   JWK_EC,  GNUTLS_ECC_CURVE_SECP384R1, 48},
    {"P-521",   JWK_EC,  GNUTLS_ECC_CURVE_SECP521R1, 66},
    {"Ed25519", JWK_OKP, GNUTLS_ECC_CURVE_ED25519,   32},
};

#define CURVE_COUNT (sizeof(curves) / sizeof(curves[0]))

const struct jwk_curve *
jwk_curve_find(const char *name)
{
    for (size_t i = 0; i < CURVE_COUNT; i++)
        if (strcmp(name, curves[i].name) == 0)
            return &curves[i];
    return NULL;
}

static const struct jwk_curve *
jwk_curve_find_gnutls(gnutls_ecc_curve_t curve)
{
    for (size_t i = 0; i < CURVE_COUNT; i++)
        if (curve == curves[i].gnutls)
            return &curves[i];
    return NULL;
}

/* Reasons to refuse a key: constant texts that may be shown to the sender of the key. */
static const char why_not_object[] = "key is not a JSON object";
static const char why_kty[] = "key type is not supported";
static const char why_crv[] = "curve is not supported";
static const char why_private[] = "key has private members";
static const char why_name[] = "kid, use, alg or key_ops is malformed";
static const char why_member[] = "a member of the key is missing or malformed";
static const char why_weak[] = "RSA key is smaller than 2048 bits";
static const char why_large[] = "RSA key is larger than 8192 bits or its exponent is too large";
static const char why_point[] = "key is not valid for its type or curve";

/* Members that only private or symmetric keys have (RFC 7518 sections 6.2.2, 6.3.2, 6.4). */
static const char *const private_members[] = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"};

static bool
has_private_member(const json_t *object)
{
    for (size_t i = 0; i < sizeof(private_members) / sizeof(private_members[0]); i++)
        if (json_object_get(object, private_members[i]) != NULL)
            return true;
    return false;
}

static enum az_status
jwk_refuse(const char *why, const char **ret_why)
{
    if (ret_why != NULL)
        *ret_why = why;
    return AZ_INVALID;
}

static int
jwk_free(struct jwk *key)
{
    if (key->pub != NULL)
        gnutls_pubkey_deinit(key->pub);
    if (key->priv != NULL)
        gnutls_privkey_deinit(key->priv);
    return 0;
}

static struct jwk *
jwk_new(TALLOC_CTX *mem)
{
    struct jwk *key = talloc_zero(mem, struct jwk);
    if (key == NULL)
        return NULL;
    talloc_set_destructor(key, jwk_free);
    return key;
}

/*
 * Decode one base64url member into octets that are wiped with mem. If size is not 0, the member
 * must have exactly that size. Otherwise leading zeros are removed: RFC 7518 section 2 forbids
 * them, but some libraries write one.
 */
static enum az_status
member_octets(TALLOC_CTX *mem, const json_t *object, const char *name, size_t size,
              gnutls_datum_t *ret)
{
    const json_t *value = json_object_get(object, name);
    size_t len = json_string_length(value);

    if (len == 0 || len > B64URL_LENGTH(JWK_RSA_BITS_MAX / 8 + 1))
        return AZ_INVALID;
    size_t octets = len / 4 * 3 + (len % 4 ? len % 4 - 1 : 0);
    unsigned char *data = secret_alloc(mem, octets);
    if (data == NULL)
        return AZ_SERVER_ERROR;
    if (b64url_decode_into(json_string_value(value), len, data, octets) != AZ_OK)
        return AZ_INVALID;
    if (size == 0) {
        while (octets > 0 && *data == 0) {
            data++;
            octets--;
        }
    }
    if (octets == 0 || (size != 0 && octets != size))
        return AZ_INVALID;
    *ret = (gnutls_datum_t){.data = data, .size = (unsigned) octets};
    return AZ_OK;
}

struct wanted_member {
    const char *name;
    size_t size;         /* as in member_octets() */
    gnutls_datum_t *ret; /* where it goes */
};

static enum az_status
jwk_read_members(TALLOC_CTX *mem, const json_t *object, const struct wanted_member *wanted,
                 size_t count, const char **ret_why)
{
    for (size_t i = 0; i < count; i++) {
        enum az_status status =
            member_octets(mem, object, wanted[i].name, wanted[i].size, wanted[i].ret);
        if (status == AZ_INVALID)
            return jwk_refuse(why_member, ret_why);
        if (status != AZ_OK)
            return status;
    }
    return AZ_OK;
}

static unsigned
bit_length(const gnutls_datum_t *number)
{
    unsigned bits = number->size * 8;
    for (unsigned char top = number->data[0]; top < 0x80; top = (unsigned char) (top << 1))
        bits--;
    return bits;
}

static bool
is_odd(const gnutls_datum_t *number)
{
    return number->data[number->size - 1] & 1;
}

/* Check the sizes of an RSA key, and refuse values that no RSA key has: even numbers, or 1 as
 * exponent. */
static enum az_status
check_rsa(struct jwk *key, const gnutls_datum_t *n, const gnutls_datum_t *e, const char **ret_why)
{
    key->bits = bit_length(n);
    if (key->bits < JWK_RSA_BITS_MIN)
        return jwk_refuse(why_weak, ret_why);
    if (key->bits > JWK_RSA_BITS_MAX || e->size > JWK_RSA_EXPONENT_MAX)
        return jwk_refuse(why_large, ret_why);
    if (!is_odd(n) || !is_odd(e) || bit_length(e) < 2)
        return jwk_refuse(why_point, ret_why);
    return AZ_OK;
}

static enum az_status
parse_rsa(TALLOC_CTX *mem, struct jwk *key, const json_t *object, const char **ret_why)
{
    gnutls_datum_t n, e;
    const struct wanted_member wanted[] = {
        {"n", 0, &n},
        {"e", 0, &e},
    };

    enum az_status status = jwk_read_members(mem, object, wanted, 2, ret_why);
    if (status == AZ_OK)
        status = check_rsa(key, &n, &e, ret_why);
    if (status != AZ_OK)
        return status;
    return gnutls_pubkey_import_rsa_raw(key->pub, &n, &e) == 0 ? AZ_OK
                                                               : jwk_refuse(why_point, ret_why);
}

static enum az_status
parse_curve(TALLOC_CTX *mem, struct jwk *key, const json_t *object, const char **ret_why)
{
    gnutls_datum_t x, y;
    const char *crv = json_string_value(json_object_get(object, "crv"));

    key->curve = crv != NULL ? jwk_curve_find(crv) : NULL;
    if (key->curve == NULL || key->curve->kty != key->kty)
        return jwk_refuse(why_crv, ret_why);
    size_t size = key->curve->octets;
    bool has_y = key->kty == JWK_EC;
    const struct wanted_member coordinates[] = {
        {"x", size, &x},
        {"y", size, &y}
    };
    enum az_status status = jwk_read_members(mem, object, coordinates, has_y ? 2 : 1, ret_why);
    if (status != AZ_OK)
        return status;
    return gnutls_pubkey_import_ecc_raw(key->pub, key->curve->gnutls, &x, has_y ? &y : NULL) == 0
               ? AZ_OK
               : jwk_refuse(why_point, ret_why);
}

/*
 * Check that the point is on its curve. The import accepts any numbers; with a point off the curve
 * a signer could cheat, or learn a private key. Every octet string is valid for the Edwards curves
 * until it is used, when the library checks it.
 */
static bool
is_on_curve(const struct jwk *key)
{
    return key->kty == JWK_OKP || gnutls_pubkey_verify_params(key->pub) == 0;
}

/* Copy a member that is absent or a text of limited length to the key. */
static enum az_status
jwk_read_name(struct jwk *key, const json_t *object, const char *name, const char **ret,
              const char **ret_why)
{
    const json_t *value = json_object_get(object, name);

    if (value == NULL)
        return AZ_OK;
    if (!json_is_string(value) || json_string_length(value) > JWK_NAME_MAX)
        return jwk_refuse(why_name, ret_why);
    *ret = talloc_strdup(key, json_string_value(value));
    return *ret != NULL ? AZ_OK : AZ_SERVER_ERROR;
}

/* Read key_ops (RFC 7517 section 4.3). */
static enum az_status
read_key_ops(struct jwk *key, const json_t *object, const char **ret_why)
{
    const json_t *ops = json_object_get(object, "key_ops");
    size_t i;
    const json_t *op;

    key->may_verify = ops == NULL;
    if (ops == NULL)
        return AZ_OK;
    if (!json_is_array(ops))
        return jwk_refuse(why_name, ret_why);
    json_array_foreach (ops, i, op) {
        if (!json_is_string(op))
            return jwk_refuse(why_name, ret_why);
        if (strcmp(json_string_value(op), "verify") == 0)
            key->may_verify = true;
    }
    return AZ_OK;
}

static enum az_status
read_names(struct jwk *key, const json_t *object, const char **ret_why)
{
    enum az_status status = jwk_read_name(key, object, "kid", &key->kid, ret_why);
    if (status == AZ_OK)
        status = jwk_read_name(key, object, "use", &key->use, ret_why);
    if (status == AZ_OK)
        status = jwk_read_name(key, object, "alg", &key->alg, ret_why);
    if (status == AZ_OK)
        status = read_key_ops(key, object, ret_why);
    return status;
}

/* One row per kty, with the reader of its members. */
/* clang-format off */
static const struct key_type {
    const char *name;
    enum jwk_kty kty;
    enum az_status (*parse)(TALLOC_CTX *mem, struct jwk *key, const json_t *object,
                            const char **ret_why);
} key_types[] = {
    {"RSA", JWK_RSA, parse_rsa},
    {"EC", JWK_EC, parse_curve},
    {"OKP", JWK_OKP, parse_curve},
};
/* clang-format on */

static const struct key_type *
key_type_find(const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "kty"));

    for (size_t i = 0; name != NULL && i < sizeof(key_types) / sizeof(key_types[0]); i++)
        if (strcmp(name, key_types[i].name) == 0)
            return &key_types[i];
    return NULL;
}

bool
jwk_is_foreign(const json_t *object)
{
    const char *kty = json_string_value(json_object_get(object, "kty"));
    const char *crv = json_string_value(json_object_get(object, "crv"));

    if (kty == NULL || has_private_member(object))
        return false;
    const struct key_type *type = key_type_find(object);
    return type == NULL || (type->kty != JWK_RSA && crv != NULL && jwk_curve_find(crv) == NULL);
}

static enum az_status
parse_into(struct jwk *key, const struct key_type *type, const json_t *object, const char **ret_why)
{
    key->kty = type->kty;
    if (gnutls_pubkey_init(&key->pub) != 0)
        return AZ_SERVER_ERROR;
    TALLOC_CTX *scratch = talloc_new(key);
    if (scratch == NULL)
        return AZ_SERVER_ERROR;
    enum az_status status = type->parse(scratch, key, object, ret_why);
    talloc_free(scratch);
    if (status == AZ_OK && !is_on_curve(key))
        status = jwk_refuse(why_point, ret_why);
    if (status == AZ_OK)
        status = read_names(key, object, ret_why);
    return status;
}

enum az_status
jwk_parse(TALLOC_CTX *mem, const json_t *object, struct jwk **ret, const char **ret_why)
{
    if (!json_is_object(object))
        return jwk_refuse(why_not_object, ret_why);
    if (has_private_member(object))
        return jwk_refuse(why_private, ret_why);
    const struct key_type *type = key_type_find(object);
    if (type == NULL)
        return jwk_refuse(why_kty, ret_why);
    struct jwk *key = jwk_new(mem);
    if (key == NULL)
        return AZ_SERVER_ERROR;
    enum az_status status = parse_into(key, type, object, ret_why);
    if (status == AZ_OK)
        *ret = key;
    else
        talloc_free(key);
    return status;
}

/* Set kind, size and curve of a key whose handles were not read from a JWK. */
static enum az_status
describe(struct jwk *key, const char **ret_why)
{
    gnutls_ecc_curve_t curve;
    unsigned bits = 0;

    switch (gnutls_pubkey_get_pk_algorithm(key->pub, &bits)) {
    case GNUTLS_PK_RSA:
        key->kty = JWK_RSA;
        key->bits = bits;
        if (bits < JWK_RSA_BITS_MIN)
            return jwk_refuse(why_weak, ret_why);
        return bits > JWK_RSA_BITS_MAX ? jwk_refuse(why_large, ret_why) : AZ_OK;
    case GNUTLS_PK_ECDSA:
    case GNUTLS_PK_EDDSA_ED25519:
        if (gnutls_pubkey_export_ecc_raw2(key->pub, &curve, NULL, NULL, 0) != 0)
            return AZ_SERVER_ERROR;
        key->curve = jwk_curve_find_gnutls(curve);
        if (key->curve == NULL)
            return jwk_refuse(why_crv, ret_why);
        key->kty = key->curve->kty;
        return AZ_OK;
    default:
        return jwk_refuse(why_kty, ret_why);
    }
}

enum az_status
jwk_wrap(TALLOC_CTX *mem, gnutls_pubkey_t pub, gnutls_privkey_t priv, struct jwk **ret,
         const char **ret_why)
{
    struct jwk *key = jwk_new(mem);
    if (key == NULL) {
        gnutls_pubkey_deinit(pub);
        if (priv != NULL)
            gnutls_privkey_deinit(priv);
        return AZ_SERVER_ERROR;
    }
    key->pub = pub;
    key->priv = priv;
    key->may_verify = true;
    enum az_status status = describe(key, ret_why);
    if (status == AZ_OK)
        *ret = key;
    else
        talloc_free(key);
    return status;
}
