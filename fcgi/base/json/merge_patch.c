#include "config.h"

#include "base/json/merge_patch.h"

#include <stdint.h>

#include "base/json/jsonx.h"

/* Return the value without const: Jansson's functions take pointers that are not const. */
static json_t *
plain(const json_t *value)
{
    return (json_t *) (uintptr_t) value;
}

/* MergePatch of RFC 7396 section 2. */
json_t *
merge_patch(const json_t *target, const json_t *patch)
{
    const char *name;
    json_t *value;

    if (!json_is_object(patch))
        return jsonx_deep_copy(patch);
    json_t *merged = json_is_object(target) ? jsonx_copy(plain(target)) : json_object();
    json_object_foreach (plain(patch), name, value) {
        if (json_is_null(value)) {
            json_object_del(merged, name);
        } else if (json_object_set_new(merged, name,
                                       merge_patch(json_object_get(merged, name), value))
                   != 0) {
            json_decref(merged);
            return NULL;
        }
    }
    return merged;
}
