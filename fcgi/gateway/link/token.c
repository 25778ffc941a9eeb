#include "config.h"

#include "gateway/link/token.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/query.h"
#include "base/settings/settings.h"
#include "crypto/secret.h"
#include "gateway/upstream/client_proof.h"
#include "managed/managed.h"

/* Longest answer, in octets: two tokens of LINK_TOKEN_MAX and an ID token fit. */
#define ANSWER_MAX 65536
/* Parameters of ours, at most. */
#define TOKEN_PAIRS (6 + CLIENT_PROOF_PAIRS)

/* A request that is being made. */
struct asking {
    struct op *op;
    const struct managed_resource *resource;
    const struct link_provider *provider;
    struct query_pair pair[TOKEN_PAIRS]; /* ours */
    size_t pairs;
    const json_t *more; /* tokenParams or refreshParams, or NULL */
    char *body;         /* secret */
};

static void
add_pair(struct asking *asking, const char *name, const char *value)
{
    asking->pair[asking->pairs++] = (struct query_pair){name, value};
}

static bool
link_is_ours(const struct asking *asking, const char *name)
{
    for (size_t i = 0; i < asking->pairs; i++)
        if (strcmp(asking->pair[i].name, name) == 0)
            return true;
    return false;
}

/* Add our credentials, in the form or in the header (RFC 6749 2.3). */
static enum az_status
add_client(struct asking *asking, struct fetch_request *request)
{
    const struct link_provider *provider = asking->provider;
    struct client_proof proof;
    struct managed_auth auth = asking->resource->auth;
    const struct managed_secrets secrets = {.client_secret = provider->secret,
                                            .private_key = provider->private_key};
    auth.client_id = provider->client_id;
    auth.token_auth_method = provider->auth_method;
    auth.token_endpoint = provider->token;
    enum az_status st = client_proof_make(asking->op, &auth, &secrets, &proof);
    request->authorization = st == AZ_OK ? proof.authorization : NULL;
    for (size_t i = 0; st == AZ_OK && i < proof.pairs; i++)
        add_pair(asking, proof.pair[i].name, proof.pair[i].value);
    return st;
}

/* Make a form; configured parameters never replace ours. */
static char *
make_form(struct asking *asking)
{
    const char *name;
    json_t *value;
    char *form = query_append(asking->op->mem, "", asking->pair, asking->pairs);
    json_object_foreach ((json_t *) (uintptr_t) asking->more, name, value) {
        const struct query_pair pair = {name, json_string_value(value)};
        if (form == NULL || link_is_ours(asking, name))
            continue;
        char *longer = query_append(asking->op->mem, form, &pair, 1);
        secret_wipe(form, strlen(form));
        form = longer;
    }
    return form;
}

static char *
make_json(struct asking *asking)
{
    const char *name;
    json_t *value;
    struct jsonx_build object = {jsonx_own(asking->op->mem, json_object()), false};
    json_object_foreach ((json_t *) (uintptr_t) asking->more, name, value)
        jsonx_set(&object, name, json_incref(value));
    for (size_t i = 0; i < asking->pairs; i++)
        if (asking->pair[i].value != NULL)
            jsonx_set(&object, asking->pair[i].name, json_string(asking->pair[i].value));
    json_t *built = jsonx_built(&object);
    return built != NULL ? jsonx_dump(asking->op->mem, built) : NULL;
}

enum az_status
link_fetch_failed(struct op *op, enum az_status st, enum fetch_fault fault)
{
    if (st != AZ_UNAVAILABLE || fault == FETCH_FAULT_OURS)
        return st;
    return az_fail_as(&op->fault,
                      fault == FETCH_FAULT_TIMEOUT ? AZ_UPSTREAM_TIMEOUT : AZ_UPSTREAM_UNREACHABLE,
                      NULL);
}

/* Send what was put together and wipe it. */
static enum az_status
send_asking(struct asking *asking, const char *url, bool json, struct fetch_answer *ret)
{
    struct op *op = asking->op;
    struct fetch_request request = {
        .hosts = FETCH_GATEWAY,
        .url = url,
        .max_octets = ANSWER_MAX,
        .timeout = op->az->cfg->safe_http_timeout,
    };
    enum az_status st = add_client(asking, &request);
    if (st != AZ_OK)
        return st;
    asking->body = json ? make_json(asking) : make_form(asking);
    if (asking->body == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
    request.json = json ? asking->body : NULL;
    request.form = json ? NULL : asking->body + 1; /* skip the ? */
    st = fetch(op, &request, ret);
    secret_wipe(asking->body, strlen(asking->body));
    return st == AZ_OK ? AZ_OK : link_fetch_failed(op, st, ret->fault);
}

enum az_status
link_tokens_get(struct op *op, const struct managed_resource *resource,
                const struct link_provider *provider, const struct link_grant *grant,
                enum link_outcome *ret_outcome, struct link_tokens *ret, const char **ret_error)
{
    const struct managed_auth *auth = &resource->auth;
    struct asking asking = {.op = op, .resource = resource, .provider = provider};
    struct fetch_answer answer;
    const struct link_reading reading = {
        .access_token_pointer = auth->access_token_pointer,
        .account_pointer = auth->account_pointer,
        .scope_separator = auth->scope_separator,
        .default_expires_in = auth->default_expires_in,
    };
    if (grant->code != NULL) {
        add_pair(&asking, "grant_type", "authorization_code");
        add_pair(&asking, "code", grant->code);
        add_pair(&asking, "redirect_uri", link_callback_uri(op));
        add_pair(&asking, "code_verifier", grant->verifier);
        asking.more = auth->token_params;
    } else {
        add_pair(&asking, "grant_type", "refresh_token");
        add_pair(&asking, "refresh_token", grant->refresh_token);
        asking.more = auth->refresh_params;
    }
    add_pair(&asking, "resource", provider->resource);
    bool json = auth->token_body_format != NULL && strcmp(auth->token_body_format, "json") == 0;
    enum az_status st = send_asking(&asking, provider->token, json, &answer);
    if (st != AZ_OK)
        return st;
    st = link_answer_read(op->mem, &reading, answer.status, answer.body, answer.length, ret_outcome,
                          ret, ret_error);
    return st == AZ_OK ? AZ_OK
                       : op_fail(op, st, NULL, "out of memory for the answer of a token endpoint");
}

void
link_token_revoke(struct op *op, const struct managed_resource *resource,
                  const struct link_provider *provider, const char *token)
{
    struct op after = op_beside(op, op->mem);
    struct asking asking = {.op = &after, .resource = resource, .provider = provider};
    struct fetch_answer answer;
    if (provider->revocation == NULL || token == NULL)
        return;
    add_pair(&asking, "token", token);
    if (send_asking(&asking, provider->revocation, false, &answer) != AZ_OK)
        log_text(AZ_SEV_WARN, "token not revoked at the upstream", "managed resource %s: %s",
                 resource->name, after.fault.detail);
    else if (answer.status != 200)
        log_text(AZ_SEV_WARN, "token not revoked at the upstream",
                 "managed resource %s: its revocation endpoint answers with status %d",
                 resource->name, answer.status);
}
