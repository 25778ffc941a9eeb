#include "config.h"

#include "gateway/upstream/client_proof.h"

#include <gnutls/abstract.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/jws.h"
#include "crypto/random.h"
#include "crypto/secret.h"
#include "gateway/upstream/credential_token.h"
#include "managed/managed.h"

/* Life of an assertion, in seconds; token endpoints refuse those that live for long. */
#define ASSERTION_SECONDS 60

static enum az_status
proof_fail(struct op *op, const char *why)
{
    return op_fail(op, AZ_UPSTREAM_AUTH, NULL, "upstreamAuth: %s", why);
}

/* RFC 6749 2.3.1: client_id and secret are form-urlencoded before they are joined. */
static char *
form_encoded(TALLOC_CTX *mem, const char *text)
{
    const struct query_pair pair = {"x", text};
    char *whole = query_append(mem, "", &pair, 1); /* ?x=... */
    return whole != NULL ? talloc_strdup(mem, whole + 3) : NULL;
}

static enum az_status
prove_by_basic(struct op *op, const struct managed_auth *auth,
               const struct managed_secrets *secrets, struct client_proof *ret)
{
    char *name = form_encoded(op->mem, auth->client_id);
    char *secret = form_encoded(op->mem, secrets->client_secret);
    ret->authorization = name != NULL && secret != NULL ? upstream_basic(op, name, secret) : NULL;
    if (secret != NULL)
        secret_wipe(secret, strlen(secret));
    return ret->authorization != NULL ? AZ_OK : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
}

static enum az_status
prove_by_post(struct op *op, const struct managed_auth *auth, const struct managed_secrets *secrets,
              struct client_proof *ret)
{
    (void) op;
    ret->pair[ret->pairs++] = (struct query_pair){"client_id", auth->client_id};
    ret->pair[ret->pairs++] = (struct query_pair){"client_secret", secrets->client_secret};
    return AZ_OK;
}

/* Read a private key in PEM (PKCS#8, or the older forms of RSA and EC). */
static struct jwk *
upstream_read_key(TALLOC_CTX *mem, const char *pem)
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

/* Sign a client assertion (RFC 7523 3) for the token endpoint alone. */
static enum az_status
prove_by_key(struct op *op, const struct managed_auth *auth, const struct managed_secrets *secrets,
             struct client_proof *ret)
{
    struct jwk *key = upstream_read_key(op->mem, secrets->private_key);
    char *jwt = NULL;
    if (key == NULL)
        return proof_fail(op, "privateKeyJwt.key is not a private key in PEM");
    key->kid = auth->key_id;
    const struct jws_alg *alg =
        auth->key_alg != NULL ? jws_alg_find(auth->key_alg) : jws_alg_of_key(key);
    const char *jti = random_uuid7(op->mem, op->now_ms);
    json_t *claims =
        jsonx_own(op->mem, json_pack("{s:s,s:s,s:s,s:s,s:I,s:I}", "iss", auth->client_id, "sub",
                                     auth->client_id, "aud", auth->token_endpoint, "jti", jti,
                                     "iat", (json_int_t) op_now(op), "exp",
                                     (json_int_t) (op_now(op) + ASSERTION_SECONDS)));
    if (alg == NULL || !jws_alg_fits(alg, key))
        return proof_fail(op, "privateKeyJwt.alg does not fit the key");
    if (claims == NULL || jws_sign_json(op->mem, key, alg->name, "JWT", claims, &jwt) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "cannot sign a client assertion");
    ret->pair[ret->pairs++] = (struct query_pair){"client_id", auth->client_id};
    ret->pair[ret->pairs++] = (struct query_pair){
        "client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"};
    ret->pair[ret->pairs++] = (struct query_pair){"client_assertion", jwt};
    return AZ_OK;
}

enum az_status
client_proof_make(struct op *op, const struct managed_auth *auth,
                  const struct managed_secrets *secrets, struct client_proof *ret)
{
    const char *method = auth->token_auth_method;
    const char *secret = secrets != NULL ? secrets->client_secret : NULL;
    *ret = (struct client_proof){.authorization = NULL};
    if (auth->client_id == NULL || auth->token_endpoint == NULL)
        return proof_fail(op, "clientId or tokenEndpoint is not set");
    if (method != NULL && strcmp(method, "private_key_jwt") == 0)
        return secrets != NULL && secrets->private_key != NULL
                   ? prove_by_key(op, auth, secrets, ret)
                   : proof_fail(op, "privateKeyJwt.key is not set");
    if (method != NULL && strcmp(method, "none") == 0) {
        ret->pair[ret->pairs++] = (struct query_pair){"client_id", auth->client_id};
        return AZ_OK;
    }
    if (secret == NULL)
        return proof_fail(op, "clientSecret is not set");
    return method != NULL && strcmp(method, "client_secret_post") == 0
               ? prove_by_post(op, auth, secrets, ret)
               : prove_by_basic(op, auth, secrets, ret);
}
