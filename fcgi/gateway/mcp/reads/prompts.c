#include "config.h"

#include "gateway/mcp/reads/prompts.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/link/account.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/message/scoped_uri.h"
#include "gateway/mcp/tools/catalogue.h"
#include "managed/auth.h"
#include "managed/names.h"
#include "store/gateway/prompts.h"

/* A prompt that is served, and the name by which clients of this endpoint get it. */
struct prompt {
    size_t resource; /* its place among those of the list */
    const struct stored_prompt *row;
    const char *name;
};

/* The prompts of one endpoint. */
struct prompt_list {
    const struct managed_resource *const *resource;
    size_t resources;
    struct prompt *prompt;
    size_t prompts;
};

/* ---- which there are */

enum az_status
mcp_serves_prompts(struct mcp_exchange *it, bool *ret)
{
    struct managed_resources all;
    enum az_status st = mcp_find_resources(it, &all);
    *ret = false;
    for (size_t i = 0; st == AZ_OK && i < all.count; i++)
        *ret = *ret || all.item[i]->pinned_prompts;
    return st;
}

/* True if a stored prompt is served. */
static bool
is_served(const struct managed_resource *resource, const struct stored_prompt *row)
{
    return resource->pinned_prompts && row->pin != MANAGED_PIN_MISSING
           && (row->pin == MANAGED_PIN_APPROVED || resource->pinning == MANAGED_PINNING_WARN);
}

/* Return the place of the resource with an id; list->resources: it is none of the list. */
static size_t
place_of(const struct prompt_list *list, int64_t id)
{
    size_t i = 0;
    while (i < list->resources && list->resource[i]->id != id)
        i++;
    return i;
}

/* Collect the prompts of the visit. */
static enum az_status
read_prompts(struct mcp_exchange *it, struct prompt_list *ret)
{
    struct op *op = &it->req->op;
    struct stored_prompts rows;
    struct managed_resources all;
    enum az_status st = mcp_find_resources(it, &all);
    if (st == AZ_OK)
        st = prompts_read(op, it->visit.resource, &rows);
    if (st != AZ_OK)
        return st;
    *ret = (struct prompt_list){.resource = all.item, .resources = all.count};
    ret->prompt = talloc_array(op->mem, struct prompt, (unsigned) rows.count + 1);
    if (ret->prompt == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for prompts");
    for (size_t i = 0; i < rows.count; i++) {
        const struct stored_prompt *row = &rows.item[i];
        size_t place = place_of(ret, row->resource);
        if (place == ret->resources || !is_served(ret->resource[place], row))
            continue;
        const char *prefix = it->visit.resource == NULL ? ret->resource[place]->name : NULL;
        const char *name = managed_exposed_name(op->mem, prefix, row->name);
        if (name == NULL)
            return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for prompts");
        ret->prompt[ret->prompts++] = (struct prompt){place, row, name};
    }
    return AZ_OK;
}

/* ---- lists */

/* Ask policy about all prompts at once. */
static enum az_status
decide_prompts(struct mcp_exchange *it, const struct prompt_list *list,
               enum gateway_verdict *verdicts)
{
    struct op *op = &it->req->op;
    struct gateway_target *targets =
        talloc_array(op->mem, struct gateway_target, (unsigned) list->resources + 1);
    struct gateway_tool *asked =
        talloc_array(op->mem, struct gateway_tool, (unsigned) list->prompts + 1);
    bool *linked = talloc_array(op->mem, bool, (unsigned) list->resources + 1);
    struct gateway_bearer bearer = {it->req, it->visit.token};
    const struct upstream_caller caller = gateway_caller(&bearer);
    if (targets == NULL || asked == NULL || linked == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for prompts");
    enum az_status st = link_are_linked(op, &caller, list->resource, list->resources, linked);
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; i < list->resources; i++)
        targets[i] = gateway_target_of(
            list->resource[i],
            managed_auth_is_linked(list->resource[i]->auth.type) ? &linked[i] : NULL);
    for (size_t i = 0; i < list->prompts; i++) {
        const struct prompt *prompt = &list->prompt[i];
        json_t *scopes = mcp_default_scopes(op->mem, list->resource[prompt->resource]);
        if (scopes == NULL)
            return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for prompts");
        asked[i] = (struct gateway_tool){
            prompt->resource, {.kind = "prompt", .name = prompt->row->name, .scopes = scopes}
        };
    }
    struct gateway_tools_question question = {
        .holder = {.mcp_version = it->era.version, .mcp_method = it->message.method},
        .resources = targets,
        .resource_count = list->resources,
        .tools = asked,
        .tool_count = list->prompts,
    };
    return gateway_decide_tools(it->req, &it->visit, &question, verdicts);
}

/* Return a prompt as clients see it: a new reference. */
static json_t *
prompt_entry(const struct prompt *prompt, const struct mcp_era *era)
{
    json_t *entry = jsonx_copy(prompt->row->entry);
    if (entry != NULL && json_object_set_new(entry, "name", json_string(prompt->name)) != 0) {
        json_decref(entry);
        return NULL;
    }
    if (entry != NULL)
        mcp_entry_fit(entry, era);
    return entry;
}

enum az_status
mcp_list_prompts(struct mcp_exchange *it)
{
    struct op *op = &it->req->op;
    struct prompt_list list;
    struct jsonx_build shown = {jsonx_own(op->mem, json_array()), false};
    if (json_object_get(it->message.params, "cursor") != NULL)
        return mcp_refuse(it, it->era.modern ? 400 : 200, RPC_INVALID_PARAMS, "Unknown cursor");
    enum az_status st = read_prompts(it, &list);
    if (st != AZ_OK)
        return st;
    enum gateway_verdict *verdicts =
        talloc_zero_array(op->mem, enum gateway_verdict, (unsigned) list.prompts + 1);
    if (verdicts == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for prompts");
    if ((st = decide_prompts(it, &list, verdicts)) != AZ_OK)
        return st;
    for (size_t i = 0; i < list.prompts; i++)
        if (verdicts[i] != GATEWAY_DENY)
            jsonx_append(&shown, prompt_entry(&list.prompt[i], &it->era));
    if (jsonx_built(&shown) != NULL)
        it->result = mcp_list_result(op->mem, "prompts", shown.value);
    return AZ_OK;
}

/* ---- gets */

enum az_status
mcp_find_prompt(struct mcp_exchange *it, const char *name, struct resource_call *c)
{
    struct prompt_list list;
    enum az_status st = read_prompts(it, &list);
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; name != NULL && i < list.prompts; i++) {
        const struct prompt *prompt = &list.prompt[i];
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

/* Return one message as clients see it: a new reference, or NULL if it is none. */
static json_t *
shown_message(TALLOC_CTX *mem, const char *scope, const json_t *message)
{
    const char *role = json_string_value(json_object_get(message, "role"));
    json_t *content = json_object_get(message, "content");
    if (role == NULL || (strcmp(role, "user") != 0 && strcmp(role, "assistant") != 0)
        || !mcp_content_is_sound(mem, content))
        return NULL;
    return json_pack("{s:s,s:o}", "role", role, "content", scoped_uri_block(mem, scope, content));
}

static enum az_status
show_messages(struct resource_call *c, const json_t *result)
{
    struct mcp_exchange *it = c->it;
    struct op *op = &it->req->op;
    const char *scope = mcp_scope_of(it, c->ask.request.resource);
    const json_t *messages = json_object_get(result, "messages"), *message;
    const json_t *description = json_object_get(result, "description");
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
        it->result = jsonx_own(op->mem, json_pack("{s:O*,s:O}", "description",
                                                  json_is_string(description) ? description : NULL,
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
