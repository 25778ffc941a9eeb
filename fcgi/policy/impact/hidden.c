#include "config.h"

#include "policy/impact/hidden.h"

#include <string.h>

#include "policy/decide/gateway_answer.h"
#include "policy/impact/classes.h"

/* The code of the denial of arguments that were too long to be shown to policy. */
#define TRUNCATED_CODE "arguments_too_long"

static bool
text_is(const json_t *object, const char *name, const char *text)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value != NULL && strcmp(value, text) == 0;
}

/* True if a name stands for a value that was left out. */
static bool
has_blank(const json_t *names)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) names, name, value)
        if (!json_is_object(value) || has_blank(value))
            return true;
    return false;
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

static bool
request_hides(const json_t *input, const json_t *decision)
{
    const json_t *action = json_object_get(input, "action"),
                 *names = json_object_get(input, "arguments");
    enum gateway_arguments mode = GATEWAY_ARGUMENTS_KEYS;
    gateway_answer_mode(decision, &mode);
    if (mode == GATEWAY_ARGUMENTS_FULL)
        return false;
    if (json_object_get(action, "path") == NULL && !text_is(action, "kind", "tool")
        && !text_is(action, "kind", "prompt"))
        return true;
    if (names != NULL)
        return has_blank(names);
    /* Names that are too long are stored as `truncated`, too. */
    if (json_is_true(json_object_get(input, "truncated")))
        return !denied_as_truncated(decision);
    return mode != GATEWAY_ARGUMENTS_KEYS;
}

/* True if the URIs of a list of MCP resources were left out. */
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
impact_hides_values(const json_t *input, const json_t *decision)
{
    return text_is(input, "evaluation", "gateway")         ? request_hides(input, decision)
           : text_is(input, "evaluation", "gateway_tools") ? list_hides(input)
                                                           : false;
}
