#include "config.h"

#include "gateway/upstream/success.h"

#include <stdint.h>
#include <string.h>

#include "base/json/json_pointer.h"
#include "base/json/jsonx.h"
#include "managed/managed.h"

bool
upstream_is_failure(TALLOC_CTX *mem, const struct managed_route *route, const char *body,
                    size_t length)
{
    json_t *document = NULL;
    if (route == NULL || route->success_pointer == NULL)
        return false;
    if (jsonx_parse(mem, body, length, UPSTREAM_JSON_DEPTH_MAX, &document, NULL) != AZ_OK)
        return true;
    const json_t *value = json_pointer_get(document, route->success_pointer);
    return value == NULL || !json_equal(value, route->success_equals);
}

static void
remove_value(json_t *parent, const char *token)
{
    size_t place = json_is_array(parent) ? json_pointer_place(parent, token) : SIZE_MAX;
    if (place != SIZE_MAX)
        json_array_set_new(parent, place, json_null());
    else if (json_is_object(parent))
        json_object_del(parent, token);
}

/* Remove one value. False: the pointer is malformed, or names the whole body. */
static bool
redact_one(json_t *document, const char *pointer)
{
    static const char body[] = "/body";
    char token[JSON_POINTER_TOKEN_MAX + 1];
    if (pointer == NULL || strncmp(pointer, body, sizeof(body) - 1) != 0)
        return false;
    pointer += sizeof(body) - 1;
    for (json_t *parent = document;; parent = json_pointer_step(parent, token)) {
        pointer = json_pointer_token(pointer, token);
        if (pointer == NULL)
            return false;
        if (*pointer == '\0') {
            remove_value(parent, token);
            return true;
        }
    }
}

bool
upstream_redact(json_t *document, const json_t *pointers)
{
    size_t index;
    json_t *pointer;
    json_array_foreach (pointers, index, pointer)
        if (!redact_one(document, json_string_value(pointer)))
            return false;
    return true;
}
