/* The settings of a manifest, and the resource that they make of its template. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "managed/import/manifest_private.h"

static const json_t *
properties_of(const struct managed_manifest *manifest)
{
    return json_object_get(manifest->settings, "properties");
}

/* ---- settings */

json_t *
managed_manifest_schema(TALLOC_CTX *mem, const struct managed_manifest *manifest)
{
    json_t *schema = jsonx_own(mem, manifest->settings != NULL
                                        ? jsonx_deep_copy(manifest->settings)
                                        : json_pack("{s:s,s:{}}", "type", "object", "properties"));
    const char *name;
    json_t *property;
    json_object_foreach (json_object_get(schema, "properties"), name, property)
        json_object_del(property, "writeOnly");
    json_object_del(schema, "required");
    return schema != NULL && json_object_set_new(schema, "additionalProperties", json_false()) == 0
               ? schema
               : NULL;
}

/* Return the value of a setting, or its default, or NULL if there is none. */
static json_t *
setting_value(const struct managed_manifest *manifest, const json_t *given, const char *name)
{
    json_t *value = json_object_get(given, name);
    if (value != NULL)
        return value;
    return json_object_get(json_object_get(properties_of(manifest), name), "default");
}

bool
managed_manifest_complete(const struct managed_manifest *manifest, const json_t *given,
                          field_fault_fn *fault, void *fault_arg)
{
    bool complete = true;
    const json_t *name;
    size_t index;
    json_array_foreach (json_object_get(manifest->settings, "required"), index, name) {
        char path[MANIFEST_PATH_SHOWN];
        if (setting_value(manifest, given, json_string_value(name)) != NULL)
            continue;
        utf8_print(path, sizeof(path), "settings.%s", json_string_value(name));
        fault(fault_arg, path, "is required");
        complete = false;
    }
    return complete;
}

json_t *
managed_manifest_plain(TALLOC_CTX *mem, const struct managed_manifest *manifest,
                       const json_t *given)
{
    struct jsonx_build plain = {jsonx_own(mem, json_object()), false};
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) given, name, value)
        if (!manifest_is_write_only(json_object_get(properties_of(manifest), name)))
            jsonx_set(&plain, name, json_incref(value));
    return jsonx_built(&plain);
}

/* ---- the resource */

/* The values that fill a template. */
struct filling {
    TALLOC_CTX *mem;
    const struct managed_manifest *manifest;
    const json_t *given;
    const char *name;
    bool lost;
};

/*
 * Return a copy of a value of the template, a new reference, or NULL if its setting has no
 * value.
 */
static json_t *
managed_fill(struct filling *filling, const json_t *value)
{
    struct jsonx_build build = {NULL, false};
    const char *name;
    json_t *member, *filled;
    size_t index;
    if (json_is_string(value) && strcmp(json_string_value(value), MANIFEST_INPUT_NAME) == 0)
        return json_string(filling->name);
    if (json_is_string(value)
        && strncmp(json_string_value(value), MANIFEST_SETTINGS, sizeof(MANIFEST_SETTINGS) - 1)
               == 0) {
        name = manifest_setting_name(filling->mem, json_string_value(value));
        filled = name != NULL ? setting_value(filling->manifest, filling->given, name) : NULL;
        filling->lost = filling->lost || name == NULL;
        return json_incref(filled);
    }
    if (json_is_object(value)) {
        build.value = json_object();
        json_object_foreach ((json_t *) (uintptr_t) value, name, member)
            if ((filled = managed_fill(filling, member)) != NULL)
                jsonx_set(&build, name, filled);
    } else if (json_is_array(value)) {
        build.value = json_array();
        json_array_foreach (value, index, member)
            if ((filled = managed_fill(filling, member)) != NULL)
                jsonx_append(&build, filled);
    } else {
        return json_incref((json_t *) (uintptr_t) value);
    }
    filling->lost = filling->lost || build.lost || build.value == NULL;
    return build.value;
}

/* Set the origin of the routes or tools. */
static void
set_origin(struct filling *filling, json_t *items)
{
    json_t *item;
    size_t index;
    json_array_foreach (items, index, item)
        if (json_is_object(item)
            && json_object_set_new(item, "origin", json_string("manifest")) != 0)
            filling->lost = true;
}

json_t *
managed_manifest_fill(TALLOC_CTX *mem, const struct managed_manifest *manifest, const json_t *given,
                      const char *name)
{
    struct filling filling = {.mem = mem, .manifest = manifest, .given = given, .name = name};
    json_t *document = jsonx_own(mem, managed_fill(&filling, manifest->resource));
    if (document == NULL || json_object_set_new(document, "name", json_string(name)) != 0)
        return NULL;
    if (manifest->resource_type != NULL && json_object_get(document, "resourceType") == NULL
        && json_object_set_new(document, "resourceType", json_string(manifest->resource_type)) != 0)
        return NULL;
    set_origin(&filling, json_object_get(document, "routes"));
    set_origin(&filling, json_object_get(document, "tools"));
    return filling.lost ? NULL : document;
}
