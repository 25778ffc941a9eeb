#include "config.h"

#include "policy/impact/hidden.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/decide/gateway_answer.h"

/* The code of the denial of arguments that were too long to be shown to policy. */
#define TRUNCATED_CODE "arguments_too_long"

static bool
text_is(const json_t *object, const char *name, const char *text)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value != NULL && strcmp(value, text) == 0;
}

/* True if the decision says that policy itself saw `truncated` in place of the arguments. */
static bool
denied_as_truncated(const json_t *decision)
{
    size_t index;
    json_t *reason;
    json_array_foreach (json_object_get(decision, "deny_reasons"), index, reason)
        if (text_is(reason, "code", TRUNCATED_CODE))
            return true;
    return false;
}

/* Return the members that the action has lost, by its kind (gateway.c): the path of a request to a
 * route, and the URI of an MCP resource, which is its name too. A new reference; NULL: no memory.
 */
static json_t *
hidden_in_action(const json_t *action)
{
    if (text_is(action, "kind", "http")
        || (text_is(action, "kind", "tool") && json_object_get(action, "route") != NULL))
        return json_pack("{s:n}", "path");
    if (text_is(action, "kind", "resource") && text_is(action, "name", ""))
        return json_pack("{s:n,s:n}", "name", "uri");
    return json_object();
}

/* True if no value is left out below some names. */
static bool
is_whole(const json_t *names)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) names, name, value)
        if (!json_is_object(value) || !is_whole(value))
            return false;
    return json_is_object(names);
}

/* Find what one request lacks. The stored names of arguments are those of the values that were left
 * out, as they stand. */
static bool
hidden_in_request(TALLOC_CTX *mem, json_t *input, const json_t *decision, json_t **ret)
{
    json_t *names = json_object_get(input, "arguments");
    enum gateway_arguments mode = GATEWAY_ARGUMENTS_KEYS;
    gateway_answer_mode(decision, &mode);
    if (mode == GATEWAY_ARGUMENTS_FULL)
        return true;
    /* Names that are too long are stored as `truncated`, too. */
    if (json_is_true(json_object_get(input, "truncated")) ? !denied_as_truncated(decision)
                                                          : mode != GATEWAY_ARGUMENTS_KEYS)
        return false;
    json_t *action = hidden_in_action(json_object_get(input, "action"));
    struct jsonx_build hidden = {jsonx_own(mem, json_object()), action == NULL};
    if (json_object_size(action) > 0)
        jsonx_set(&hidden, "action", json_incref(action));
    if (names != NULL && !is_whole(names))
        jsonx_set(&hidden, "arguments", json_incref(names));
    json_decref(action);
    if (json_object_size(hidden.value) > 0)
        *ret = hidden.value;
    return jsonx_built(&hidden) != NULL;
}

/* True if the URIs of a list of MCP resources were left out: which of the operations had one is not
 * stored. */
static bool
list_hides(const json_t *input)
{
    size_t index;
    json_t *tool;
    json_array_foreach (json_object_get(input, "tools"), index, tool) {
        const json_t *action = json_object_get(tool, "action");
        if (text_is(action, "name", "") && json_object_get(action, "uri") == NULL)
            return true;
    }
    return false;
}

bool
impact_find_hidden(TALLOC_CTX *mem, json_t *input, const json_t *decision, json_t **ret)
{
    *ret = NULL;
    if (text_is(input, "evaluation", "gateway"))
        return hidden_in_request(mem, input, decision, ret);
    return !text_is(input, "evaluation", "gateway_tools") || !list_hides(input);
}
