#include "config.h"

#include "oauth/client_auth/client_auth.h"

#include <string.h>
#include <strings.h>

#include "base/b64url.h"
#include "base/settings/settings.h"
#include "base/utf8.h"
#include "crypto/digest.h"
#include "crypto/secret.h"
#include "http/form.h"
#include "oauth/client_auth/client_keys.h"
#include "store/clients/client_assertions.h"

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
    enum az_status st = b64_decode_lenient(req->op.mem, encoded, strlen(encoded), &pair, &length);
    if (st == AZ_INVALID)
        return refuse_client(req, "Basic credentials are not base64");
    if (st != AZ_OK)
        return op_fail(&req->op, st, NULL, "out of memory for Basic credentials");
    char *colon = memchr(pair, ':', length);
    if (colon == NULL || memchr(pair, '\0', length) != NULL)
        return refuse_client(req, "Basic credentials have no colon, or contain NUL");
    size_t id_length = (size_t) (colon - (char *) pair);
    *colon = '\0';
    ret->raw_id = (char *) pair;
    ret->raw_secret = colon + 1;
    char *id, *secret;
    st = request_url_decode(req->op.mem, ret->raw_id, id_length, true, &id);
    if (st != AZ_SERVER_ERROR)
        st =
            request_url_decode(req->op.mem, ret->raw_secret, length - id_length - 1, true, &secret);
    if (st == AZ_SERVER_ERROR)
        return op_fail(&req->op, st, NULL, "out of memory for Basic credentials");
    if (!utf8_valid((char *) pair, id_length)
        || !utf8_valid(ret->raw_secret, length - id_length - 1))
        return refuse_client(req, "Basic credentials are not UTF-8");
    bool decoded = id != NULL && secret != NULL;
    ret->id = decoded ? id : ret->raw_id;
    ret->secret = decoded ? secret : ret->raw_secret;
    ret->method = "client_secret_basic";
    return *ret->id != '\0' ? AZ_OK : refuse_client(req, "Basic credentials have no client_id");
}

/* Read an assertion and make the checks that need no key. It may name as its audience the issuer,
 * the token endpoint or the called endpoint, and no other (oauth.md J6); a JWT-SVID names
 * SVC_SPIFFE_AUDIENCE (J9). */
static enum az_status
read_assertion(struct request *req, const char *text, const char *type,
               struct client_credentials *ret)
{
    struct op *op = &req->op;
    const struct settings *cfg = op->az->cfg;
    const struct assertion_kind *kind = type != NULL ? assertion_kind_find(type) : NULL;
    if (text == NULL || type == NULL)
        return op_fail(op, AZ_INVALID_REQUEST,
                       "client_assertion and client_assertion_type must be given together", NULL);
    if (kind == NULL)
        return op_fail(op, AZ_INVALID_REQUEST, "client_assertion_type is not supported", NULL);
    struct client_assertion *assertion = talloc_zero(op->mem, struct client_assertion);
    const char *token_endpoint = talloc_asprintf(op->mem, "%s/token", cfg->oidc_issuer);
    const char *called = talloc_asprintf(op->mem, "%s%s", cfg->oidc_issuer, req->route->path);
    if (assertion == NULL || token_endpoint == NULL || called == NULL)
        return op_no_memory(op);
    const char *const audiences[] = {
        cfg->oidc_issuer, cfg->client_assertion_strict_aud ? NULL : token_endpoint, called, NULL};
    const struct assertion_request request = {
        .client_id = ret->id,
        .audiences = audiences,
        .spiffe_audience = cfg->spiffe_audience != NULL ? cfg->spiffe_audience : cfg->oidc_issuer,
        .now = op_now(op)};
    const char *why = NULL;
    enum az_status st = client_assertion_read(op->mem, kind, text, &request, assertion, &why);
    if (st == AZ_INVALID)
        return refuse_client(req, talloc_asprintf(op->mem, "client assertion: %s", why));
    if (st != AZ_OK)
        return op_fail(op, st, NULL, "out of memory");
    ret->id = assertion->client_id;
    ret->method = assertion->kind->method;
    ret->assertion = assertion;
    return AZ_OK;
}

enum az_status
client_credentials_read(struct request *req, struct client_credentials *ret)
{
    const char *header = request_header(req, "HTTP_AUTHORIZATION");
    const char *id = request_param(req, "client_id"), *secret = request_param(req, "client_secret");
    const char *assertion = request_param(req, "client_assertion"),
               *type = request_param(req, "client_assertion_type");
    bool asserted = assertion != NULL || type != NULL;
    bool basic = header != NULL && strncasecmp(header, "Basic", 5) == 0
                 && (header[5] == ' ' || header[5] == '\0');
    memset(ret, 0, sizeof(*ret));
    if ((basic && (secret != NULL || asserted)) || (secret != NULL && asserted))
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "Only one client authentication method may be used", NULL);
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
    return asserted ? read_assertion(req, assertion, type, ret) : AZ_OK;
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
    /* A client registered for an assertion may not authenticate with a secret, or with nothing
     * (oauth.md C12). */
    if (assertion_is_method(client->auth_method))
        return false;
    if (client_is_public(client))
        return shown->secret == NULL || *shown->secret == '\0';
    return good;
}

/* True if a client is registered for assertions of this kind. One that is registered for
 * private_key_jwt and has no keys may be a workload, whose keys are in the trust bundle. */
