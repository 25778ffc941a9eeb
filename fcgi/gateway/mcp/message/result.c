#include "config.h"

#include "gateway/mcp/message/result.h"

#include <stdint.h>
#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "base/words.h"
#include "gateway/mcp/message/block.h"
#include "gateway/mcp/message/shown_text.h"

json_t *
mcp_text_result(TALLOC_CTX *mem, const char *text, bool error)
{
    json_t *result = json_pack("{s:[{s:s,s:s}]}", "content", "type", "text", "text", text);
    if (result != NULL && error && json_object_set_new(result, "isError", json_true()) != 0) {
        json_decref(result);
        return NULL;
    }
    return jsonx_own(mem, result);
}

/* ---- bodies */

static bool
begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool
type_is_json(const char *type)
{
    return strcmp(type, "application/json") == 0 || words_end(type, "+json");
}

/* True if a body can be shown as text: by its type, and by its octets. */
static bool
is_shown_as_text(const struct mcp_body *body)
{
    static const char *const types[] = {"", "application/xml", "application/javascript",
                                        "application/x-www-form-urlencoded", NULL};
    const char *type = body->content_type;
    bool named = begins(type, "text/") || type_is_json(type) || words_end(type, "+xml")
                 || words_has(types, type);
    return named && memchr(body->octets, '\0', body->length) == NULL
           && utf8_valid(body->octets, body->length);
}

/* Return a content item in base64: an image, a sound, or a file. */
static json_t *
encoded_item(TALLOC_CTX *mem, const struct mcp_body *body)
{
    const char *type =
        *body->content_type != '\0' ? body->content_type : "application/octet-stream";
    const char *data = b64_encode(mem, body->octets, body->length);
    if (data == NULL)
        return NULL;
    if (begins(type, "image/") || begins(type, "audio/"))
        return json_pack("{s:s,s:s,s:s}", "type", begins(type, "image/") ? "image" : "audio",
                         "data", data, "mimeType", type);
    return json_pack("{s:s,s:{s:s,s:s,s:s}}", "type", "resource", "resource", "uri", body->uri,
                     "mimeType", type, "blob", data);
}

static json_t *
text_item(TALLOC_CTX *mem, const struct mcp_body *body)
{
    const char *text = body->octets;
    if (body->failed)
        text = talloc_asprintf(mem, "The upstream answered %d%s%s", body->status,
                               body->length > 0 ? ": " : "", body->octets);
    json_t *given = text != NULL ? jsonx_own(mem, json_string(text)) : NULL;
    return given != NULL ? json_pack("{s:s,s:o}", "type", "text", "text", shown_value(mem, given))
                         : NULL;
}

/* Add the JSON object of a body. MCP before 2026-07-28 allows no other value there. One with a name
 * that people would not see as it is stays text alone. */
static void
add_structure(TALLOC_CTX *mem, const struct mcp_body *body, struct jsonx_build *result)
{
    json_t *value = NULL;
    if (type_is_json(body->content_type)
        && jsonx_parse(mem, body->octets, body->length, JSON_RPC_DEPTH_MAX, &value, NULL) == AZ_OK
        && json_is_object(value)) {
        json_t *shown = shown_value(mem, value);
        if (shown != NULL)
            jsonx_set(result, "structuredContent", shown);
    }
}

json_t *
mcp_body_result(TALLOC_CTX *mem, const struct mcp_body *body)
{
    struct jsonx_build result = {jsonx_own(mem, json_object()), false};
    bool text = is_shown_as_text(body) || body->length == 0;
    json_t *item = text ? text_item(mem, body) : encoded_item(mem, body);
    jsonx_set(&result, "content", item != NULL ? json_pack("[o]", item) : NULL);
    if (body->failed)
        jsonx_set(&result, "isError", json_true());
    else if (text)
        add_structure(mem, body, &result);
    return jsonx_built(&result);
}

json_t *
mcp_body_contents(TALLOC_CTX *mem, const struct mcp_body *body)
{
    const char *type = *body->content_type != '\0' ? body->content_type : NULL;
    bool text = is_shown_as_text(body) || body->length == 0;
    const char *data = text ? body->octets : b64_encode(mem, body->octets, body->length);
    return data != NULL ? jsonx_own(mem, json_pack("[{s:s,s:s*,s:s}]", "uri", body->uri, "mimeType",
                                                   type, text ? "text" : "blob", data))
                        : NULL;
}

/* ---- what an upstream MCP server gives */

json_t *
mcp_relayed_result(TALLOC_CTX *mem, const char *scope, const json_t *result)
{
    static const char *const members[] = {"structuredContent", "isError"};
    struct jsonx_build relayed = {jsonx_own(mem, json_object()), false};
    struct jsonx_build blocks = {jsonx_own(mem, json_array()), false};
    const json_t *content = json_object_get(result, "content");
    const char *type = json_string_value(json_object_get(result, "resultType"));
    size_t index;
    json_t *item;
    if (!json_is_array(content) || json_array_size(content) > MCP_CONTENT_MAX
        || (type != NULL && strcmp(type, "complete") != 0))
        return NULL;
    json_array_foreach (content, index, item) {
        if (!mcp_content_is_sound(mem, item))
            return NULL;
        jsonx_append(&blocks, mcp_shown_block(mem, scope, item));
    }
    jsonx_set(&relayed, "content", json_incref(jsonx_built(&blocks)));
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *value = json_object_get(result, members[i]);
        if (value != NULL && !json_is_null(value))
            jsonx_set(&relayed, members[i], shown_value(mem, value));
    }
    return jsonx_built(&relayed);
}

/* ---- about this server */

