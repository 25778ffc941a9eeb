#include "config.h"

#include "oauth/client_auth.h"

#include <string.h>
#include <strings.h>

#include "base/b64url.h"
#include "base/settings.h"
#include "base/utf8.h"
#include "crypto/digest.h"
#include "crypto/secret.h"
#include "http/form.h"

static void
set_challenge(struct request *req)
{
    req->challenge =
        talloc_asprintf(req->op.mem, "Basic realm=\"%s\"", req->op.az->cfg->oidc_issuer);
}

static enum az_status
refuse_client(struct request *req, const char *detail)
{
    set_challenge(req);
    return op_fail(&req->op, AZ_INVALID_CLIENT, NULL, "%s", detail);
}

/* Read Basic credentials (RFC 7617 2, RFC 6749 2.3.1): base64(id ":" secret). Both parts are
 * form-encoded, and the first colon separates them. */
static enum az_status
read_basic(struct request *req, const char *encoded, struct client_credentials *ret)
{
    unsigned char *pair;
    size_t length;
    encoded += strspn(encoded, " ");
    if (b64_decode(req->op.mem, encoded, strlen(encoded), &pair, &length) != AZ_OK)
        return refuse_client(req, "Basic credentials are not base64");
    char *colon = memchr(pair, ':', length);
    if (colon == NULL || memchr(pair, '\0', length) != NULL)
        return refuse_client(req, "Basic credentials have no colon, or contain NUL");
    size_t id_length = (size_t) (colon - (char *) pair);
    *colon = '\0';
    ret->raw_id = (char *) pair;
    ret->raw_secret = colon + 1;
    ret->id = request_url_decode(req->op.mem, ret->raw_id, id_length, true);
    ret->secret = request_url_decode(req->op.mem, ret->raw_secret, length - id_length - 1, true);
    if (!utf8_valid((char *) pair, id_length)
        || !utf8_valid(ret->raw_secret, length - id_length - 1))
        return refuse_client(req, "Basic credentials are not UTF-8");
    if (ret->id == NULL || ret->secret == NULL) {
        ret->id = ret->raw_id;
        ret->secret = ret->raw_secret;
    }
    ret->method = "client_secret_basic";
    return *ret->id != '\0' ? AZ_OK : refuse_client(req, "Basic credentials have no client_id");
}

enum az_status
client_credentials_read(struct request *req, struct client_credentials *ret)
{
    const char *header = request_header(req, "HTTP_AUTHORIZATION");
    const char *id = request_param(req, "client_id"), *secret = request_param(req, "client_secret");
    bool assertion = request_param(req, "client_assertion") != NULL
                     || request_param(req, "client_assertion_type") != NULL;
    bool basic = header != NULL && strncasecmp(header, "Basic", 5) == 0
                 && (header[5] == ' ' || header[5] == '\0');
    memset(ret, 0, sizeof(*ret));
    if ((basic && (secret != NULL || assertion)) || (secret != NULL && assertion))
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "Only one client authentication method may be used", NULL);
    if (assertion)
        return refuse_client(req, "client_assertion is not supported");
    if (basic) {
        enum az_status st = read_basic(req, header + 5, ret);
        if (st == AZ_OK && id != NULL && strcmp(id, ret->id) != 0 && strcmp(id, ret->raw_id) != 0)
            return op_fail(&req->op, AZ_INVALID_REQUEST,
                           "client_id differs from the authenticated client", NULL);
        return st;
    }
    ret->other_scheme = header != NULL;
    ret->id = id;
    ret->secret = secret;
    ret->method = secret != NULL ? "client_secret_post" : "none";
    return AZ_OK;
}

static bool
secret_matches(const struct client *client, const char *secret, int64_t now)
{
    unsigned char hash[SHA256_OCTETS];
    if (sha256(secret, strlen(secret), hash) != AZ_OK)
        return false;
    bool current =
        secret_equal(hash, sizeof(hash), client->secret_hash, sizeof(client->secret_hash));
    bool previous =
        secret_equal(hash, sizeof(hash), client->previous_hash, sizeof(client->previous_hash));
    return (current && client->has_secret)
           || (previous && client->has_previous && now < client->previous_expires_at);
}

