#include "config.h"

#include "oidc/upstream/upstream_tokens.h"

#include <string.h>

#include "base/settings/settings.h"
#include "client/answer.h"
#include "client/ask.h"
#include "crypto/jwk.h"
#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "http/fetch/fetch.h"
#include "oidc/upstream/upstream_fault.h"
#include "token/signing_key.h"

/* Text for the user and our client; the log says more. */
#define NOT_VERIFIED "The sign-in at the identity provider could not be verified"

enum az_status
upstream_deny(struct op *op, const struct identity_provider *provider, const char *why)
{
    return op_fail(op, AZ_ACCESS_DENIED, NOT_VERIFIED, "identity provider %s: %s", provider->idp_id,
                   why);
}

static enum az_status
upstream_malformed(struct op *op, const struct identity_provider *provider, const char *where,
                   int status)
{
    return op_fail(op, AZ_UNAVAILABLE, UPSTREAM_NOT_REACHED,
                   "identity provider %s: its %s sent a malformed answer (status %d)",
                   provider->idp_id, where, status);
}

/* Open our secret at the provider; NUL-terminated and wiped with op->mem. NULL in *ret: the row has
 * none. */
static enum az_status
open_secret(struct op *op, const struct identity_provider *provider, const char **ret)
{
    unsigned char *plain;
    size_t length;
    *ret = NULL;
    if (provider->secret_sealed == NULL)
        return AZ_OK;
    const char *place = identity_provider_secret_place(op->mem, provider->idp_id);
    if (place == NULL
        || keyring_open(op->mem, op->az->keyring, KEYRING_IDENTITY_PROVIDER, place,
                        provider->secret_sealed, provider->secret_length, &plain, &length)
               != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "identity provider %s: its client secret cannot be decrypted; was "
                       "SVC_CREDENTIAL_KEY changed?",
                       provider->idp_id);
    *ret = secret_copy(op->mem, plain, length);
    secret_wipe(plain, length);
    return *ret != NULL ? AZ_OK : op_no_memory(op);
}

/*
 * Sign with a key of our own key set. An assertion names the client_id as iss and sub, so one whose
 * client_id is our issuer would be a token of ours about a person.
 */
static enum az_status
take_key(struct op *op, const struct upstream_endpoints *endpoints,
         struct client_identity *identity)
{
    if (strcmp(identity->client_id, op->az->cfg->oidc_issuer) == 0)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "private_key_jwt needs a clientId that is not the issuer of this service");
    enum az_status st = signing_key_get(op, endpoints->assertion_alg, &identity->key);
    if (st == AZ_OK)
        identity->key_alg = identity->key->alg;
    return st;
}

/* Choose how this service authenticates: as the row says (a stored secret is not sent with none),
 * or with the secret, if there is one, as discovery offers. */
static enum az_status
choose_identity(struct op *op, const struct identity_provider *provider,
                const struct upstream_endpoints *endpoints, struct client_identity *ret)
{
    const char *method = provider->auth_method;
    enum az_status st = AZ_OK;
    *ret = (struct client_identity){.client_id = provider->client_id};
    if (method == NULL || strncmp(method, "client_secret", strlen("client_secret")) == 0)
        st = open_secret(op, provider, &ret->secret);
    ret->method = method != NULL              ? method
                  : ret->secret == NULL       ? "none"
                  : endpoints->secret_in_form ? "client_secret_post"
                                              : "client_secret_basic";
    return st == AZ_OK && strcmp(ret->method, "private_key_jwt") == 0 ? take_key(op, endpoints, ret)
                                                                      : st;
}

/* Ask the token endpoint. */
static enum az_status
redeem_code(struct op *op, const struct identity_provider *provider,
            const struct upstream_endpoints *endpoints, const char *code, const char *verifier,
            struct fetch_answer *ret)
{
    struct client_identity identity;
    const char *back = upstream_callback(op, provider);
    enum az_status st = choose_identity(op, provider, endpoints, &identity);
    if (st != AZ_OK || back == NULL)
        return st != AZ_OK ? st : op_no_memory(op);
    if (strncmp(identity.method, "client_secret", strlen("client_secret")) == 0
        && identity.secret == NULL)
        return upstream_setup_fault(op, provider, UPSTREAM_CLIENT_REFUSED,
                                    "its row has no clientSecret");
    struct client_ask ask = {
        .hosts = FETCH_SAFE_HTTP, .url = endpoints->token, .identity = &identity};
    client_ask_add(&ask, "grant_type", "authorization_code");
    client_ask_add(&ask, "code", code);
    client_ask_add(&ask, "redirect_uri", back);
    client_ask_add(&ask, "code_verifier", verifier);
    return client_ask_send(op, &ask, ret);
}

/* Fail because the token endpoint sent no tokens: its own fault heals, the code may be refused, and
 * what else it refuses is our configuration (RFC 6749 5.2). */
static enum az_status
tokens_refused(struct op *op, const struct identity_provider *provider, int status,
               const struct client_answer *answer)
{
    if (answer->outcome == CLIENT_GRANT_REFUSED)
        return upstream_deny(op, provider, "its token endpoint refused the code");
    if (status >= 500 || status == 429)
        return upstream_malformed(op, provider, "token endpoint", status);
    if (*answer->error != '\0')
        return upstream_error(op, provider, "its token endpoint says", answer->error, NULL);
    if (status == 401 || status == 403)
        return upstream_error(op, provider, "its token endpoint answers 401 or 403, as to",
                              "invalid_client", NULL);
    return upstream_malformed(op, provider, "token endpoint", status);
}

enum az_status
upstream_tokens_get(struct op *op, const struct identity_provider *provider,
                    const struct upstream_endpoints *endpoints, const char *code,
                    const char *verifier, struct upstream_tokens *ret)
{
    static const struct client_reading reading = {.access_optional = true};
    struct fetch_answer got;
    struct client_answer answer;
    enum az_status st = redeem_code(op, provider, endpoints, code, verifier, &got);
    if (st != AZ_OK)
        return st;
    if (client_answer_read(op->mem, &reading, &got, &answer) != AZ_OK)
        return op_no_memory(op);
    if (answer.outcome != CLIENT_TOKENS)
        return tokens_refused(op, provider, got.status, &answer);
    if (answer.tokens.id_token == NULL)
        return upstream_deny(op, provider, "its token endpoint sent no ID token");
    ret->id_token = answer.tokens.id_token;
    ret->access_token = answer.tokens.access_token;
    return AZ_OK;
}
