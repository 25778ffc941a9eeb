#include "config.h"

#include "gateway/mcp/peer/peer_list.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/message/extras.h"
#include "gateway/mcp/message/param_header.h"
#include "gateway/mcp/message/shown_text.h"
#include "gateway/mcp/message/tool_schema.h"
#include "gateway/mcp/peer/peer_message.h"

/* True if a tool can be called as a task alone (MCP 2025-11-25, tasks), which we do not do. */
static bool
needs_task(const json_t *tool)
{
    const char *support =
        json_string_value(json_object_get(json_object_get(tool, "execution"), "taskSupport"));
    return support != NULL && strcmp(support, "required") == 0;
}

/* True if an entry has the name that MCP allows for tools. */
static bool
is_named(const json_t *entry)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_-.";
    const char *name = json_string_value(json_object_get(entry, "name"));
    return name != NULL && *name != '\0' && strlen(name) <= 128
           && name[strspn(name, letters)] == '\0';
}

/* True if a tool has a name, and schemas within the limits and rules. */
static bool
tool_is_sound(const json_t *tool)
{
    const json_t *input = json_object_get(tool, "inputSchema");
    const json_t *output = json_object_get(tool, "outputSchema");
    return is_named(tool) && !needs_task(tool) && json_is_object(input) && tool_schema_fits(input)
           && param_headers_sound(input) && (output == NULL || tool_schema_fits(output));
}

/* True if a prompt has a name, and the names of its arguments differ. */
static bool
prompt_is_sound(const json_t *prompt)
{
    const json_t *arguments = json_object_get(prompt, "arguments"), *argument;
    size_t index;
    if (!is_named(prompt) || json_array_size(arguments) > PEER_PROMPT_ARGUMENTS_MAX)
        return false;
    json_array_foreach (arguments, index, argument) {
        const json_t *name = json_object_get(argument, "name");
        if (!json_is_string(name) || json_string_length(name) == 0)
            return false;
        for (size_t i = 0; i < index; i++)
            if (json_equal(json_object_get(json_array_get(arguments, i), "name"), name))
                return false;
    }
    return arguments == NULL || json_is_array(arguments);
}

/* A member that is kept if it has its type. */
struct kept_member {
    const char *name;
    json_type type;
};

/* Return the members of an entry that are kept: a new reference, or NULL if out of memory. */
static json_t *
kept_members(const json_t *entry, const struct kept_member *members, size_t count)
{
    struct jsonx_build kept = {json_object(), false};
    for (size_t i = 0; i < count; i++) {
        json_t *value = json_object_get(entry, members[i].name);
        if (value != NULL && json_typeof(value) == members[i].type)
            jsonx_set(&kept, members[i].name, json_incref(value));
    }
    if (jsonx_built(&kept) == NULL)
        json_decref(kept.value);
    return jsonx_built(&kept);
}

#define KEPT(entry, members) kept_members(entry, members, sizeof(members) / sizeof((members)[0]))

static json_t *
kept_tool(const json_t *tool)
{
    static const struct kept_member members[] = {
        {"name",         JSON_STRING},
        {"title",        JSON_STRING},
        {"description",  JSON_STRING},
        {"inputSchema",  JSON_OBJECT},
        {"outputSchema", JSON_OBJECT},
        {"annotations",  JSON_OBJECT},
    };
    struct jsonx_build kept = {KEPT(tool, members), false};
    kept.lost = kept.value == NULL;
    mcp_extras_add(&kept, tool);
    if (jsonx_built(&kept) == NULL)
        json_decref(kept.value);
    return jsonx_built(&kept);
}

static json_t *
kept_prompt(const json_t *prompt)
{
    static const struct kept_member texts[] = {
        {"name",        JSON_STRING},
        {"title",       JSON_STRING},
        {"description", JSON_STRING},
    };
    const json_t *arguments = json_object_get(prompt, "arguments"), *argument;
    struct jsonx_build kept = {KEPT(prompt, texts), false}, list = {json_array(), false};
    size_t index;
    json_array_foreach (arguments, index, argument) {
        struct jsonx_build one = {KEPT(argument, texts), false};
        jsonx_set(&one, "required",
                  json_boolean(json_is_true(json_object_get(argument, "required"))));
        jsonx_append(&list, one.value);
        list.lost |= one.lost;
    }
    kept.lost |= kept.value == NULL || jsonx_built(&list) == NULL;
    if (arguments != NULL)
        jsonx_set(&kept, "arguments", list.value);
    else
        json_decref(list.value);
    mcp_extras_add(&kept, prompt);
    if (jsonx_built(&kept) == NULL)
        json_decref(kept.value);
    return jsonx_built(&kept);
}

const struct peer_list peer_tools = {"tools/list", "tools", PEER_TOOLS_MAX, tool_is_sound,
                                     kept_tool};
const struct peer_list peer_prompts = {"prompts/list", "prompts", PEER_PROMPTS_MAX, prompt_is_sound,
                                       kept_prompt};

/* Return an entry as it is stored: a new reference, JSON null if it is left out, or NULL if out of
 * memory. What people read before they approve it is what models read. */
static json_t *
kept_entry(TALLOC_CTX *mem, const struct peer_list *list, const json_t *entry)
{
    if (!list->is_sound(entry))
        return json_null();
    json_t *kept = jsonx_own(mem, list->kept(entry));
    json_t *shown = kept != NULL ? shown_value(mem, kept) : NULL;
    return kept == NULL || shown != NULL ? shown : json_null();
}

static bool
has_entry(const json_t *entries, const json_t *named)
{
    size_t index;
    const json_t *entry;
    json_array_foreach (entries, index, entry)
        if (json_equal(json_object_get(entry, "name"), json_object_get(named, "name")))
            return true;
    return false;
}

enum az_status
peer_entries_add(TALLOC_CTX *mem, const struct peer_list *list, const json_t *page, json_t *entries,
                 size_t *left_out, const char **ret_cursor)
{
    const json_t *listed = json_object_get(page, list->member), *entry;
    const json_t *cursor = json_object_get(page, "nextCursor");
    size_t index;
    if (!json_is_array(listed)
        || (json_is_string(cursor) && json_string_length(cursor) > PEER_CURSOR_MAX))
        return AZ_INVALID;
    json_array_foreach (listed, index, entry) {
        json_t *kept = jsonx_own(mem, kept_entry(mem, list, entry));
        const char *text = kept != NULL ? jsonx_dump(mem, kept) : NULL;
        if (text == NULL)
            return AZ_SERVER_ERROR;
        if (json_is_null(kept) || strlen(text) > PEER_TOOL_OCTETS_MAX || has_entry(entries, kept)) {
            *left_out += 1;
            continue;
        }
        if (json_array_size(entries) == list->max)
            return AZ_INVALID;
        if (json_array_append(entries, kept) != 0)
            return AZ_SERVER_ERROR;
    }
    *ret_cursor = json_is_string(cursor) ? json_string_value(cursor) : NULL;
    return AZ_OK;
}
