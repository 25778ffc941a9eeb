/* Compare an object of the files with that of the service. */
#include "config.h"

#include "cli/instance/instance.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "managed/merge.h"

/* True if both values are the same, or one is null and the other absent. */
static bool
same_value(const json_t *one, const json_t *other)
{
    const json_t *a = json_is_null(one) ? NULL : one, *b = json_is_null(other) ? NULL : other;
    return a == NULL || b == NULL ? a == b : json_equal(a, b);
}

/* True if the service serves the tools of the file as it says. Tools of an MCP upstream come with
 * a sync: the file decides of those that it names, and of these what an operator decides. */
static bool
same_mcp_tools(const json_t *file, const json_t *stored)
{
    size_t i;
    json_t *tool;
    json_array_foreach (file, i, tool) {
        const json_t *its = managed_tool_find(stored, managed_tool_upstream_name(tool));
        for (const char *const *member = managed_tool_decided; *member != NULL; member++)
            if (its == NULL
                || !same_value(json_object_get(tool, *member), json_object_get(its, *member)))
                return false;
    }
    return true;
}

static bool
same_member(const char *name, const json_t *file, const json_t *stored)
{
    const char *type = json_string_value(json_object_get(file, "upstreamType"));
    const json_t *one = json_object_get(file, name), *other = json_object_get(stored, name);
    if (type == NULL)
        type = json_string_value(json_object_get(stored, "upstreamType"));
    if (strcmp(name, "tools") == 0 && type != NULL && strcmp(type, "MCP") == 0)
        return same_mcp_tools(one, other);
    return same_value(one, other);
}

json_t *
instance_changes(TALLOC_CTX *mem, const struct instance_kind *kind, const json_t *file,
                 const json_t *stored)
{
    struct jsonx_build changes = {jsonx_own(mem, json_array()), false};
    json_t *wanted = jsonx_own(mem, jsonx_deep_copy(file)), *value;
    const char *name;
    /* The nulls of the file stay: they clear a member. */
    json_t *plain = wanted != NULL ? instance_normal(mem, kind, wanted) : NULL;
    if (plain == NULL)
        return NULL;
    json_object_foreach (wanted, name, value)
        if (json_is_null(value))
            json_object_set(plain, name, value);
    json_object_foreach (plain, name, value)
        if (!same_member(name, plain, stored))
            jsonx_append(&changes, json_string(name));
    return jsonx_built(&changes);
}
