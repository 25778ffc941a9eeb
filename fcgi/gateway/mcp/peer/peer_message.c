#include "config.h"

#include "gateway/mcp/peer/peer_message.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/message/era.h"
#include "gateway/mcp/message/param_header.h"
#include "gateway/mcp/message/tool_schema.h"
#include "gateway/mcp/peer/progress.h"

/* Every request has a connection of its own, so one id is enough. */
#define PEER_ID 1

/* ---- writing */

static bool
add_peer_field(struct peer_envelope *envelope, const char *name, const char *value)
{
    if (name == NULL || value == NULL || envelope->fields == PEER_FIELDS_MAX)
        return false;
    envelope->field[envelope->fields++] = (struct upstream_field){name, value};
    return true;
}

/* Return the `_meta` of a request: what a modern upstream wants, with the capabilities that it may
 * use, and the token of progress. A new reference, or NULL if out of memory. */
static json_t *
request_meta(const struct peer_way *way, const struct peer_message *message)
{
    json_t *token = message->progress ? json_integer(PROGRESS_TOKEN) : NULL;
    if (!way->modern)
        return json_pack("{s:o*}", "progressToken", token);
    json_t *may =
        message->capabilities != NULL ? json_incref(message->capabilities) : json_object();
    return json_pack("{s:s,s:o,s:{s:s,s:s},s:o*}", MCP_META_VERSION, MCP_MODERN,
                     MCP_META_CAPABILITIES, may, MCP_META_CLIENT, "name", PACKAGE_NAME, "version",
                     PACKAGE_VERSION, "progressToken", token);
}

/* Return the params with `_meta`, where there is one. A new reference, or NULL if out of memory, or
 * if there are none. */
static json_t *
request_params(const struct peer_way *way, const struct peer_message *message)
{
    const json_t *params = message->params;
    if (!way->modern && !message->progress)
        return json_incref(message->params);
    struct jsonx_build copy = {params != NULL ? jsonx_copy(params) : json_object(), false};
    jsonx_set(&copy, "_meta", request_meta(way, message));
    if (jsonx_built(&copy) == NULL)
        json_decref(copy.value);
    return jsonx_built(&copy);
}

static enum az_status
write_body(TALLOC_CTX *mem, const struct peer_way *way, const struct peer_message *message,
           struct peer_envelope *ret)
{
    json_t *params = request_params(way, message);
    json_t *body;
    if ((way->modern || message->params != NULL) && params == NULL)
        return AZ_SERVER_ERROR;
    body =
        json_pack("{s:s,s:s,s:o*}", "jsonrpc", "2.0", "method", message->method, "params", params);
    body = jsonx_own(mem, body);
    if (body == NULL
        || (!message->notification && json_object_set_new(body, "id", json_integer(PEER_ID)) != 0))
        return AZ_SERVER_ERROR;
    ret->body = jsonx_dump(mem, body);
    if (ret->body == NULL)
        return AZ_SERVER_ERROR;
    ret->length = strlen(ret->body);
    return AZ_OK;
}

/* The place in which the fields of arguments are collected. */
struct param_fields {
    TALLOC_CTX *mem;
    struct peer_envelope *envelope;
};

static bool
add_param(void *arg, const char *name, const json_t *value)
{
    const struct param_fields *it = arg;
    return !param_header_carries(value) || it->envelope->fields == PEER_FIELDS_MAX
           || add_peer_field(it->envelope, talloc_asprintf(it->mem, PARAM_HEADER_PREFIX "%s", name),
                             param_header_value(it->mem, value));
}

/* Add the fields that every message has. */
static bool
add_way(struct peer_envelope *envelope, const struct peer_way *way)
{
    const char *version = way->modern ? MCP_MODERN : way->version;
    envelope->fields = 0;
    return add_peer_field(envelope, "Content-Type", "application/json")
           && add_peer_field(envelope, "Accept", "application/json, text/event-stream")
           && (version == NULL || add_peer_field(envelope, "MCP-Protocol-Version", version))
           && (way->modern || way->session == NULL
               || add_peer_field(envelope, "Mcp-Session-Id", way->session));
}

enum az_status
peer_write(TALLOC_CTX *mem, const struct peer_way *way, const struct peer_message *message,
           struct peer_envelope *ret)
{
    const char *member = mcp_named_member(message->method);
    const char *name =
        member != NULL ? json_string_value(json_object_get(message->params, member)) : NULL;
    struct param_fields params = {mem, ret};
    bool good = add_way(ret, way) && write_body(mem, way, message, ret) == AZ_OK;
    if (good && way->modern)
        good = add_peer_field(ret, "Mcp-Method", message->method)
               && (name == NULL || add_peer_field(ret, "Mcp-Name", mcp_header_value(mem, name)))
               && param_headers_each(message->schema, json_object_get(message->params, "arguments"),
                                     add_param, &params);
    return good ? AZ_OK : AZ_SERVER_ERROR;
}

