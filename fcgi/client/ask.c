#include "config.h"

#include "client/ask.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "crypto/secret.h"

void
client_ask_add(struct client_ask *ask, const char *name, const char *value)
{
    if (value == NULL)
        return;
    for (size_t i = 0; i < ask->pairs; i++)
        if (strcmp(ask->pair[i].name, name) == 0)
            ask->fault = "a parameter would be sent twice; does scopeParam name another one?";
    if (ask->pairs == CLIENT_PAIRS_MAX)
        ask->fault = "it has too many parameters";
    if (ask->fault == NULL)
        ask->pair[ask->pairs++] = (struct query_pair){name, value};
}

static bool
is_ours(const struct query_pair *own, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (own[i].value != NULL && strcmp(own[i].name, name) == 0)
            return true;
    return false;
}

char *
client_url(TALLOC_CTX *mem, const char *url, const struct query_pair *own, size_t count,
           const json_t *more)
{
    const char *name;
    json_t *value;
    char *text = query_append(mem, url, own, count);
    json_object_foreach ((json_t *) (uintptr_t) more, name, value) {
        if (text == NULL || is_ours(own, count, name))
            continue;
        const struct query_pair pair = {query_escape(mem, name), json_string_value(value)};
        char *longer = pair.name != NULL ? query_append(mem, text, &pair, 1) : NULL;
        secret_wipe(text, strlen(text));
        talloc_free(text);
        text = longer;
    }
    return text;
}

/* Return the form with a question mark before it, or NULL if out of memory. */
static char *
make_form(TALLOC_CTX *mem, const struct client_ask *ask)
{
    return client_url(mem, "", ask->pair, ask->pairs, ask->more);
}

static char *
make_json(TALLOC_CTX *mem, const struct client_ask *ask)
{
    const char *name;
    json_t *value;
    struct jsonx_build object = {jsonx_own(mem, json_object()), false};
    json_object_foreach ((json_t *) (uintptr_t) ask->more, name, value)
        jsonx_set(&object, name, json_incref(value));
    for (size_t i = 0; i < ask->pairs; i++)
        jsonx_set(&object, ask->pair[i].name, json_string(ask->pair[i].value));
    json_t *built = jsonx_built(&object);
    return built != NULL ? jsonx_dump(mem, built) : NULL;
}

/* Send a request that is complete, and wipe its body. */
static enum az_status
send_complete(struct op *op, const struct client_ask *ask, const char *authorization,
              struct fetch_answer *ret)
{
    char *body = ask->json ? make_json(op->mem, ask) : make_form(op->mem, ask);
    if (body == NULL)
        return op_no_memory(op);
    const struct fetch_request request = {
        .hosts = ask->hosts,
        .url = ask->url,
        .json = ask->json ? body : NULL,
        .form = ask->json ? NULL : body + 1, /* skip the ? */
        .authorization = authorization,
        .max_octets = CLIENT_ANSWER_MAX,
        .timeout = op->az->cfg->safe_http_timeout,
    };
    enum az_status st = fetch(op, &request, ret);
    secret_wipe(body, strlen(body));
    return st;
}

enum az_status
client_ask_send(struct op *op, const struct client_ask *ask, struct fetch_answer *ret)
{
    struct client_ask whole = *ask;
    struct client_proof proof;
    *ret = (struct fetch_answer){.fault = FETCH_FAULT_OURS};
    enum az_status st = client_proof_make(op, ask->identity,
                                          ask->audience != NULL ? ask->audience : ask->url, &proof);
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; i < proof.pairs; i++)
        client_ask_add(&whole, proof.pair[i].name, proof.pair[i].value);
    if (whole.fault != NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "request to %.200s: %s", ask->url, whole.fault);
    return send_complete(op, &whole, proof.authorization, ret);
}

enum az_status
client_join_scopes(struct op *op, const json_t *scopes, const char *separator, const char **ret)
{
    char *text = NULL;
    size_t i;
    json_t *scope;
    *ret = NULL;
    json_array_foreach (scopes, i, scope) {
        text = i == 0 ? talloc_strdup(op->mem, json_string_value(scope))
                      : talloc_asprintf_append(text, "%s%s", separator != NULL ? separator : " ",
                                               json_string_value(scope));
        if (text == NULL)
            return op_no_memory(op);
    }
    *ret = text;
    return AZ_OK;
}