static bool
client_may_assert(const struct client *client, const struct assertion_kind *kind)
{
    if (client->auth_method == NULL)
        return false;
    bool keyless = client->jwks == NULL && client->jwks_uri == NULL;
    return strcmp(client->auth_method, kind->method) == 0
           || (kind->svid && keyless && strcmp(client->auth_method, PRIVATE_KEY_JWT) == 0);
}

/* Check an assertion. The cheap checks come before the keys are fetched and used. */
static enum az_status
judge_assertion(struct request *req, const struct client *client,
                const struct client_assertion *assertion, const char **ret_why)
{
    if (client == NULL || !client->enabled)
        *ret_why = client == NULL ? "unknown client" : "disabled client";
    else if (!client_may_assert(client, assertion->kind))
        *ret_why = "the client is not registered for assertions of this type";
    else
        return client_keys_verify(&req->op, client, assertion, req->route->path, ret_why);
    return AZ_INVALID;
}

/* Check the credentials. AZ_INVALID: *ret_why says why they are not the client's. */
static enum az_status
judge_client(struct request *req, const struct client *client,
             const struct client_credentials *shown, const char **ret_why)
{
    if (shown->assertion != NULL)
        return judge_assertion(req, client, shown->assertion, ret_why);
    *ret_why = client == NULL     ? "unknown client"
               : !client->enabled ? "disabled client"
                                  : "wrong secret or authentication method";
    return client_credentials_match(client, shown, op_now(&req->op)) ? AZ_OK : AZ_INVALID;
}

/*
 * Use up the jti of an assertion: as the last check, so that a stranger's bad assertion does not
 * spoil the client's own (oauth.md J7), and once per request, which may authenticate again.
 */
static enum az_status
use_assertion(struct request *req, const struct client_assertion *assertion)
{
    if (assertion == NULL || !assertion->kind->used_once || req->assertion_used)
        return AZ_OK;
    enum az_status st =
        client_assertion_use(&req->op, assertion->client_id, assertion->jti, assertion->until,
                             assertion->usable, &req->assertion_used);
    if (st != AZ_OK || req->assertion_used)
        return st;
    return refuse_client(
        req, "client assertion: its jti was used before, or it may have been before the "
             "last restore-fence");
}

/* Accept the client whose credentials are good. */
static enum az_status
accept_credentials(struct request *req, struct client *client,
                   const struct client_credentials *shown)
{
    bool proved = shown->assertion != NULL || !client_is_public(client);
    req->proved = req->proved || proved; /* anybody may name a client without credentials */
    enum az_status st = use_assertion(req, shown->assertion);
    if (st != AZ_OK)
        return st;
    req->client = client;
    req->client_method = proved ? shown->method : "none";
    return AZ_OK;
}

/* True if a row was judged already: another look gives the same answer, and costs a signature. */
static bool
same_row(const struct client *a, const struct client *b)
{
    return a != NULL && b != NULL && a->id == b->id && a->version == b->version;
}

/*
 * Authenticate against the cached row and, before refusing, against a fresh one. An unknown client,
 * a disabled client and wrong credentials get the same text; for a secret also at the same cost
 * (oauth.md C9). Sets req->client and req->client_method.
 */
static enum az_status
authenticate_client(struct request *req, const struct client_credentials *shown, bool fresh)
{
    struct client *client = NULL;
    const struct client *judged = NULL;
    const char *why = NULL;
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
        if (same_row(client, judged))
            break;
        st = judge_client(req, client, shown, &why);
        if (st != AZ_INVALID)
            return st == AZ_OK ? accept_credentials(req, client, shown) : st;
        judged = client;
    }
    return refuse_client(req, shown->assertion == NULL
                                  ? why
                                  : talloc_asprintf(req->op.mem, "client assertion: %s", why));
}

enum az_status
client_authenticate_again(struct request *req)
{
    struct client_credentials shown;
    enum az_status st = client_credentials_read(req, &shown);
    return st == AZ_OK ? authenticate_client(req, &shown, true) : st;
}

enum az_status
client_authenticate_by(struct request *req, const char *header, bool fresh)
{
    static const char scheme[] = "Basic ";
    const char *value = request_header(req, header);
    struct client_credentials shown = {.id = NULL};
    if (value == NULL || strncasecmp(value, scheme, strlen(scheme)) != 0)
        return refuse_client(req, "no Basic credentials");
    enum az_status st = read_basic(req, value + strlen(scheme), &shown);
    if (st == AZ_OK)
        st = authenticate_client(req, &shown, fresh);
    return st == AZ_OK && client_is_public(req->client)
               ? refuse_client(req, "a public client cannot authenticate here")
               : st;
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

/* POST /revoke answers 200 unless client credentials fail. Two methods at once, half of an
 * assertion and a client_id beside the credentials of another client fail too: 200 would say that
 * the token is revoked. A Bearer header is not a client credential, so it counts as no header. */
enum az_status
client_authenticate_if_any(struct request *req, bool fresh)
{
    struct client_credentials shown;
    enum az_status st = client_credentials_read(req, &shown);
    req->client = NULL;
    if (st == AZ_INVALID_REQUEST) {
        const char *why = talloc_strdup(req->op.mem, req->op.fault.public_text);
        az_fault_clear(&req->op.fault);
        return refuse_client(req, why != NULL ? why : "out of memory");
    }
    if (st != AZ_OK || shown.id == NULL)
        return st;
    st = authenticate_client(req, &shown, fresh);
    if (st == AZ_INVALID_CLIENT && shown.secret == NULL && shown.assertion == NULL) {
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
