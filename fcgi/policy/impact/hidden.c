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
    bool read = text_is(action, "kind", "resource"), uri = read && text_is(action, "name", ""),
         path = text_is(action, "kind", "http")
                || ((read || text_is(action, "kind", "tool"))
                    && json_object_get(action, "route") != NULL);
    struct jsonx_build hidden = {json_object(), false};
    if (path)
        jsonx_set(&hidden, "path", json_null());
    if (uri) {
        jsonx_set(&hidden, "name", json_null());
        jsonx_set(&hidden, "uri", json_null());
    }
    if (hidden.lost)
        json_decref(hidden.value);
    return jsonx_built(&hidden);
}

/* Return what the call has lost that an upstream asks a question for: the URI of a read. A new
 * reference; NULL: no memory. */
static json_t *
hidden_in_call(const json_t *call)
{
    return text_is(call, "name", "") ? json_pack("{s:n}", "name") : json_object();
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

/* Add a member that is hidden, or within which values are; its reference is taken. */
static void
add_hidden(struct jsonx_build *hidden, const char *name, json_t *member)
{
    if (member == NULL)
        hidden->lost = true;
    else if (!is_whole(member))
        jsonx_set(hidden, name, json_incref(member));
    json_decref(member);
}

/* Find what one request lacks. The stored names of arguments and answers name the values that were
 * left out. */
static bool
hidden_in_request(TALLOC_CTX *mem, json_t *input, const json_t *decision, json_t **ret)
{
    static const char *const named[] = {"arguments", "answers"};
    enum gateway_arguments mode = GATEWAY_ARGUMENTS_KEYS;
    gateway_answer_mode(decision, &mode);
    if (mode == GATEWAY_ARGUMENTS_FULL)
        return true;
    /* Names that are too long are stored as `truncated`, too. */
    if (json_is_true(json_object_get(input, "truncated")) ? !denied_as_truncated(decision)
                                                          : mode != GATEWAY_ARGUMENTS_KEYS)
        return false;
    struct jsonx_build hidden = {jsonx_own(mem, json_object()), false};
    add_hidden(&hidden, "action", hidden_in_action(json_object_get(input, "action")));
    add_hidden(&hidden, "call", hidden_in_call(json_object_get(input, "call")));
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        json_t *names = json_object_get(input, named[i]);
        if (names != NULL)
            add_hidden(&hidden, named[i], json_incref(names));
    }
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
