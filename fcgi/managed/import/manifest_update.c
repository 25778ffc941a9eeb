/* A new version of a manifest: what it changes, and what its scopes imply. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "managed/import/manifest.h"

/* Return the item of an array with this member, or NULL if there is none. */
static json_t *
item_of(const json_t *items, const char *member, const json_t *key)
{
    json_t *item;
    size_t index;
    json_array_foreach (items, index, item)
        if (json_equal(json_object_get(item, member), key))
            return item;
    return NULL;
}

static bool
is_of_manifest(const json_t *item)
{
    const char *origin = json_string_value(json_object_get(item, "origin"));
    return origin != NULL && strcmp(origin, "manifest") == 0;
}

/* Update the array `name`, whose items are known by their member `key`. */
static bool
update_items(json_t *stored, const json_t *filled, const char *name, const char *key)
{
    struct jsonx_build items = {json_array(), false};
    const json_t *was = json_object_get(stored, name);
    json_t *item;
    size_t index;
    json_array_foreach (json_object_get(filled, name), index, item) {
        const json_t *old = item_of(was, key, json_object_get(item, key));
        if (old != NULL && !is_of_manifest(old))
            continue;
        /* Keep the operator's choice, on or off. */
        if (old != NULL && !json_is_false(json_object_get(old, "enabled")))
            json_object_del(item, "enabled");
        else if (old != NULL)
            items.lost = json_object_set_new(item, "enabled", json_false()) != 0 || items.lost;
        jsonx_append(&items, json_incref(item));
    }
    json_array_foreach (was, index, item)
        if (!is_of_manifest(item))
            jsonx_append(&items, json_incref(item));
    return items.value != NULL && json_object_set_new(stored, name, items.value) == 0
           && !items.lost;
}

bool
managed_manifest_update(json_t *stored, const json_t *filled)
{
    return update_items(stored, filled, "routes", "id")
           && update_items(stored, filled, "tools", "name");
}

json_t *
managed_scopes_added(TALLOC_CTX *mem, const json_t *was, const json_t *is)
{
    struct jsonx_build added = {jsonx_own(mem, json_array()), false};
    json_t *scope;
    size_t index;
    json_array_foreach (is, index, scope) {
        json_t *name = json_object_get(scope, "name");
        if (item_of(was, "name", name) == NULL)
            jsonx_append(&added, json_incref(name));
    }
    return jsonx_built(&added);
}

json_t *
managed_scopes_changed(TALLOC_CTX *mem, const json_t *was, const json_t *is)
{
    struct jsonx_build changed = {jsonx_own(mem, json_array()), false};
    json_t *scope;
    size_t index;
    json_array_foreach (is, index, scope) {
        json_t *name = json_object_get(scope, "name");
        const json_t *old = item_of(was, "name", name);
        const json_t *old_implies = json_object_get(old, "implies"),
                     *implies = json_object_get(scope, "implies");
        bool none = json_array_size(old_implies) == 0 && json_array_size(implies) == 0;
        if (old != NULL && !none && !json_equal(old_implies, implies))
            jsonx_append(&changed, json_incref(name));
    }
    return jsonx_built(&changed);
}

/* Append the scopes that `from` implies to the names that follow from a scope. */
static void
imply(struct jsonx_build *implied, const json_t *scopes, const json_t *from)
{
    json_t *name, *known;
    size_t index, place;
    json_array_foreach (json_object_get(item_of(scopes, "name", from), "implies"), index, name) {
        bool there = item_of(scopes, "name", name) == NULL;
        json_array_foreach (implied->value, place, known)
            there = there || json_equal(known, name);
        if (!there)
            jsonx_append(implied, json_incref(name));
    }
}

json_t *
managed_scopes_implied(TALLOC_CTX *mem, const json_t *scopes)
{
    struct jsonx_build all = {jsonx_own(mem, json_object()), false};
    json_t *scope;
    size_t index;
    json_array_foreach (scopes, index, scope) {
        json_t *name = json_object_get(scope, "name");
        struct jsonx_build implied = {jsonx_own(mem, json_array()), false};
        imply(&implied, scopes, name);
        /* The array grows by what follows from its members, once each, so a circle ends. */
        for (size_t i = 0; i < json_array_size(implied.value); i++)
            imply(&implied, scopes, json_array_get(implied.value, i));
        all.lost = all.lost || implied.lost || implied.value == NULL;
        if (json_array_size(implied.value) > 0)
            jsonx_set(&all, json_string_value(name), json_incref(implied.value));
    }
    return jsonx_built(&all);
}
