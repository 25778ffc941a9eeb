#include "config.h"

#include "gateway/link/link_token.h"

#include <string.h>

#include "base/log.h"
#include "client/ask.h"
#include "gateway/upstream/fetch_failed.h"
#include "managed/managed.h"

/* Begin a request with our client at the server. */
static void
begin_ask(const struct managed_resource *resource, const struct link_provider *provider,
          const char *url, struct client_identity *identity, struct client_ask *ret)
{
    *identity = (struct client_identity){
        .client_id = provider->client_id,
        .method = provider->auth_method,
        .secret = provider->secret,
        .private_key = provider->private_key,
        .key_id = resource->auth.key_id,
        .key_alg = resource->auth.key_alg,
    };
    *ret = (struct client_ask){
        .hosts = FETCH_GATEWAY, .url = url, .audience = provider->token, .identity = identity};
}

enum az_status
link_tokens_get(struct op *op, const struct managed_resource *resource,
                const struct link_provider *provider, const struct link_grant *grant,
                struct client_answer *ret)
{
    const struct managed_auth *auth = &resource->auth;
    struct client_identity identity;
    struct client_ask ask;
    struct fetch_answer got;
    const struct client_reading reading = {
        .access_token_pointer = auth->access_token_pointer,
        .account_pointer = auth->account_pointer,
        .scope_separator = auth->scope_separator,
        .default_expires_in = auth->default_expires_in,
    };
    const char *back = link_callback_uri(op, link_redirect_name(resource));
    if (back == NULL)
        return op_no_memory(op);
    begin_ask(resource, provider, provider->token, &identity, &ask);
    client_ask_add(&ask, "grant_type",
                   grant->code != NULL ? "authorization_code" : "refresh_token");
    if (grant->code != NULL) {
        client_ask_add(&ask, "code", grant->code);
        client_ask_add(&ask, "redirect_uri", back);
        client_ask_add(&ask, "code_verifier", grant->verifier);
    } else {
        client_ask_add(&ask, "refresh_token", grant->refresh_token);
    }
    if (auth->resource_param == NULL || strcmp(auth->resource_param, "send") == 0)
        client_ask_add(&ask, "resource", provider->resource);
    ask.more = grant->code != NULL ? auth->token_params : auth->refresh_params;
    ask.json = auth->token_body_format != NULL && strcmp(auth->token_body_format, "json") == 0;
    enum az_status st = client_ask_send(op, &ask, &got);
    if (st != AZ_OK)
        return upstream_fetch_failed(op, st, got.fault);
    st = client_answer_read(op->mem, &reading, &got, ret);
    return st == AZ_OK ? AZ_OK
                       : op_fail(op, st, NULL, "out of memory for the answer of a token endpoint");
}

void
link_token_revoke(struct op *op, const struct managed_resource *resource,
                  const struct link_provider *provider, const char *token)
{
    struct op after = op_beside(op, op->mem);
    struct client_identity identity;
    struct client_ask ask;
    struct fetch_answer answer;
    if (provider->revocation == NULL || token == NULL)
        return;
    begin_ask(resource, provider, provider->revocation, &identity, &ask);
    client_ask_add(&ask, "token", token);
    if (client_ask_send(&after, &ask, &answer) != AZ_OK)
        log_text(AZ_SEV_WARN, "token not revoked at the upstream", "managed resource %s: %s",
                 resource->name, after.fault.detail);
    else if (answer.status != 200)
        log_text(AZ_SEV_WARN, "token not revoked at the upstream",
                 "managed resource %s: its revocation endpoint answers with status %d",
                 resource->name, answer.status);
}
