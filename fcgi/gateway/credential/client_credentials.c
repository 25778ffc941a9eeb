#include "config.h"

#include "gateway/credential/client_credentials.h"

#include <string.h>

#include "client/answer.h"
#include "client/ask.h"
#include "gateway/credential/kept_token.h"
#include "gateway/upstream/fetch_failed.h"
#include "managed/managed.h"
#include "store/gateway/upstream_tokens.h"

/* Lifetime of a token whose answer has no expires_in, in seconds: RFC 6749 5.1 leaves it to the
 * documentation of the server, and a refused token is renewed. */
#define TOKEN_SECONDS 300
/* Longest lifetime that is accepted, in seconds; a longer one is cut. */
#define TOKEN_SECONDS_MAX 86400

/* Add the scopes, audience and resource of upstreamAuth. */
static enum az_status
add_configured(struct op *op, const struct managed_auth *auth, struct client_ask *ask)
{
    const char *scopes;
    enum az_status st = client_join_scopes(op, auth->scopes, auth->scope_separator, &scopes);
    if (st != AZ_OK)
        return st;
    client_ask_add(ask, auth->scope_param != NULL ? auth->scope_param : "scope", scopes);
    client_ask_add(ask, "audience", auth->audience);
    client_ask_add(ask, "resource", auth->resource);
    ask->more = auth->token_params;
    return AZ_OK;
}

/* True if the answer to an exchange says that the token is of the wanted type, or a JWT or access
 * token if none was named (RFC 8693 2.2.1: REQUIRED). A refresh or ID token is not for upstreams.
 */
static bool
is_issued_type(const char *type, const char *wanted)
{
    if (type == NULL)
        return false;
    return *wanted != '\0' ? strcmp(type, wanted) == 0
                           : strcmp(type, TOKEN_TYPE_URN "access_token") == 0
                                 || strcmp(type, TOKEN_TYPE_URN "jwt") == 0;
}

/* Read the answer of the token endpoint. */
static enum az_status
read_token(struct op *op, const struct managed_resource *resource, const struct fetch_answer *got,
           struct gateway_grant *grant, struct upstream_token *ret)
{
    const struct managed_auth *auth = &resource->auth;
    const struct client_reading reading = {
        .access_token_pointer = auth->access_token_pointer,
        .default_expires_in =
            auth->default_expires_in > 0 ? auth->default_expires_in : TOKEN_SECONDS,
        .bearer = true,
    };
    struct client_answer answer;
    enum az_status st = client_answer_read(op->mem, &reading, got, &answer);
    if (st != AZ_OK)
        return op_fail(op, st, NULL, "out of memory for the answer of a token endpoint");
    grant->client_refused = got->status == 401 || answer.outcome == CLIENT_CLIENT_REFUSED;
    if (got->status < 500 && (*answer.error != '\0' || got->status >= 400))
        return op_fail(op, AZ_UPSTREAM_AUTH, NULL,
                       "resource %s: its token endpoint refuses the gateway with %d %s",
                       resource->name, got->status, answer.error);
    if (answer.outcome != CLIENT_TOKENS)
        return op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                       "resource %s: the answer of its token endpoint has no bearer token (%d)",
                       resource->name, got->status);
    if (grant->issued_type != NULL
        && !is_issued_type(answer.tokens.issued_type, grant->issued_type))
        return op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                       "resource %s: its token endpoint issued a token of another type",
                       resource->name);
    ret->token = answer.tokens.access_token;
    ret->seconds =
        answer.tokens.expires_in < TOKEN_SECONDS_MAX ? answer.tokens.expires_in : TOKEN_SECONDS_MAX;
    return AZ_OK;
}

enum az_status
gateway_ask_token(struct op *op, const struct upstream_wish *wish, struct gateway_grant *grant,
                  struct upstream_token *ret)
{
    const struct managed_auth *auth = &wish->resource->auth;
    const struct managed_secrets *secrets = wish->secrets;
    const struct client_identity identity = {
        .client_id = auth->client_id,
        .method = auth->token_auth_method,
        .secret = secrets != NULL ? secrets->client_secret : NULL,
        .private_key = secrets != NULL ? secrets->private_key : NULL,
        .key_id = auth->key_id,
        .key_alg = auth->key_alg,
    };
    struct client_ask ask = {
        .hosts = FETCH_GATEWAY, .url = auth->token_endpoint, .identity = &identity};
    struct fetch_answer answer;
    grant->client_refused = true; /* without a proof the server can refuse nothing else */
    for (size_t i = 0; i < GRANT_PAIRS_MAX; i++)
        client_ask_add(&ask, grant->pair[i].name, grant->pair[i].value);
    enum az_status st = add_configured(op, auth, &ask);
    if (st != AZ_OK)
        return st;
    st = client_ask_send(op, &ask, &answer);
    return st == AZ_OK ? read_token(op, wish->resource, &answer, grant, ret)
                       : upstream_fetch_failed(op, st, answer.fault);
}

/* The request of a token of the service itself. */
struct own_token {
    struct op *op;
    const struct upstream_wish *wish;
};

static enum az_status
fetch_own_token(void *arg, struct upstream_token *ret)
{
    struct own_token *own = arg;
    struct gateway_grant grant = {.pair = {{"grant_type", "client_credentials"}}};
    return gateway_ask_token(own->op, own->wish, &grant, ret);
}

enum az_status
gateway_client_credentials(struct op *op, const struct upstream_wish *wish,
                           struct upstream_credential *ret)
{
    struct own_token own = {.op = op, .wish = wish};
    if (wish->again)
        return op_fail(op, AZ_UPSTREAM_AUTH, NULL,
                       "resource %s: the upstream refuses a new token too", wish->resource->name);
    return kept_token_get(op, wish, NULL, fetch_own_token, &own, ret);
}
