#include "config.h"

#include "gateway/mcp/peer_message.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/era.h"
#include "gateway/mcp/tool_schema.h"

/* Every request has a connection of its own, so one id is enough. */
#define PEER_ID 1

/* ---- writing */

static bool
add_peer_field(struct peer_envelope *envelope, const char *name, const char *value)
{
    if (value == NULL || envelope->fields == PEER_FIELDS_MAX)
        return false;
    envelope->field[envelope->fields++] = (struct upstream_field){name, value};
    return true;
}

/* Return the params with the `_meta` that a modern upstream wants: no capability of the caller is
 * passed on. A new reference, or NULL if out of memory. */
static json_t *
modern_params(const json_t *params)
{
    struct jsonx_build copy = {
        params != NULL ? json_copy((json_t *) (uintptr_t) params) : json_object(), false};
    jsonx_set(&copy, "_meta",
              json_pack("{s:s,s:{},s:{s:s,s:s}}", MCP_META_VERSION, MCP_MODERN,
                        MCP_META_CAPABILITIES, MCP_META_CLIENT, "name", PACKAGE_NAME, "version",
                        PACKAGE_VERSION));
    if (jsonx_built(&copy) == NULL)
        json_decref(copy.value);
    return jsonx_built(&copy);
}

static enum az_status
write_body(TALLOC_CTX *mem, const struct peer_way *way, const struct peer_message *message,
           struct peer_envelope *ret)
{
    json_t *params = way->modern ? modern_params(message->params) : json_incref(message->params);
    json_t *body;
    if (way->modern && params == NULL)
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

/* True if a text is a token of RFC 9110 5.6.2, so that it can stand in a field's name. */
static bool
is_field_token(const char *text)
{
    return *text != '\0' && strlen(text) <= 64
           && text[strspn(text, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz")]
                  == '\0';
}

/* Return the text of an argument as a field has it, or NULL if a field cannot carry this type of
 * value. */
static const char *
param_text(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = NULL;
    if (json_is_string(value))
        text = json_string_value(value);
    else if (json_is_integer(value) || json_is_boolean(value))
        text = jsonx_dump(mem, value);
    return text != NULL ? mcp_header_value(mem, text) : NULL;
}

/* Repeat the arguments whose schema has x-mcp-header in Mcp-Param-... (MCP 2026-07-28, transports).
 * They stand below chains of `properties` alone. */
static void
add_params(TALLOC_CTX *mem, struct peer_envelope *envelope, const json_t *schema,
           const json_t *arguments, size_t depth)
{
    const char *name;
    json_t *property;
    if (depth == TOOL_SCHEMA_DEPTH_MAX)
        return;
    json_object_foreach (json_object_get(schema, "properties"), name, property) {
        const char *header = json_string_value(json_object_get(property, "x-mcp-header"));
        const json_t *value = json_object_get(arguments, name);
        const char *text = header != NULL && is_field_token(header) ? param_text(mem, value) : NULL;
        if (text != NULL)
            add_peer_field(envelope, talloc_asprintf(mem, "Mcp-Param-%s", header), text);
        if (json_is_object(value))
            add_params(mem, envelope, property, value, depth + 1);
    }
}

enum az_status
peer_write(TALLOC_CTX *mem, const struct peer_way *way, const struct peer_message *message,
           struct peer_envelope *ret)
{
    const char *name = json_string_value(json_object_get(message->params, "name"));
    bool good;
    ret->fields = 0;
    if (write_body(mem, way, message, ret) != AZ_OK)
        return AZ_SERVER_ERROR;
    good = add_peer_field(ret, "Content-Type", "application/json")
           && add_peer_field(ret, "Accept", "application/json, text/event-stream");
    if (way->modern) {
        good = good && add_peer_field(ret, "MCP-Protocol-Version", MCP_MODERN)
               && add_peer_field(ret, "Mcp-Method", message->method)
               && (name == NULL || add_peer_field(ret, "Mcp-Name", mcp_header_value(mem, name)));
        add_params(mem, ret, message->schema, json_object_get(message->params, "arguments"), 0);
    } else {
        good =
            good
            && (way->version == NULL || add_peer_field(ret, "MCP-Protocol-Version", way->version))
            && (way->session == NULL || add_peer_field(ret, "Mcp-Session-Id", way->session));
    }
    return good ? AZ_OK : AZ_SERVER_ERROR;
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
    const char *known = version != NULL ? mcp_legacy_version(version) : NULL;
    return known != NULL && strcmp(known, version) == 0 ? known : NULL;
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

/* True if a tool has the name that MCP allows, and schemas within the limits. */
static bool
tool_is_sound(const json_t *tool)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_-.";
    const char *name = json_string_value(json_object_get(tool, "name"));
    const json_t *input = json_object_get(tool, "inputSchema");
    const json_t *output = json_object_get(tool, "outputSchema");
    return name != NULL && *name != '\0' && strlen(name) <= 128
           && name[strspn(name, letters)] == '\0' && json_is_object(input)
           && tool_schema_fits(input) && (output == NULL || tool_schema_fits(output));
}

/* Return the members of a tool that are kept, each only if it has its type: a new reference, or
 * NULL if out of memory. */
static json_t *
kept_tool(const json_t *tool)
{
    static const struct {
        const char *name;
        json_type type;
    } members[] = {
        {"name",         JSON_STRING},
        {"title",        JSON_STRING},
        {"description",  JSON_STRING},
        {"inputSchema",  JSON_OBJECT},
        {"outputSchema", JSON_OBJECT},
        {"annotations",  JSON_OBJECT},
    };
    struct jsonx_build kept = {json_object(), false};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *value = json_object_get(tool, members[i].name);
        if (value != NULL && json_typeof(value) == members[i].type)
            jsonx_set(&kept, members[i].name, json_incref(value));
    }
    if (jsonx_built(&kept) == NULL)
        json_decref(kept.value);
    return jsonx_built(&kept);
}

static bool
has_tool(const json_t *tools, const json_t *named)
{
    size_t index;
    const json_t *tool;
    json_array_foreach (tools, index, tool)
        if (json_equal(json_object_get(tool, "name"), json_object_get(named, "name")))
            return true;
    return false;
}

enum az_status
peer_tools_add(TALLOC_CTX *mem, const json_t *page, json_t *tools, size_t *left_out,
               const char **ret_cursor)
{
    const json_t *list = json_object_get(page, "tools"), *tool;
    const json_t *cursor = json_object_get(page, "nextCursor");
    size_t index;
    if (!json_is_array(list)
        || (json_is_string(cursor) && json_string_length(cursor) > PEER_CURSOR_MAX))
        return AZ_INVALID;
    json_array_foreach (list, index, tool) {
        json_t *kept = jsonx_own(mem, tool_is_sound(tool) ? kept_tool(tool) : json_null());
        const char *text = kept != NULL ? jsonx_dump(mem, kept) : NULL;
        if (text == NULL)
            return AZ_SERVER_ERROR;
        if (json_is_null(kept) || strlen(text) > PEER_TOOL_OCTETS_MAX || has_tool(tools, kept)) {
            *left_out += 1;
            continue;
        }
        if (json_array_size(tools) == PEER_TOOLS_MAX)
            return AZ_INVALID;
        if (json_array_append(tools, kept) != 0)
            return AZ_SERVER_ERROR;
    }
    *ret_cursor = json_is_string(cursor) ? json_string_value(cursor) : NULL;
    return AZ_OK;
}
