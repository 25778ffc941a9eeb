#include "config.h"

#include "base/json/jsonx.h"

#include <stdint.h>

struct owned_json {
    json_t *value;
};

static int
owned_json_free(struct owned_json *owned)
{
    json_decref(owned->value);
    return 0;
}

json_t *
jsonx_own(TALLOC_CTX *mem, json_t *value)
{
    if (value == NULL)
        return NULL;
    struct owned_json *owned = talloc(mem, struct owned_json);
    if (owned == NULL) {
        json_decref(value);
        return NULL;
    }
    owned->value = value;
    talloc_set_destructor(owned, owned_json_free);
    return value;
}

/* Return the copy if it is whole, else NULL, with its reference dropped. */
static json_t *
whole_copy(json_t *copy, bool whole)
{
    if (whole)
        return copy;
    json_decref(copy);
    return NULL;
}

json_t *
jsonx_copy(const json_t *value)
{
    json_t *copy = json_copy((json_t *) (uintptr_t) value);
    return whole_copy(copy, json_object_size(copy) == json_object_size(value)
                                && json_array_size(copy) == json_array_size(value));
}

json_t *
jsonx_deep_copy(const json_t *value)
{
    json_t *copy = json_deep_copy(value);
    return whole_copy(copy, json_equal(copy, value) != 0);
}

void
jsonx_set(struct jsonx_build *build, const char *name, json_t *value)
{
    if (json_object_set_new(build->value, name, value) != 0)
        build->lost = true;
}

void
jsonx_append(struct jsonx_build *build, json_t *value)
{
    if (json_array_append_new(build->value, value) != 0)
        build->lost = true;
}

json_t *
jsonx_built(const struct jsonx_build *build)
{
    return build->lost ? NULL : build->value;
}

bool
jsonx_array_has(const json_t *array, const json_t *wanted)
{
    size_t index;
    json_t *item;
    json_array_foreach ((json_t *) (uintptr_t) array, index, item)
        if (json_equal(item, wanted))
            return true;
    return false;
}

bool
jsonx_array_within(const json_t *inner, const json_t *outer)
{
    size_t index;
    json_t *item;
    json_array_foreach ((json_t *) (uintptr_t) inner, index, item)
        if (!jsonx_array_has(outer, item))
            return false;
    return true;
}

void
jsonx_drop_empty(json_t *object)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe (object, next, name, value)
        if (json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0))
            json_object_del(object, name);
}

bool
jsonx_is_texts(const json_t *value)
{
    size_t index;
    json_t *item;
    json_array_foreach ((json_t *) (uintptr_t) value, index, item)
        if (!json_is_string(item))
            return false;
    return json_is_array(value);
}
