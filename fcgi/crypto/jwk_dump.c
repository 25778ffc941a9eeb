#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/b64url.h"
#include "crypto/digest.h"
#include "crypto/jwk.h"

/* Wipe and free octets that GnuTLS has exported. */
static void
export_done(gnutls_datum_t *datum)
{
    if (datum->data != NULL) {
        secret_wipe(datum->data, datum->size);
        gnutls_free(datum->data);
    }
}

#define EXPORT_AUTO __attribute__((cleanup(export_done))) gnutls_datum_t

/* Largest number in a key, in octets: an RSA modulus. */
#define NUMBER_MAX (JWK_RSA_BITS_MAX / 8)

/*
 * Set a member to a number in base64url. With size 0 leading zeros are removed: GnuTLS exports one
 * before a modulus, and the thumbprint would be wrong with it. Otherwise zeros fill the number up
 * to size octets.
 */
static bool
set_number(json_t *object, const char *name, const gnutls_datum_t *number, size_t size)
{
    unsigned char octets[NUMBER_MAX];
    char text[B64URL_LENGTH(NUMBER_MAX) + 1];
    const unsigned char *data = number->data;
    size_t len = number->size;

    while (len > 0 && *data == 0) {
        data++;
        len--;
    }
    if (size == 0)
        size = len;
    if (len > size || size > NUMBER_MAX)
        return false;
    memset(octets, 0, size - len);
    memcpy(octets + size - len, data, len);
    b64url_encode_into(octets, size, text);
    bool done = json_object_set_new(object, name, json_string(text)) == 0;
    secret_wipe(octets, sizeof(octets));
    secret_wipe(text, sizeof(text));
    return done;
}

static bool
set_text(json_t *object, const char *name, const char *text)
{
    return text == NULL || json_object_set_new(object, name, json_string(text)) == 0;
}

static bool
set_rsa(const struct jwk *key, json_t *object)
{
    EXPORT_AUTO n = {NULL, 0};
    EXPORT_AUTO e = {NULL, 0};

    return gnutls_pubkey_export_rsa_raw2(key->pub, &n, &e, 0) == 0 && set_text(object, "kty", "RSA")
           && set_number(object, "n", &n, 0) && set_number(object, "e", &e, 0);
}

static bool
set_curve(const struct jwk *key, json_t *object)
{
    EXPORT_AUTO x = {NULL, 0};
    EXPORT_AUTO y = {NULL, 0};
    bool has_y = key->kty == JWK_EC;

    return gnutls_pubkey_export_ecc_raw2(key->pub, NULL, &x, &y, 0) == 0
           && set_text(object, "kty", has_y ? "EC" : "OKP")
           && set_text(object, "crv", key->curve->name)
           && set_number(object, "x", &x, key->curve->octets)
           && (!has_y || set_number(object, "y", &y, key->curve->octets));
}

/* Return kty and the members of the public key, which are the members that a thumbprint covers. */
static json_t *
public_members(const struct jwk *key)
{
    json_t *object = json_object();

    if (object != NULL && (key->kty == JWK_RSA ? set_rsa(key, object) : set_curve(key, object)))
        return object;
    json_decref(object);
    return NULL;
}

enum az_status
jwk_dump(const struct jwk *key, json_t **ret)
{
    json_t *object = public_members(key);

    if (object != NULL && set_text(object, "kid", key->kid) && set_text(object, "use", key->use)
        && set_text(object, "alg", key->alg)) {
        *ret = object;
        return AZ_OK;
    }
    json_decref(object);
    return AZ_SERVER_ERROR;
}

/* The members are sorted by name, without white space (RFC 7638 section 3). */
enum az_status
jwk_thumbprint(const struct jwk *key, char ret[JWK_THUMBPRINT_SIZE])
{
    unsigned char digest[SHA256_OCTETS];
    json_t *object = public_members(key);
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    enum az_status status = AZ_SERVER_ERROR;

    if (text != NULL)
        status = sha256(text, strlen(text), digest);
    if (status == AZ_OK)
        b64url_encode_into(digest, sizeof(digest), ret);
    free(text);
    json_decref(object);
    return status;
}