static json_t *
server_info(void)
{
    return json_pack("{s:s,s:s}", "name", PACKAGE_NAME, "version", PACKAGE_VERSION);
}

/* Return the declared capabilities. Completions are offered for URI templates and prompts. */
static json_t *
capabilities(const struct mcp_features *has)
{
    const struct {
        const char *name;
        bool declared, changes, watches;
    } members[] = {
        {"tools",       true,                           has->streams, false       },
        {"resources",   has->resources,                 has->streams, has->watches},
        {"prompts",     has->prompts,                   has->streams, false       },
        {"completions", has->resources || has->prompts, false,        false       },
        {"logging",     has->log,                       false,        false       },
    };
    json_t *declared = json_object();
    for (size_t i = 0; declared != NULL && i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *member =
            json_pack("{s:o*,s:o*}", "listChanged", members[i].changes ? json_true() : NULL,
                      "subscribe", members[i].watches ? json_true() : NULL);
        if (!members[i].declared) {
            json_decref(member);
        } else if (json_object_set_new(declared, members[i].name, member) != 0) {
            json_decref(declared);
            declared = NULL;
        }
    }
    return declared;
}

json_t *
mcp_discover_result(TALLOC_CTX *mem, const struct mcp_features *features)
{
    return jsonx_own(mem, json_pack("{s:o,s:o,s:s*,s:i,s:s,s:{s:o}}", "supportedVersions",
                                    mcp_versions(), "capabilities", capabilities(features),
                                    "instructions", features->instructions, "ttlMs",
                                    features->decided ? MCP_LIST_TTL_MS : MCP_DISCOVER_TTL_MS,
                                    "cacheScope", features->decided ? "private" : "public", "_meta",
                                    MCP_META_SERVER, server_info()));
}

json_t *
mcp_initialize_result(TALLOC_CTX *mem, const char *version, const struct mcp_features *features)
{
    return jsonx_own(mem, json_pack("{s:s,s:o,s:o,s:s*}", "protocolVersion", version,
                                    "capabilities", capabilities(features), "serverInfo",
                                    server_info(), "instructions", features->instructions));
}

json_t *
mcp_list_result(TALLOC_CTX *mem, const char *member, json_t *items)
{
    return jsonx_own(mem, json_pack("{s:O,s:i,s:s}", member, items, "ttlMs", MCP_LIST_TTL_MS,
                                    "cacheScope", "private"));
}

json_t *
mcp_elicit_url_result(TALLOC_CTX *mem, const char *key, const char *url, const char *message,
                      const char *state)
{
    return jsonx_own(mem, json_pack("{s:s,s:{s:{s:s,s:{s:s,s:s,s:s}}},s:s}", "resultType",
                                    "input_required", "inputRequests", key, "method",
                                    "elicitation/create", "params", "mode", "url", "url", url,
                                    "message", message, "requestState", state));
}

/* ---- older clients */

/* Structured results, titles, `_meta` and links to resources came with this revision, icons with
 * the next. */
#define MCP_STRUCTURED "2025-06-18"

void
mcp_entry_fit(json_t *entry, const struct mcp_version *version)
{
    static const struct {
        const char *name, *since;
    } members[] = {
        {"title",        MCP_STRUCTURED   },
        {"outputSchema", MCP_STRUCTURED   },
        {"_meta",        MCP_STRUCTURED   },
        {"icons",        MCP_LEGACY_NEWEST},
    };
    const char *type =
        json_string_value(json_object_get(json_object_get(entry, "outputSchema"), "type"));
    bool object = type != NULL && strcmp(type, "object") == 0;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (mcp_is_before(version, members[i].since))
            json_object_del(entry, members[i].name);
    if (!version->modern && !object)
        json_object_del(entry, "outputSchema");
}

/* Return a link to a resource as text, a new reference. */
static json_t *
link_as_text(const json_t *link)
{
    return json_pack("{s:s,s:o}", "type", "text", "text",
                     json_sprintf("%s: %s", json_string_value(json_object_get(link, "name")),
                                  json_string_value(json_object_get(link, "uri"))));
}

static bool
is_link(const json_t *block)
{
    const char *type = json_string_value(json_object_get(block, "type"));
    return type != NULL && strcmp(type, "resource_link") == 0;
}

/* Put texts in the place of links, in the content of a tool's result and in messages of a prompt.
 */
static bool
links_as_texts(json_t *result)
{
    json_t *blocks = json_object_get(result, "content"), *block;
    json_t *messages = json_object_get(result, "messages"), *message;
    size_t index;
    bool good = true;
    json_array_foreach (blocks, index, block)
        if (is_link(block))
            good = json_array_set_new(blocks, index, link_as_text(block)) == 0 && good;
    json_array_foreach (messages, index, message) {
        block = json_object_get(message, "content");
        if (is_link(block))
            good = json_object_set_new(message, "content", link_as_text(block)) == 0 && good;
    }
    return good;
}

bool
mcp_result_finish(json_t *result, const struct mcp_version *version)
{
    static const char *const modern_members[] = {"resultType", "ttlMs", "cacheScope"};
    if (version->modern)
        return json_object_get(result, "resultType") != NULL
               || json_object_set_new(result, "resultType", json_string("complete")) == 0;
    for (size_t i = 0; i < sizeof(modern_members) / sizeof(modern_members[0]); i++)
        json_object_del(result, modern_members[i]);
    bool before = mcp_is_before(version, MCP_STRUCTURED);
    if (before || !json_is_object(json_object_get(result, "structuredContent")))
        json_object_del(result, "structuredContent");
    return !before || links_as_texts(result);
}