const char *
peer_answer(TALLOC_CTX *mem, const struct json_rpc *question)
{
    const struct json_rpc_fault unknown = {.code = RPC_METHOD_NOT_FOUND,
                                           .message = "Unknown method"};
    bool ping = strcmp(question->method, "ping") == 0;
    return jsonx_dump(mem, jsonx_own(mem, ping ? json_rpc_result(question->id, json_object())
                                               : json_rpc_error(question->id, &unknown)));
}

const char *
peer_cancellation(TALLOC_CTX *mem)
{
    return jsonx_dump(
        mem, jsonx_own(mem, json_pack("{s:s,s:s,s:{s:i}}", "jsonrpc", "2.0", "method",
                                      "notifications/cancelled", "params", "requestId", PEER_ID)));
}

enum az_status
peer_write_answer(const struct peer_way *way, const char *answer, struct peer_envelope *ret)
{
    ret->body = answer;
    ret->length = strlen(answer);
    return add_way(ret, way) ? AZ_OK : AZ_SERVER_ERROR;
}

/* ---- reading */

bool
peer_answers(const struct json_rpc *message)
{
    bool answer = message->kind == JSON_RPC_RESULT || message->kind == JSON_RPC_ERROR;
    return answer && (message->id == NULL || json_integer_value(message->id) == PEER_ID);
}

const char *
peer_error_text(TALLOC_CTX *mem, const json_t *error)
{
    const char *message = json_string_value(json_object_get(error, "message"));
    const json_t *code = json_object_get(error, "code");
    char *text = talloc_strndup(mem, message != NULL ? message : "", PEER_MESSAGE_MAX);
    size_t length = text != NULL ? strlen(text) : 0;
    /* The cut may have split a character. */
    while (length > 0 && length == PEER_MESSAGE_MAX && ((unsigned char) text[length - 1] & 0x80))
        text[--length] = '\0';
    for (size_t i = 0; i < length; i++)
        if ((unsigned char) text[i] < ' ' || text[i] == 0x7f)
            text[i] = ' ';
    return text != NULL ? talloc_asprintf(mem, "The upstream answered with error %d: %s",
                                          (int) json_integer_value(code), text)
                        : NULL;
}

const char *
peer_version(const json_t *result)
{
    const char *version = json_string_value(json_object_get(result, "protocolVersion"));
    const char *known = version != NULL ? mcp_known_version(version) : NULL;
    return known != NULL && strcmp(known, MCP_MODERN) != 0 ? known : NULL;
}

bool
peer_is_modern(const json_t *result)
{
    size_t index;
    const json_t *version;
    json_array_foreach (json_object_get(result, "supportedVersions"), index, version)
        if (json_is_string(version) && strcmp(json_string_value(version), MCP_MODERN) == 0)
            return true;
    return false;
}

bool
peer_error_is(const json_t *error, enum json_rpc_code code)
{
    return json_is_integer(json_object_get(error, "code"))
           && json_integer_value(json_object_get(error, "code")) == code;
}

const char *
peer_supported(const json_t *error)
{
    const json_t *list = json_object_get(json_object_get(error, "data"), "supported");
    size_t index;
    const json_t *version;
    const char *best = NULL;
    json_array_foreach (list, index, version) {
        const char *text = json_string_value(version);
        const char *known = text != NULL ? mcp_known_version(text) : NULL;
        /* The names are dates, so the newest is the greatest. */
        if (known != NULL && (best == NULL || strcmp(known, best) > 0))
            best = known;
    }
    return best;
}

json_t *
peer_capabilities(const json_t *error)
{
    json_t *needed = json_object_get(json_object_get(error, "data"), "requiredCapabilities");
    char *text = json_is_object(needed) ? json_dumps(needed, JSON_COMPACT) : NULL;
    bool fits = text != NULL && strlen(text) <= PEER_MESSAGE_MAX;
    free(text);
    return fits ? needed : NULL;
}

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

/* True if a prompt has a name, and each of its arguments another one. */
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
    return KEPT(tool, members);
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
    if (jsonx_built(&kept) == NULL)
        json_decref(kept.value);
    return jsonx_built(&kept);
}

const struct peer_list peer_tools = {"tools/list", "tools", PEER_TOOLS_MAX, tool_is_sound,
                                     kept_tool};
const struct peer_list peer_prompts = {"prompts/list", "prompts", PEER_PROMPTS_MAX, prompt_is_sound,
                                       kept_prompt};

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
        json_t *kept = jsonx_own(mem, list->is_sound(entry) ? list->kept(entry) : json_null());
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
