#include "config.h"

#include "gateway/mcp/message/extras.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json/schema/schema_value.h"

#define BASE64_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/* Set a member unless it is empty or too large. Takes the reference to the value. */
static void
set_if_it_fits(struct jsonx_build *kept, const char *name, struct jsonx_build *value)
{
    char *text = jsonx_built(value) != NULL ? json_dumps(value->value, JSON_COMPACT) : NULL;
    bool empty = json_object_size(value->value) == 0 && json_array_size(value->value) == 0;
    kept->lost |= text == NULL;
    if (text != NULL && !empty && strlen(text) <= EXTRAS_OCTETS_MAX)
        jsonx_set(kept, name, json_incref(value->value));
    json_decref(value->value);
    free(text);
}

/* ---- icons */

/* True if a text is a data: URL (RFC 2397) of a picture that every host can show. */
static bool
is_picture(const char *src)
{
    static const char *const begins[] = {"data:image/png;base64,", "data:image/jpeg;base64,",
                                         "data:image/webp;base64,"};
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        const char *octets = src + strlen(begins[i]);
        if (strncmp(src, begins[i], strlen(begins[i])) != 0)
            continue;
        size_t length = strspn(octets, BASE64_CHARS), pad = strspn(octets + length, "=");
        return length > 0 && pad <= 2 && (length + pad) % 4 == 0 && octets[length + pad] == '\0';
    }
    return false;
}

/* Return the known members of an icon: a new reference. */
static json_t *
kept_icon(const json_t *icon)
{
    json_t *sizes = json_object_get(icon, "sizes");
    return json_pack("{s:O,s:s*,s:O*,s:s*}", "src", json_object_get(icon, "src"), "mimeType",
                     json_string_value(json_object_get(icon, "mimeType")), "sizes",
                     jsonx_is_texts(sizes) ? sizes : NULL, "theme",
                     json_string_value(json_object_get(icon, "theme")));
}

static void
add_icons(struct jsonx_build *kept, const json_t *icons)
{
    struct jsonx_build list = {json_array(), false};
    size_t index;
    const json_t *icon;
    json_array_foreach (icons, index, icon) {
        const char *src = json_string_value(json_object_get(icon, "src"));
        if (src != NULL && is_picture(src) && json_array_size(list.value) < EXTRAS_ICONS_MAX)
            jsonx_append(&list, kept_icon(icon));
    }
    set_if_it_fits(kept, "icons", &list);
}

/* ---- _meta */

/* True if a key has a prefix that is not one of MCP: a label of a reserved one is
 * `modelcontextprotocol` or `mcp`. */
static bool
is_foreign(const char *key)
{
    static const char *const reserved[] = {"modelcontextprotocol", "mcp", NULL};
    const char *end = strchr(key, '/');
    if (end == NULL || end == key)
        return false;
    for (const char *label = key; label < end;) {
        size_t length = strcspn(label, "./");
        for (size_t i = 0; reserved[i] != NULL; i++)
            if (strlen(reserved[i]) == length && strncasecmp(label, reserved[i], length) == 0)
                return false;
        label += length + 1;
    }
    return true;
}

void
mcp_meta_add(struct jsonx_build *kept, const json_t *entry)
{
    struct jsonx_build object = {json_object(), false};
    const char *key;
    json_t *value;
    json_object_foreach (schema_plain(json_object_get(entry, "_meta")), key, value)
        if (is_foreign(key))
            jsonx_set(&object, key, json_incref(value));
    set_if_it_fits(kept, "_meta", &object);
}

void
mcp_extras_add(struct jsonx_build *kept, const json_t *entry)
{
    if (kept->value == NULL)
        return;
    add_icons(kept, json_object_get(entry, "icons"));
    mcp_meta_add(kept, entry);
}
