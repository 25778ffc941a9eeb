#include "config.h"

#include "gateway/upstream/credential_token.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/json/json_pointer.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "crypto/secret.h"
#include "gateway/upstream/client_proof.h"
#include "http/fetch/fetch.h"
#include "managed/managed.h"
#include "store/gateway/upstream_tokens.h"

/* Longest answer of a token endpoint, and longest form sent to it, in octets. */
#define TOKEN_ANSWER_MAX 65536
#define TOKEN_FORM_MAX 32768
/* Longest access token, in octets: it must fit into a header field. */
#define TOKEN_MAX 8192
/* Life of a token whose answer does not say, in seconds: RFC 6749 5.1 leaves it to the
 * documentation of the server, and a refused one is renewed. */
#define TOKEN_SECONDS 300
/* Longest life that is believed, in seconds. */
#define TOKEN_SECONDS_MAX 86400
#define TOKEN_DEPTH_MAX 16

static void
token_form_add(struct buf *form, TALLOC_CTX *mem, const char *name, const char *value)
{
    const struct query_pair pair = {name, value};
    char *text = value != NULL ? query_append(mem, "", &pair, 1) : NULL; /* ?name=value */
    if (text == NULL)
        return;
    if (form->len > 0)
        buf_append_char(form, '&');
    buf_append_text(form, text + 1);
    secret_wipe(text, strlen(text));
    talloc_free(text);
}

static const char *
joined_scopes(TALLOC_CTX *mem, const struct managed_auth *auth)
{
    size_t index;
    json_t *scope;
    char *text = NULL;
    json_array_foreach (auth->scopes, index, scope)
        text = text == NULL
                   ? talloc_strdup(mem, json_string_value(scope))
                   : talloc_asprintf_append(
                       text, "%s%s", auth->scope_separator != NULL ? auth->scope_separator : " ",
                       json_string_value(scope));
    return text;
}

/* Make the form. The operator's tokenParams may add parameters. */
static char *
upstream_make_form(struct op *op, const struct managed_auth *auth,
                   const struct upstream_grant *grant, const struct client_proof *proof)
{
    struct buf form;
    const char *name;
    size_t length;
    json_t *value;
    buf_init_secret(&form, op->mem, TOKEN_FORM_MAX);
    for (size_t i = 0; i < sizeof(grant->pair) / sizeof(grant->pair[0]); i++)
        token_form_add(&form, op->mem, grant->pair[i].name, grant->pair[i].value);
    token_form_add(&form, op->mem, auth->scope_param != NULL ? auth->scope_param : "scope",
                   joined_scopes(op->mem, auth));
    token_form_add(&form, op->mem, "audience", auth->audience);
    token_form_add(&form, op->mem, "resource", auth->resource);
    for (size_t i = 0; i < proof->pairs; i++)
        token_form_add(&form, op->mem, proof->pair[i].name, proof->pair[i].value);
    json_object_foreach (auth->token_params, name, value)
        token_form_add(&form, op->mem, name, json_string_value(value));
    char *text = buf_take(&form, &length);
    buf_done(&form);
    return text;
}

/* True if a token can stand in a header field (b64token of RFC 6750 2.1, and a little more). */
static bool
is_sendable(const char *token)
{
    size_t length = strlen(token);
    for (const char *c = token; *c != '\0'; c++)
        if ((unsigned char) *c <= 0x20 || (unsigned char) *c >= 0x7f)
            return false;
    return length > 0 && length <= TOKEN_MAX;
}

/* True if the answer to an exchange says that the token is of the wanted type, or a JWT or access
 * token if none was named (RFC 8693 2.2.1: REQUIRED). A refresh or ID token is not for upstreams.
 */
static bool
is_issued_type(const json_t *object, const char *wanted)
{
    const char *type = json_string_value(json_object_get(object, "issued_token_type"));
    if (type == NULL)
        return false;
    return *wanted != '\0' ? strcmp(type, wanted) == 0
                           : strcmp(type, TOKEN_TYPE_URN "access_token") == 0
                                 || strcmp(type, TOKEN_TYPE_URN "jwt") == 0;
}

