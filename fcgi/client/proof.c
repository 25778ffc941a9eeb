#include "config.h"

#include "client/proof.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/jws.h"
#include "crypto/random.h"
#include "crypto/secret.h"

/* Life of an assertion, in seconds; token endpoints refuse assertions with long lifetimes. */
#define ASSERTION_SECONDS 60

static enum az_status
proof_fail(struct op *op, const char *why)
{
    return op_fail(op, AZ_UPSTREAM_AUTH, NULL, "client authentication: %s", why);
}

char *
client_basic(struct op *op, const char *name, const char *password)
{
    gnutls_datum_t box = {NULL, 0}, plain;
    size_t length = strlen(name), more = strlen(password);
    char *text = secret_alloc(op->mem, length + 1 + more + 1), *value = NULL;
    if (text == NULL)
        return NULL;
    memcpy(text, name, length);
    text[length] = ':';
    memcpy(text + length + 1, password, more + 1);
    plain = (gnutls_datum_t){(unsigned char *) text, (unsigned) (length + 1 + more)};
    if (gnutls_base64_encode2(&plain, &box) == 0) {
        value = secret_alloc(op->mem, sizeof("Basic ") + box.size);
        if (value != NULL) {
            memcpy(value, "Basic ", sizeof("Basic ") - 1);
            memcpy(value + sizeof("Basic ") - 1, box.data, box.size);
            value[sizeof("Basic ") - 1 + box.size] = '\0';
        }
        secret_wipe(box.data, box.size);
        gnutls_free(box.data);
    }
    talloc_free(text);
    return value;
}

/* ---- the methods */

static void
add_to_proof(struct client_proof *proof, const char *name, const char *value)
{
    proof->pair[proof->pairs++] = (struct query_pair){name, value};
}

/* RFC 6749 2.3.1: client_id and secret are form-urlencoded before they are joined. */
static enum az_status
prove_by_basic(struct op *op, const struct client_identity *identity, struct client_proof *ret)
{
    char *name = query_escape(op->mem, identity->client_id);
    char *secret = query_escape(op->mem, identity->secret);
    ret->authorization = name != NULL && secret != NULL ? client_basic(op, name, secret) : NULL;
    if (secret != NULL)
        secret_wipe(secret, strlen(secret));
    return ret->authorization != NULL ? AZ_OK : op_no_memory(op);
}

/* Read a private key in PEM (PKCS#8, or the older forms of RSA and EC). */
static struct jwk *
read_private_key(TALLOC_CTX *mem, const char *pem)
{
    gnutls_datum_t text = {(unsigned char *) (uintptr_t) pem, (unsigned) strlen(pem)};
    gnutls_privkey_t priv = NULL;
    gnutls_pubkey_t pub = NULL;
    struct jwk *key = NULL;
    if (gnutls_privkey_init(&priv) != 0)
        return NULL;
    if (gnutls_privkey_import_x509_raw(priv, &text, GNUTLS_X509_FMT_PEM, NULL, 0) != 0
        || gnutls_pubkey_init(&pub) != 0) {
        gnutls_privkey_deinit(priv);
        return NULL;
    }
    if (gnutls_pubkey_import_privkey(pub, priv, 0, 0) != 0) {
        gnutls_privkey_deinit(priv);
        gnutls_pubkey_deinit(pub);
        return NULL;
    }
    return jwk_wrap(mem, pub, priv, &key, NULL) == AZ_OK ? key : NULL; /* owns both */
}

/* Return the key of an identity, or NULL if it cannot be read. */
static const struct jwk *
key_of(struct op *op, const struct client_identity *identity)
{
    struct jwk *key;
    if (identity->key != NULL)
        return identity->key;
    if ((key = read_private_key(op->mem, identity->private_key)) != NULL)
        key->kid = identity->key_id;
    return key;
}

/* Sign a client assertion (RFC 7523 3) for the token endpoint alone. */
static enum az_status
prove_by_key(struct op *op, const struct client_identity *identity, const char *endpoint,
             struct client_proof *ret)
{
    const struct jwk *key = key_of(op, identity);
    char *jwt = NULL;
    if (key == NULL)
        return proof_fail(op, "privateKeyJwt.key is not a private key in PEM");
    const struct jws_alg *alg =
        identity->key_alg != NULL ? jws_alg_find(identity->key_alg) : jws_alg_of_key(key);
    if (alg == NULL || !jws_alg_fits(alg, key))
        return proof_fail(op, "privateKeyJwt.alg does not fit the key");
    const char *jti = random_uuid7(op->mem, op->now_ms);
    json_t *claims =
        jsonx_own(op->mem, json_pack("{s:s,s:s,s:s,s:s,s:I,s:I}", "iss", identity->client_id, "sub",
                                     identity->client_id, "aud", endpoint, "jti", jti, "iat",
                                     (json_int_t) op_now(op), "exp",
                                     (json_int_t) (op_now(op) + ASSERTION_SECONDS)));
    if (claims == NULL || jws_sign_json(op->mem, key, alg->name, "JWT", claims, &jwt) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "cannot sign a client assertion");
    add_to_proof(ret, "client_id", identity->client_id);
    add_to_proof(ret, "client_assertion_type",
                 "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    add_to_proof(ret, "client_assertion", jwt);
    return AZ_OK;
}

enum az_status
client_proof_make(struct op *op, const struct client_identity *identity, const char *endpoint,
                  struct client_proof *ret)
{
    const char *method = identity->method != NULL ? identity->method : "client_secret_basic";
    *ret = (struct client_proof){.authorization = NULL};
    if (identity->client_id == NULL || endpoint == NULL)
        return proof_fail(op, "clientId or tokenEndpoint is not set");
    if (strcmp(method, "private_key_jwt") == 0)
        return identity->key != NULL || identity->private_key != NULL
                   ? prove_by_key(op, identity, endpoint, ret)
                   : proof_fail(op, "privateKeyJwt.key is not set");
    if (strcmp(method, "none") != 0 && identity->secret == NULL)
        return proof_fail(op, "clientSecret is not set");
    if (strcmp(method, "client_secret_basic") == 0)
        return prove_by_basic(op, identity, ret);
    add_to_proof(ret, "client_id", identity->client_id);
    if (strcmp(method, "client_secret_post") == 0)
        add_to_proof(ret, "client_secret", identity->secret);
    return strcmp(method, "client_secret_post") == 0 || strcmp(method, "none") == 0
               ? AZ_OK
               : proof_fail(op, "tokenAuthMethod is not one that this service has");
}
