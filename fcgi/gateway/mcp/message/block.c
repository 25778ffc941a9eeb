#include "config.h"

#include "gateway/mcp/message/block.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "gateway/mcp/message/extras.h"
#include "gateway/mcp/message/scoped_uri.h"
#include "gateway/mcp/message/shown_text.h"

/* ---- which blocks there are */

bool
mcp_is_base64(TALLOC_CTX *mem, const json_t *text)
{
    unsigned char *octets = NULL;
    size_t length;
    bool good = json_is_string(text) && json_string_length(text) <= MCP_BASE64_MAX
                && b64_decode_lenient(mem, json_string_value(text), json_string_length(text),
                                      &octets, &length)
                       == AZ_OK;
    talloc_free(octets);
    return good;
}

static bool
has_text(const json_t *block, const char *member)
{
    return json_is_string(json_object_get(block, member));
}

static bool
text_is_sound(TALLOC_CTX *mem, const json_t *block)
{
    (void) mem;
    return has_text(block, "text");
}

static bool
media_is_sound(TALLOC_CTX *mem, const json_t *block)
{
    return has_text(block, "mimeType") && mcp_is_base64(mem, json_object_get(block, "data"));
}

static bool
resource_is_sound(TALLOC_CTX *mem, const json_t *block)
{
    const json_t *resource = json_object_get(block, "resource");
    const json_t *blob = json_object_get(resource, "blob");
    return has_text(resource, "uri") && has_text(resource, "text") == (blob == NULL)
           && (blob == NULL || mcp_is_base64(mem, blob));
}

static bool
link_is_sound(TALLOC_CTX *mem, const json_t *block)
{
    (void) mem;
    return has_text(block, "uri") && has_text(block, "name");
}

/* The types, with their members that are texts; NULL behind the last. */
#define BLOCK_TEXTS_MAX 6
static const struct block_type {
    const char *name;
    const char *texts[BLOCK_TEXTS_MAX];
    bool (*is_sound)(TALLOC_CTX *mem, const json_t *block);
} block_types[] = {
    {"text",          {"text"},                                            text_is_sound    },
    {"image",         {"data", "mimeType"},                                media_is_sound   },
    {"audio",         {"data", "mimeType"},                                media_is_sound   },
    {"resource",      {NULL},                                              resource_is_sound},
    {"resource_link", {"uri", "name", "title", "description", "mimeType"}, link_is_sound    },
};

static const struct block_type *
type_of_block(const json_t *block)
{
    const char *type = json_string_value(json_object_get(block, "type"));
    for (size_t i = 0; type != NULL && i < sizeof(block_types) / sizeof(block_types[0]); i++)
        if (strcmp(block_types[i].name, type) == 0)
            return &block_types[i];
    return NULL;
}

bool
mcp_content_is_sound(TALLOC_CTX *mem, const json_t *block)
{
    const struct block_type *type = type_of_block(block);
    return type != NULL && type->is_sound(mem, block);
}

/* ---- what clients get */

static void
keep_texts(struct jsonx_build *kept, const json_t *from, const char *const *names)
{
    for (; *names != NULL; names++) {
        json_t *text = json_object_get(from, *names);
        if (json_is_string(text))
            jsonx_set(kept, *names, json_incref(text));
    }
}

/* Keep the hints for hosts: for whom the block is, how much it matters, and its age. */
static void
keep_annotations(struct jsonx_build *kept, const json_t *from)
{
    static const char *const texts[] = {"lastModified", NULL};
    const json_t *given = json_object_get(from, "annotations"), *role;
    json_t *priority = json_object_get(given, "priority");
    struct jsonx_build hints = {json_object(), false}, audience = {json_array(), false};
    size_t index;
    json_array_foreach (json_object_get(given, "audience"), index, role) {
        const char *word = json_string_value(role);
        if (word != NULL && (strcmp(word, "user") == 0 || strcmp(word, "assistant") == 0)
            && !jsonx_array_has(audience.value, role))
            jsonx_append(&audience, json_string(word));
    }
    if (json_array_size(audience.value) > 0)
        jsonx_set(&hints, "audience", json_incref(audience.value));
    if (json_is_number(priority))
        jsonx_set(&hints, "priority", json_incref(priority));
    keep_texts(&hints, given, texts);
    kept->lost = kept->lost || hints.lost || audience.lost;
    if (json_object_size(hints.value) > 0)
        jsonx_set(kept, "annotations", json_incref(hints.value));
    json_decref(hints.value);
    json_decref(audience.value);
}

/* Keep the file of an embedded resource. */
static void
keep_resource(struct jsonx_build *kept, const json_t *resource)
{
    static const char *const texts[] = {"uri", "mimeType", "text", "blob", NULL};
    struct jsonx_build file = {json_object(), false};
    keep_texts(&file, resource, texts);
    mcp_meta_add(&file, resource);
    kept->lost = kept->lost || file.lost;
    jsonx_set(kept, "resource", file.value);
}

json_t *
mcp_shown_block(TALLOC_CTX *mem, const char *scope, const json_t *block)
{
    const struct block_type *type = type_of_block(block);
    json_t *size = json_object_get(block, "size");
    struct jsonx_build kept = {jsonx_own(mem, json_object()), type == NULL};
    if (kept.lost || kept.value == NULL)
        return NULL;
    bool link = strcmp(type->name, "resource_link") == 0;
    jsonx_set(&kept, "type", json_string(type->name));
    keep_texts(&kept, block, type->texts);
    if (strcmp(type->name, "resource") == 0)
        keep_resource(&kept, json_object_get(block, "resource"));
    if (link && json_is_integer(size))
        jsonx_set(&kept, "size", json_incref(size));
    keep_annotations(&kept, block);
    if (link)
        mcp_extras_add(&kept, block);
    else
        mcp_meta_add(&kept, block);
    json_t *shown =
        jsonx_built(&kept) != NULL ? jsonx_own(mem, shown_value(mem, kept.value)) : NULL;
    return shown != NULL ? scoped_uri_block(mem, scope, shown) : NULL;
}
