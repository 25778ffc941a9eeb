#include "config.h"

#include "gateway/mcp/reads/prompts.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/message/block.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/message/shown_text.h"
#include "gateway/mcp/reads/stored_list.h"
#include "gateway/mcp/tools/catalogue.h"

enum az_status
mcp_serves_prompts(struct mcp_exchange *it, bool *ret)
{
    return stored_list_exists(it, LISTING_PROMPT, ret);
}

/* ---- lists */

/* Return a prompt as clients see it: a new reference. */
static json_t *
prompt_entry(const struct listed_entry *prompt, const struct mcp_version *version)
{
    json_t *entry = jsonx_copy(prompt->row->entry);
    if (entry != NULL && json_object_set_new(entry, "name", json_string(prompt->name)) != 0) {
        json_decref(entry);
        return NULL;
    }
    if (entry != NULL)
        mcp_entry_fit(entry, version);
    return entry;
}

enum az_status
mcp_list_prompts(struct mcp_exchange *it)
{
    struct op *op = &it->req->op;
    struct stored_list list;
    enum gateway_verdict *verdicts;
    struct jsonx_build shown = {jsonx_own(op->mem, json_array()), false};
    if (json_object_get(it->message.params, "cursor") != NULL)
        return mcp_refuse(it, it->version.modern ? 400 : 200, RPC_INVALID_PARAMS, "Unknown cursor");
    enum az_status st = stored_list_read(it, LISTING_PROMPT, &list);
    if (st != AZ_OK)
        return st;
    if ((st = stored_list_decide(it, &list, &verdicts)) != AZ_OK)
        return st;
    for (size_t i = 0; i < list.count; i++)
        if (verdicts[i] != GATEWAY_DENY)
            jsonx_append(&shown, prompt_entry(&list.item[i], &it->version));
    if (jsonx_built(&shown) != NULL)
        it->result = mcp_list_result(op->mem, "prompts", shown.value);
    return AZ_OK;
}

/* ---- gets */

enum az_status
mcp_find_prompt(struct mcp_exchange *it, const char *name, struct resource_call *c)
{
    struct stored_list list;
    enum az_status st = stored_list_read(it, LISTING_PROMPT, &list);
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; name != NULL && i < list.count; i++) {
        const struct listed_entry *prompt = &list.item[i];
        if (strcmp(prompt->name, name) == 0) {
            c->prompt = true;
            c->action.name = prompt->row->name;
            resource_ask_begin(it, list.resource[prompt->resource], it->message.method, &c->ask);
            return AZ_OK;
        }
    }
    return resource_refuse_prompt(it);
}

/* True if the arguments of a prompt are texts of a size that policy and upstream can take. */
static bool
arguments_are_texts(const json_t *arguments)
{
    const char *name;
    const json_t *text;
    if (arguments != NULL && !json_is_object(arguments))
        return false;
    json_object_foreach ((json_t *) (uintptr_t) arguments, name, text)
        if (!json_is_string(text) || json_string_length(text) > PROMPT_ARGUMENT_MAX)
            return false;
    return true;
}

/* Return one message as clients see it: a new reference, or NULL if the message is malformed. */
static json_t *
shown_message(TALLOC_CTX *mem, const char *scope, const json_t *message)
{
    const char *role = json_string_value(json_object_get(message, "role"));
    json_t *content = json_object_get(message, "content");
    if (role == NULL || (strcmp(role, "user") != 0 && strcmp(role, "assistant") != 0)
        || !mcp_content_is_sound(mem, content))
        return NULL;
    return json_pack("{s:s,s:o}", "role", role, "content", mcp_shown_block(mem, scope, content));
}

static enum az_status
show_messages(struct resource_call *c, const json_t *result)
{
    struct mcp_exchange *it = c->it;
    struct op *op = &it->req->op;
    const char *scope = mcp_scope_of(it, c->ask.request.resource);
    const json_t *messages = json_object_get(result, "messages"), *message;
    const char *description = json_string_value(json_object_get(result, "description"));
    const char *type = json_string_value(json_object_get(result, "resultType"));
    struct jsonx_build shown = {jsonx_own(op->mem, json_array()), false};
    size_t index;
    if (!json_is_array(messages) || json_array_size(messages) > PROMPT_MESSAGES_MAX
        || (type != NULL && strcmp(type, "complete") != 0))
        return resource_ask_invalid(it);
    json_array_foreach (messages, index, message) {
        json_t *one = shown_message(op->mem, scope, message);
        if (one == NULL)
            return resource_ask_invalid(it);
        jsonx_append(&shown, one);
    }
    if (jsonx_built(&shown) != NULL)
        it->result = jsonx_own(
            op->mem, json_pack("{s:s*,s:O}", "description",
                               description != NULL ? shown_lines(op->mem, description) : NULL,
                               "messages", shown.value));
    return AZ_OK;
}

static enum az_status
get_prompt(struct resource_call *c)
{
    struct mcp_exchange *it = c->it;
    TALLOC_CTX *mem = it->req->op.mem;
    enum az_status st = resource_call_ask(
        c,
        jsonx_own(mem, json_pack("{s:s,s:O*}", "name", c->action.name, "arguments", c->arguments)));
    const json_t *error = c->ask.reply.error;
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    if (peer_error_is(error, RPC_INVALID_PARAMS))
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS, peer_error_text(mem, error));
    return error != NULL ? resource_ask_refuse(it, AZ_UPSTREAM_INVALID, peer_error_text(mem, error))
                         : show_messages(c, c->ask.reply.result);
}

enum az_status
mcp_get_prompt(struct mcp_exchange *it)
{
    struct resource_call c = {
        .it = it,
        .action = {.kind = "prompt"},
        .arguments = json_object_get(it->message.params, "arguments"),
    };
    if (!arguments_are_texts(c.arguments))
        return mcp_refuse(
            it, 200, RPC_INVALID_PARAMS,
            "params.arguments has other values than texts, or one of more than 64 KiB");
    enum az_status st =
        mcp_find_prompt(it, json_string_value(json_object_get(it->message.params, "name")), &c);
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    st = get_prompt(&c);
    resource_call_note(&c);
    return st;
}