static enum az_status
upstream_read_token(struct op *op, const struct managed_resource *resource,
                    const struct fetch_answer *answer, struct upstream_grant *grant,
                    struct upstream_token *ret)
{
    const struct managed_auth *auth = &resource->auth;
    json_t *object = NULL;
    bool parsed =
        jsonx_parse(op->mem, answer->body, answer->length, TOKEN_DEPTH_MAX, &object, NULL) == AZ_OK
        && json_is_object(object);
    const char *error = parsed ? json_string_value(json_object_get(object, "error")) : NULL;
    /* Some servers answer errors with 200 (gateway-admin.md 3.3). */
    grant->client_refused =
        answer->status == 401
        || (error != NULL
            && (strcmp(error, "invalid_client") == 0 || strcmp(error, "unauthorized_client") == 0));
    if (error != NULL || (answer->status >= 400 && answer->status < 500))
        return op_fail(op, AZ_UPSTREAM_AUTH, NULL,
                       "resource %s: its token endpoint refuses the gateway with %d %.60s",
                       resource->name, answer->status, error != NULL ? error : "");
    const char *token = NULL, *type = NULL;
    if (parsed && answer->status == 200) {
        token = json_string_value(json_pointer_get(object, auth->access_token_pointer != NULL
                                                               ? auth->access_token_pointer
                                                               : "/access_token"));
        type = json_string_value(json_object_get(object, "token_type"));
    }
    if (token != NULL && grant->issued_type != NULL && !is_issued_type(object, grant->issued_type))
        return op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                       "resource %s: its token endpoint issued a token of another type",
                       resource->name);
    /* RFC 6749 7.1: a token of an unknown type must not be used. */
    if (token == NULL || !is_sendable(token) || (type != NULL && strcasecmp(type, "Bearer") != 0))
        return op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                       "resource %s: the answer of its token endpoint has no bearer token (%d)",
                       resource->name, answer->status);
    const json_t *expires = json_object_get(object, "expires_in");
    int64_t seconds = json_is_integer(expires)       ? json_integer_value(expires)
                      : auth->default_expires_in > 0 ? auth->default_expires_in
                                                     : TOKEN_SECONDS;
    ret->token = token;
    ret->seconds = seconds < 0 ? 0 : seconds > TOKEN_SECONDS_MAX ? TOKEN_SECONDS_MAX : seconds;
    return AZ_OK;
}

/* By the one way on which this service asks other servers. */
enum az_status
upstream_ask_token(struct op *op, const struct upstream_wish *wish, struct upstream_grant *grant,
                   struct upstream_token *ret)
{
    const struct managed_auth *auth = &wish->resource->auth;
    struct client_proof proof;
    struct fetch_answer answer;
    grant->client_refused = true; /* without a proof there is nothing else to refuse */
    enum az_status st = client_proof_make(op, auth, wish->secrets, &proof);
    if (st != AZ_OK)
        return st;
    char *form = upstream_make_form(op, auth, grant, &proof);
    if (form == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory, or upstreamAuth is too long");
    const struct fetch_request request = {.hosts = FETCH_GATEWAY,
                                          .url = auth->token_endpoint,
                                          .form = form,
                                          .authorization = proof.authorization,
                                          .max_octets = TOKEN_ANSWER_MAX,
                                          .timeout = op->az->cfg->safe_http_timeout};
    st = fetch(op, &request, &answer);
    secret_wipe(form, strlen(form));
    if (st == AZ_OK)
        return upstream_read_token(op, wish->resource, &answer, grant, ret);
    if (st == AZ_BUSY || answer.fault == FETCH_FAULT_OURS)
        return st;
    return az_fail_as(&op->fault,
                      answer.fault == FETCH_FAULT_TIMEOUT ? AZ_UPSTREAM_TIMEOUT
                                                          : AZ_UPSTREAM_UNREACHABLE,
                      "The token endpoint of the upstream does not answer");
}

enum az_status
upstream_fill_token(struct op *op, const struct managed_resource *resource, const char *token,
                    struct upstream_credential *ret)
{
    const struct managed_auth *auth = &resource->auth;
    *ret = (struct upstream_credential){
        .header = auth->header != NULL ? auth->header : "Authorization",
        .value =
            upstream_credential_value(op, auth->scheme != NULL ? auth->scheme : "Bearer", token),
        .renewable = true};
    return ret->value != NULL ? AZ_OK : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
}

enum az_status
upstream_client_credentials(struct op *op, const struct upstream_wish *wish,
                            struct upstream_credential *ret)
{
    const struct managed_resource *resource = wish->resource;
    struct upstream_token token = {.token = NULL};
    if (wish->again)
        return op_fail(op, AZ_UPSTREAM_AUTH, NULL,
                       "resource %s: the upstream refuses a new token too", resource->name);
    struct upstream_grant grant = {.pair = {{"grant_type", "client_credentials"}}};
    enum az_status st = upstream_token_find(op, resource, NULL, TOKEN_EARLY_SECONDS, &token);
    if (st == AZ_OK && token.token != NULL)
        st = upstream_fill_token(op, resource, token.token, ret);
    /* Another worker may have renewed the one that was refused. */
    bool same =
        ret->value != NULL && wish->refused != NULL && strcmp(ret->value, wish->refused) == 0;
    if (st != AZ_OK || (token.token != NULL && !same))
        return st;
    upstream_credential_done(ret);
    st = upstream_ask_token(op, wish, &grant, &token);
    if (st == AZ_OK && token.seconds > TOKEN_EARLY_SECONDS)
        st = upstream_token_store(op, resource, NULL, &token);
    return st == AZ_OK ? upstream_fill_token(op, resource, token.token, ret) : st;
}
