#include "config.h"

#include "managed/merge.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "managed/auth.h"

/* ---- secrets */

/* Return the object that holds a secret, made if a secret that was not sent is kept there. */
static json_t *
secret_holder(json_t *auth, const struct managed_secret_row *row, bool kept)
{
    json_t *holder = auth;
    if (row->inner != NULL) {
        holder = json_object_get(auth, row->member);
        if (kept && holder == NULL
            && json_object_set_new(auth, row->member, holder = json_object()) != 0)
            return NULL; /* mark_secret() notes the loss */
    }
    return json_is_object(holder) ? holder : NULL;
}

/* Put {"set": true, "updatedAt": time} in the place of a secret. */
static void
mark_secret(json_t *holder, const char *member, json_t *time, struct managed_secrets_change *change)
{
    if (time == NULL)
        json_object_del(holder, member);
    else if (json_object_set_new(holder, member,
                                 json_pack("{s:b,s:O}", "set", 1, "updatedAt", time))
             != 0)
        change->lost = true;
}

static void
take_one(json_t *auth, const struct managed_secret_row *row, const json_t *kept, const char *now,
         struct managed_secrets_change *change, struct jsonx_build *given, struct jsonx_build *set)
{
    const char *member = row->inner != NULL ? row->inner : row->member;
    json_t *was = json_object_get(kept, row->name);
    json_t *holder = secret_holder(auth, row, was != NULL);
    json_t *value = json_object_get(holder, member);
    if (json_is_string(value)) {
        jsonx_set(given, row->name, json_incref(value));
        jsonx_set(set, row->name, json_string(now));
        change->any_change = true;
    } else if (json_is_null(value)) {
        change->any_change = change->any_change || was != NULL;
    } else if (was != NULL) {
        jsonx_set(set, row->name, json_incref(was));
    }
    mark_secret(holder, member, json_object_get(set->value, row->name), change);
}

enum az_status
managed_secrets_take(TALLOC_CTX *mem, json_t *document, const char *was_type, const json_t *was_set,
                     const char *now, struct managed_secrets_change *ret)
{
    json_t *auth = json_object_get(document, "upstreamAuth");
    const char *type = json_string_value(json_object_get(auth, "type"));
    bool same = type != NULL && was_type != NULL && strcmp(type, was_type) == 0;
    struct jsonx_build given = {jsonx_own(mem, json_object()), false},
                       set = {jsonx_own(mem, json_object()), false};
    struct managed_secrets_change change = {.any_change = !same && json_object_size(was_set) > 0};
    for (size_t i = 0; i < MANAGED_SECRETS_MAX; i++)
        take_one(auth, &managed_secret_rows[i], same ? was_set : NULL, now, &change, &given, &set);
    change.given = jsonx_built(&given);
    change.set = jsonx_built(&set);
    if (change.given == NULL || change.set == NULL || change.lost)
        return AZ_SERVER_ERROR;
    *ret = change;
    return AZ_OK;
}

/* ---- tools */

const char *const managed_tool_decided[] = {"name", "scopes", "annotations", "enabled", NULL};

const char *
managed_tool_upstream_name(const json_t *tool)
{
    const char *name = json_string_value(json_object_get(tool, "upstreamName"));
    return name != NULL ? name : json_string_value(json_object_get(tool, "name"));
}

json_t *
managed_tool_find(const json_t *tools, const char *name)
{
    size_t index;
    json_t *tool;
    json_array_foreach (tools, index, tool) {
        const char *its = managed_tool_upstream_name(tool);
        if (its != NULL && name != NULL && strcmp(its, name) == 0)
            return tool;
    }
    return NULL;
}

/* Return a stored tool with what the operator decides about it, a new reference, or NULL if out of
 * memory. Without the stored switch, a disabled tool would be served. */
static json_t *
decided_tool(const json_t *stored, const json_t *sent)
{
    struct jsonx_build tool = {jsonx_copy(stored), false};
    for (const char *const *member = managed_tool_decided; *member != NULL; member++) {
        json_t *value = json_object_get(sent, *member);
        if (value == NULL || json_is_null(value))
            json_object_del(tool.value, *member);
        else
            jsonx_set(&tool, *member, json_incref(value));
    }
    /* Without a name of its own it has the one at the upstream. */
    if (json_object_get(tool.value, "name") == NULL)
        jsonx_set(&tool, "name", json_string(managed_tool_upstream_name(stored)));
    if (tool.lost)
        json_decref(tool.value);
    return tool.lost ? NULL : tool.value;
}

/* Return a sent tool without its pin, which the service sets. */
static json_t *
unpinned_tool(json_t *sent)
{
    json_t *tool = json_is_object(sent) ? jsonx_copy(sent) : json_incref(sent);
    json_object_del(tool, "pin");
    return tool;
}

json_t *
managed_tools_merge(TALLOC_CTX *mem, const json_t *sent, const json_t *stored, bool is_mcp)
{
    struct jsonx_build tools = {jsonx_own(mem, json_array()), false};
    size_t index;
    json_t *tool;
    json_array_foreach (sent, index, tool) {
        const json_t *was =
            is_mcp ? managed_tool_find(stored, managed_tool_upstream_name(tool)) : NULL;
        bool synced = json_object_get(was, "pin") != NULL;
        jsonx_append(&tools, synced ? decided_tool(was, tool) : unpinned_tool(tool));
    }
    json_array_foreach (stored, index, tool)
        if (is_mcp && json_object_get(tool, "pin") != NULL
            && managed_tool_find(sent, managed_tool_upstream_name(tool)) == NULL)
            jsonx_append(&tools, json_incref(tool));
    return jsonx_built(&tools);
}