bool
client_credentials_match(const struct client *client, const struct client_credentials *shown,
                         int64_t now)
{
    static const struct client unknown = {.enabled = false};
    const struct client *compared = client != NULL ? client : &unknown;
    /* Hash the secret in any case, so that an unknown client takes as long as a wrong secret. */
    bool good = shown->secret != NULL && secret_matches(compared, shown->secret, now);
    if (!good && shown->raw_secret != NULL)
        good = secret_matches(compared, shown->raw_secret, now);
    if (client == NULL || !client->enabled)
        return false;
    if (client_is_public(client))
        return shown->secret == NULL || *shown->secret == '\0';
    /* A client registered for private_key_jwt may not authenticate with a secret (oauth.md C12). */
    if (client->auth_method != NULL && strcmp(client->auth_method, "private_key_jwt") == 0)
        return false;
    return good;
}

/*
 * Authenticate against the cached row and, before refusing, against a fresh one. An unknown client,
 * a disabled client and a wrong secret get the same text at the same cost (oauth.md C9). Sets
 * req->client and req->client_method.
 */
static enum az_status
authenticate_client(struct request *req, const struct client_credentials *shown, bool fresh)
{
    struct client *client = NULL;
    /* Without a cached row, the first pass would already read a fresh one: skip to the second. */
    bool cached = client_is_cached(&req->op, shown->id)
                  || (shown->raw_id != NULL && client_is_cached(&req->op, shown->raw_id));
    for (int pass = fresh || !cached ? 1 : 0; pass < 2; pass++) {
        enum az_status st = client_fetch(&req->op, shown->id, pass == 1, &client);
        if (st == AZ_OK && client == NULL && shown->raw_id != NULL
            && strcmp(shown->raw_id, shown->id) != 0)
            st = client_fetch(&req->op, shown->raw_id, pass == 1, &client);
        if (st != AZ_OK)
            return st;
        if (client != NULL)
            req->audit.client_id = talloc_strdup(req->op.mem, client->client_id);
        if (client_credentials_match(client, shown, op_now(&req->op))) {
            req->proved = req->proved || !client_is_public(client); /* anybody may name that one */
            req->client = client;
            req->client_method = client_is_public(client) ? "none" : shown->method;
            return AZ_OK;
        }
    }
    return refuse_client(req, client == NULL     ? "unknown client"
                              : !client->enabled ? "disabled client"
                                                 : "wrong secret or authentication method");
}

enum az_status
client_authenticate_again(struct request *req)
{
    struct client_credentials shown;
    enum az_status st = client_credentials_read(req, &shown);
    return st == AZ_OK ? authenticate_client(req, &shown, true) : st;
}

static enum az_status
require_client(struct request *req)
{
    struct client_credentials shown;
    enum az_status st = client_credentials_read(req, &shown);
    if (st != AZ_OK)
        return st;
    if (shown.other_scheme)
        return refuse_client(req, "the Authorization header has a scheme other than Basic");
    if (shown.id == NULL)
        return refuse_client(req, "no client credentials");
    return authenticate_client(req, &shown, false);
}

/* POST /revoke answers 200 unless client credentials fail. A Bearer header is not a client
 * credential, so it counts as no header. */
enum az_status
client_authenticate_if_any(struct request *req, bool fresh)
{
    struct client_credentials shown;
    enum az_status st = client_credentials_read(req, &shown);
    req->client = NULL;
    if (st == AZ_INVALID_REQUEST) {
        az_fault_clear(&req->op.fault);
        req->params = 0; /* malformed: the answer is 200, and nothing is revoked */
        return AZ_OK;
    }
    if (st != AZ_OK || shown.id == NULL)
        return st;
    st = authenticate_client(req, &shown, fresh);
    if (st == AZ_INVALID_CLIENT && shown.secret == NULL) {
        az_fault_clear(&req->op.fault);
        return AZ_OK;
    }
    return st;
}

static enum az_status
accept_client(struct request *req)
{
    return client_authenticate_if_any(req, false);
}

const struct route_credential credential_client = {
    .check = require_client,
    .schemes = (const char *const[]){"client", "", NULL},
};
const struct route_credential credential_client_optional = {
    .check = accept_client,
    .schemes = (const char *const[]){"client", "", NULL},
};
