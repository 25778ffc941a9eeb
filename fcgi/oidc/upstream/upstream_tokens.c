#include "config.h"

#include "oidc/upstream/upstream_tokens.h"

#include <gnutls/gnutls.h>
#include <string.h>
#include <strings.h>

#include "base/json/jsonx.h"
#include "base/query.h"
#include "base/settings/settings.h"
#include "crypto/jwt.h"
#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "http/fetch/fetch.h"

/* Longest answer of the token and the userinfo endpoint, in octets: an ID token of JWS_OCTETS_MAX
 * and an access token of the same size fit. */
#define ANSWER_MAX (64 * 1024)

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

static void
wipe_text(const char *text)
{
    if (text != NULL)
        secret_wipe((void *) (uintptr_t) text, strlen(text));
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
    return *ret != NULL ? AZ_OK : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
}

/* Make the Basic credentials. RFC 6749 section 2.3.1: client_id and secret are form-urlencoded
 * before they are joined. Wiped with op->mem. */
static const char *
basic_header(struct op *op, const char *client_id, const char *secret)
{
    const struct query_pair pairs[] = {
        {"i", client_id},
        {"s", secret   }
    };
    gnutls_datum_t box = {NULL, 0}, plain;
    char *header = NULL;
    char *text = query_append(op->mem, "", pairs, 2); /* ?i=...&s=... */
    char *between = text != NULL ? strchr(text, '&') : NULL;
    if (between == NULL)
        return NULL;
    /* In place: "&s=" becomes ":"; the values contain neither & nor = unescaped. */
    *between = ':';
    memmove(between + 1, between + 3, strlen(between + 3) + 1);
    plain.data = (unsigned char *) text + 3;
    plain.size = (unsigned) strlen(text + 3);
    if (gnutls_base64_encode2(&plain, &box) == 0) {
        header = secret_alloc(op->mem, sizeof("Basic ") + box.size);
        if (header != NULL) {
            memcpy(header, "Basic ", 6);
            memcpy(header + 6, box.data, box.size);
            header[6 + box.size] = '\0';
        }
        secret_wipe(box.data, box.size);
        gnutls_free(box.data);
    }
    wipe_text(text);
    return header;
}

/* Make the body, and the Authorization header if the secret goes there. */
static enum az_status
make_token_request(struct op *op, const struct identity_provider *provider,
                   const struct upstream_endpoints *endpoints, const char *code,
                   const char *verifier, struct fetch_request *request)
{
    const char *secret;
    enum az_status st = open_secret(op, provider, &secret);
    if (st != AZ_OK)
        return st;
    bool basic = secret != NULL && !endpoints->secret_in_form;
    /* clang-format off */
    const struct query_pair pairs[] = {
        {"grant_type",    "authorization_code"},
        {"code",          code},
        {"redirect_uri",  upstream_callback(op, provider)},
        {"code_verifier", verifier},
        {"client_id",     basic ? NULL : provider->client_id},
        {"client_secret", basic ? NULL : secret},
    };
    /* clang-format on */
    char *form = pairs[2].value != NULL
                     ? query_append(op->mem, "", pairs, sizeof(pairs) / sizeof(pairs[0]))
                     : NULL;
    if (form == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
    request->form = form + 1; /* skip the ? */
    request->authorization = basic ? basic_header(op, provider->client_id, secret) : NULL;
    if (basic && request->authorization == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
    return AZ_OK;
}

/* Read the JSON object of an answer; anything else is malformed. */
static enum az_status
read_answer(struct op *op, const struct identity_provider *provider, const char *where,
            const struct fetch_answer *answer, json_t **ret)
{
    if (answer->status != 200
        || jsonx_parse(op->mem, answer->body, answer->length, JWT_DEPTH_MAX, ret, NULL) != AZ_OK
        || !json_is_object(*ret))
        return upstream_malformed(op, provider, where, answer->status);
    return AZ_OK;
}

/* True if the provider refuses this code (invalid_grant, RFC 6749 section 5.2). Any other error is
 * a fault of our configuration or of the provider. */
static bool
refused_code(struct op *op, const struct fetch_answer *answer)
{
    json_t *object;
    if (answer->status != 400
        || jsonx_parse(op->mem, answer->body, answer->length, JWT_DEPTH_MAX, &object, NULL)
               != AZ_OK)
        return false;
    const char *error = json_string_value(json_object_get(object, "error"));
    return error != NULL && strcmp(error, "invalid_grant") == 0;
}

/* True if the text can stand in a header (b64token, RFC 6750 section 2.1); other characters could
 * begin a new header. */
static bool
is_header_text(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text <= 0x20 || *text >= 0x7f)
            return false;
    return true;
}

enum az_status
upstream_tokens_get(struct op *op, const struct identity_provider *provider,
                    const struct upstream_endpoints *endpoints, const char *code,
                    const char *verifier, struct upstream_tokens *ret)
{
    struct fetch_request request = {
        .hosts = FETCH_SAFE_HTTP,
        .url = endpoints->token,
        .max_octets = ANSWER_MAX,
        .timeout = op->az->cfg->safe_http_timeout,
    };
    struct fetch_answer got;
    json_t *object;
    enum az_status st = make_token_request(op, provider, endpoints, code, verifier, &request);
    if (st == AZ_OK)
        st = fetch(op, &request, &got);
    wipe_text(request.form);
    if (st != AZ_OK)
        return st;
    if (refused_code(op, &got))
        return upstream_deny(op, provider, "its token endpoint refused the code");
    if ((st = read_answer(op, provider, "token endpoint", &got, &object)) != AZ_OK)
        return st;
    const char *type = json_string_value(json_object_get(object, "token_type"));
    ret->id_token = json_string_value(json_object_get(object, "id_token"));
    ret->access_token = json_string_value(json_object_get(object, "access_token"));
    if (ret->id_token == NULL)
        return upstream_deny(op, provider, "its token endpoint sent no ID token");
    /* RFC 6749 section 7.1: a token of an unknown type must not be used. */
    if (type == NULL || strcasecmp(type, "Bearer") != 0)
        ret->access_token = NULL;
    if (ret->access_token != NULL && !is_header_text(ret->access_token))
        return upstream_malformed(op, provider, "token endpoint", got.status);
    return AZ_OK;
}

enum az_status
upstream_userinfo_get(struct op *op, const struct identity_provider *provider,
                      const struct upstream_endpoints *endpoints,
                      const struct upstream_tokens *tokens, const char *sub, json_t **ret)
{
    struct fetch_request request = {
        .hosts = FETCH_SAFE_HTTP,
        .url = endpoints->userinfo,
        .max_octets = ANSWER_MAX,
        .timeout = op->az->cfg->safe_http_timeout,
    };
    struct fetch_answer got;
    *ret = NULL;
    if (endpoints->userinfo == NULL || tokens->access_token == NULL)
        return AZ_OK;
    request.authorization = talloc_asprintf(op->mem, "Bearer %s", tokens->access_token);
    if (request.authorization == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
    enum az_status st = fetch(op, &request, &got);
    wipe_text(request.authorization);
    if (st == AZ_OK)
        st = read_answer(op, provider, "userinfo endpoint", &got, ret);
    if (st != AZ_OK)
        return st;
    /* OpenID Connect Core 5.3.2: otherwise the claims of one user could be added to another. */
    const char *other = json_string_value(json_object_get(*ret, "sub"));
    return other != NULL && strcmp(other, sub) == 0
               ? AZ_OK
               : upstream_deny(op, provider, "userinfo and the ID token have different subs");
}
