#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/schema/schema_value.h"
#include "gateway/mcp/message/shown_text.h"
#include "gateway/mcp/peer/peer_list.h"
#include "gateway/mcp/reads/prompts.h"
#include "gateway/mcp/reads/routes.h"

/* Show the values of a completion: texts, at most COMPLETIONS_MAX. */
static enum az_status
show_completion(struct mcp_exchange *it, const json_t *result)
{
    const json_t *completion = json_object_get(result, "completion");
    json_t *values = json_object_get(completion, "values");
    const json_t *total = json_object_get(completion, "total"), *value;
    size_t index;
    if (!json_is_array(values) || json_array_size(values) > COMPLETIONS_MAX)
        return resource_ask_invalid(it);
    json_array_foreach (values, index, value)
        if (!json_is_string(value))
            return resource_ask_invalid(it);
    TALLOC_CTX *mem = it->req->op.mem;
    it->result = jsonx_own(
        mem, json_pack("{s:{s:o,s:O*,s:b}}", "completion", "values", shown_value(mem, values),
                       "total", json_is_integer(total) ? total : NULL, "hasMore",
                       (int) json_is_true(json_object_get(completion, "hasMore"))));
    return AZ_OK;
}

/* True if what is known already is an object of texts that a get of the prompt could have. */
static bool
context_is_sound(const json_t *known)
{
    const char *key;
    const json_t *text;
    if (known == NULL)
        return true;
    if (!json_is_object(known) || json_object_size(known) > PEER_PROMPT_ARGUMENTS_MAX)
        return false;
    json_object_foreach (schema_plain(known), key, text)
        if (!json_is_string(text) || strlen(key) > COMPLETION_NAME_MAX
            || json_string_length(text) > PROMPT_ARGUMENT_MAX)
            return false;
    return true;
}

/* Return what policy and upstream see of the params beside the template: the argument, and those
 * that are known already. NULL: a member is malformed or too long, or there is no memory. */
static json_t *
completion_arguments(TALLOC_CTX *mem, const json_t *params)
{
    const json_t *argument = json_object_get(params, "argument");
    json_t *name = json_object_get(argument, "name"), *value = json_object_get(argument, "value");
    json_t *known = json_object_get(json_object_get(params, "context"), "arguments");
    if (!json_is_string(name) || !json_is_string(value)
        || json_string_length(name) > COMPLETION_NAME_MAX
        || json_string_length(value) > COMPLETION_VALUE_MAX || !context_is_sound(known))
        return NULL;
    json_t *context = known != NULL ? json_pack("{s:O}", "arguments", known) : NULL;
    return jsonx_own(mem, json_pack("{s:{s:O,s:O},s:o*}", "argument", "name", name, "value", value,
                                    "context", context));
}

/* Return the member `ref` of a completion: a new reference. */
static json_t *
completion_ref(const struct resource_call *c)
{
    return c->prompt ? json_pack("{s:s,s:s}", "type", "ref/prompt", "name", c->action.name)
                     : json_pack("{s:s,s:s}", "type", "ref/resource", "uri", c->action.template);
}

static enum az_status
complete(struct resource_call *c)
{
    struct mcp_exchange *it = c->it;
    TALLOC_CTX *mem = it->req->op.mem;
    json_t *params = jsonx_own(mem, jsonx_copy(c->arguments));
    if (params != NULL && json_object_set_new(params, "ref", completion_ref(c)) != 0)
        params = NULL;
    enum az_status st = resource_call_ask(c, params);
    const json_t *error = c->ask.reply.error;
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    if (peer_error_is(error, RPC_INVALID_PARAMS))
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS,
                          c->prompt ? "Unknown prompt or argument"
                                    : "Unknown template or argument");
    return error != NULL ? resource_ask_refuse(it, AZ_UPSTREAM_INVALID, peer_error_text(mem, error))
                         : show_completion(it, c->ask.reply.result);
}

/* Find what a completion is for: a URI template of the endpoint's resource, or a prompt that is
 * served. */
static enum az_status
find_completed(struct resource_call *c)
{
    struct mcp_exchange *it = c->it;
    const json_t *ref = json_object_get(it->message.params, "ref");
    const char *type = json_string_value(json_object_get(ref, "type"));
    const char *template = json_string_value(json_object_get(ref, "uri"));
    const struct managed_resource *resource;
    c->action.kind = "completion";
    if (type != NULL && strcmp(type, "ref/prompt") == 0)
        return mcp_find_prompt(it, json_string_value(json_object_get(ref, "name")), c);
    enum az_status st = resource_of_uri(it, template, &resource, &template);
    if (st != AZ_OK)
        return st;
    if (type == NULL || strcmp(type, "ref/resource") != 0 || template == NULL || resource == NULL
        || !resource_template_is_sound(resource, template))
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS,
                          "params.ref is not of a resource template or prompt");
    c->action.name = c->action.template = template;
    resource_ask_begin(it, resource, it->message.method, &c->ask);
    return AZ_OK;
}

enum az_status
mcp_complete(struct mcp_exchange *it)
{
    struct resource_call c = {.it = it};
    enum az_status st = find_completed(&c);
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    c.arguments = completion_arguments(it->req->op.mem, it->message.params);
    if (c.arguments == NULL)
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS,
                          "params.argument has no name and value, or params.context other values "
                          "than texts, or one of them is too long");
    const struct managed_resource *resource = c.ask.request.resource;
    st = resource->upstream == MANAGED_MCP ? complete(&c) : mcp_complete_route(&c, resource);
    resource_call_note(&c);
    return st;
}
