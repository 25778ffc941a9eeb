#include "config.h"

#include "oidc/consent_details.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/visible.h"

/* Return a value as JSON, in ASCII if a character would be invisible; on mem, or NULL. */
static const char *
visible_json(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = jsonx_dump(mem, value);
    if (text == NULL || visible_fault(text) == NULL)
        return text;
    char *ascii = json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);
    text = ascii != NULL ? talloc_strdup(mem, ascii) : NULL;
    free(ascii);
    return text;
}

/* True for a string that can be shown without quotes, as the only one or as an item of a list. */
static bool
is_plain(const json_t *value)
{
    const char *text = json_string_value(value);
    return text != NULL && *text != '\0' && visible_fault(text) == NULL
           && strpbrk(text, ",\"[]{}") == NULL;
}

/* Return a list of plain strings as text, NULL if it is none; *ret_lost: no memory. */
static const char *
plain_list(TALLOC_CTX *mem, const json_t *value, bool *ret_lost)
{
    size_t index;
    json_t *item;
    char *text = talloc_strdup(mem, "");
    json_array_foreach ((json_t *) (uintptr_t) value, index, item) {
        if (!is_plain(item))
            return NULL;
        if (text != NULL)
            text = talloc_asprintf_append_buffer(text, "%s%s", index > 0 ? ", " : "",
                                                 json_string_value(item));
    }
    *ret_lost = text == NULL;
    return json_array_size(value) > 0 ? text : NULL;
}

/* Return a value in the form that people read most easily; on mem, NULL without memory. */
static const char *
readable(TALLOC_CTX *mem, const json_t *value)
{
    bool lost = false;
    if (is_plain(value))
        return json_string_value(value);
    const char *list = plain_list(mem, value, &lost);
    return list != NULL ? list : lost ? NULL : visible_json(mem, value);
}

static const char *
readable_name(TALLOC_CTX *mem, const char *name)
{
    json_t *string = jsonx_own(mem, json_string(name));
    return string != NULL ? readable(mem, string) : NULL;
}

static bool
append(json_t *list, json_t *entry)
{
    return json_array_append_new(list, entry) == 0;
}

static bool
show_members(TALLOC_CTX *mem, const json_t *entry, json_t *list)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) entry, name, value) {
        const char *label, *text;
        if (strcmp(name, "type") == 0)
            continue;
        label = readable_name(mem, name);
        text = readable(mem, value);
        if (label == NULL || text == NULL
            || !append(list, json_pack("{s:s,s:s}", "name", label, "text", text)))
            return false;
    }
    return true;
}

static bool
show_entry(TALLOC_CTX *mem, const json_t *entry, json_t *list)
{
    const char *text = visible_json(mem, entry),
               *title = readable(mem, json_object_get(entry, "type"));
    json_t *members = json_array();
    if (text == NULL || title == NULL || members == NULL || !show_members(mem, entry, members)) {
        json_decref(members);
        return false;
    }
    return append(list,
                  json_pack("{s:s,s:s,s:o}", "text", text, "title", title, "members", members));
}

bool
consent_show_details(TALLOC_CTX *mem, const json_t *resource_types, const json_t *details,
                     json_t *list)
{
    size_t index;
    json_t *entry;
    json_array_foreach ((json_t *) (uintptr_t) resource_types, index, entry)
        if (!append(list, json_pack("{s:O}", "text", entry)))
            return false;
    json_array_foreach ((json_t *) (uintptr_t) details, index, entry)
        if (!show_entry(mem, entry, list))
            return false;
    return true;
}
