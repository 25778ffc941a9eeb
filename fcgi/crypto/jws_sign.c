#include "config.h"

#include <gnutls/crypto.h>
#include <string.h>

#include "base/b64url.h"
#include "base/buf.h"
#include "base/json/jsonx.h"
#include "crypto/jws.h"

/* Largest ECDSA signature: two numbers of P-521. */
#define RS_MAX (2 * 66)

/* {"alg":…,"typ":…,"kid":…} in base64url. */
static char *
make_header(TALLOC_CTX *mem, const struct jwk *key, const struct jws_alg *alg, const char *typ)
{
    json_t *header = json_pack("{s:s, s:s*, s:s*}", "alg", alg->name, "typ", typ, "kid", key->kid);
    char *text = header != NULL ? jsonx_dump(mem, header) : NULL;

    json_decref(header);
    return text != NULL ? b64url_encode(mem, text, strlen(text)) : NULL;
}

/* Write a number of at most size octets, with zeros before it. */
static bool
put_number(const gnutls_datum_t *number, unsigned char *at, size_t size)
{
    const unsigned char *data = number->data;
    size_t len = number->size;

    while (len > 0 && *data == 0) {
        data++;
        len--;
    }
    if (len > size)
        return false;
    memset(at, 0, size - len);
    memcpy(at + size - len, data, len);
    return true;
}

/* Convert DER to the JOSE form, r and s side by side (RFC 7518 section 3.4). */
static char *
encode_rs(TALLOC_CTX *mem, const struct jwk *key, const gnutls_datum_t *signature)
{
    unsigned char octets[RS_MAX];
    gnutls_datum_t r = {NULL, 0};
    gnutls_datum_t s = {NULL, 0};
    size_t half = key->curve->octets;
    char *text = NULL;

    if (gnutls_decode_rs_value(signature, &r, &s) == 0 && put_number(&r, octets, half)
        && put_number(&s, octets + half, half))
        text = b64url_encode(mem, octets, 2 * half);
    gnutls_free(r.data);
    gnutls_free(s.data);
    return text;
}

/* Return the signature of the octets in buf, in base64url; NULL: it cannot be made. */
static char *
make_signature(TALLOC_CTX *mem, const struct jwk *key, const struct jws_alg *alg,
               const struct buf *buf)
{
    gnutls_datum_t text = {.data = (unsigned char *) buf->data, .size = (unsigned) buf->len};
    gnutls_datum_t signature = {NULL, 0};
    char *ret;

    if (gnutls_privkey_sign_data2(key->priv, alg->sign, 0, &text, &signature) != 0)
        return NULL;
    ret = key->kty == JWK_EC ? encode_rs(mem, key, &signature)
                             : b64url_encode(mem, signature.data, signature.size);
    gnutls_free(signature.data);
    return ret;
}

static enum az_status
make_token(TALLOC_CTX *scratch, const struct jwk *key, const struct jws_alg *alg, const char *typ,
           const char *payload, struct buf *buf)
{
    const char *header = make_header(scratch, key, alg, typ);

    if (header == NULL)
        return AZ_SERVER_ERROR;
    buf_append_text(buf, header);
    buf_append_char(buf, '.');
    if (buf_append_text(buf, payload) != AZ_OK)
        return buf->status;
    const char *signature = make_signature(scratch, key, alg, buf);
    if (signature == NULL)
        return AZ_SERVER_ERROR;
    buf_append_char(buf, '.');
    return buf_append_text(buf, signature);
}

enum az_status
jws_sign(TALLOC_CTX *mem, const struct jwk *key, const char *alg, const char *typ,
         const void *payload, size_t payload_len, char **ret)
{
    const struct jws_alg *row = jws_alg_find(alg);
    BUF_AUTO buf;

    buf_init(&buf, mem, JWS_OCTETS_MAX);
    if (row == NULL || key->priv == NULL || !jws_alg_fits(row, key) || payload_len > JWS_OCTETS_MAX)
        return AZ_INVALID;
    TALLOC_CTX *scratch = talloc_new(mem);
    const char *text = b64url_encode(scratch, payload, payload_len);
    enum az_status status = AZ_SERVER_ERROR;
    if (scratch != NULL && text != NULL)
        status = make_token(scratch, key, row, typ, text, &buf);
    talloc_free(scratch);
    char *token = status == AZ_OK ? buf_take(&buf, NULL) : NULL;
    if (status == AZ_OK && token == NULL)
        return AZ_SERVER_ERROR;
    if (status == AZ_OK)
        *ret = token;
    return status;
}

enum az_status
jws_sign_json(TALLOC_CTX *mem, const struct jwk *key, const char *alg, const char *typ,
              const json_t *payload, char **ret)
{
    char *text = jsonx_dump(mem, payload);

    if (text == NULL)
        return AZ_SERVER_ERROR;
    enum az_status status = jws_sign(mem, key, alg, typ, text, strlen(text), ret);
    talloc_free(text);
    return status;
}
