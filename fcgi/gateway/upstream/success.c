#include "config.h"

#include "gateway/upstream/success.h"

#include <stdint.h>
#include <string.h>

#include "base/digits.h"
#include "base/json/jsonx.h"
#include "managed/managed.h"

/* Longest reference token, in octets; longer names of members are not removed one by one. */
#define TOKEN_MAX 512

/*
 *   json-pointer = *( "/" reference-token )        (RFC 6901 section 3)
 * Take one reference token and undo its escapes: "~1" is "/", "~0" is "~". Return the rest of the
 * pointer, or NULL if it is malformed.
 */
static const char *
take_token(const char *pointer, char token[TOKEN_MAX + 1])
{
    size_t used = 0;
    if (*pointer != '/')
        return NULL;
    for (pointer++; *pointer != '\0' && *pointer != '/'; pointer++) {
        char c = *pointer;
        if (c == '~') {
            pointer++;
            if (*pointer != '0' && *pointer != '1')
                return NULL;
            c = *pointer == '0' ? '~' : '/';
        }
        if (used == TOKEN_MAX)
            return NULL;
        token[used++] = c;
    }
    token[used] = '\0';
    return pointer;
}

/* Return the place in an array that a token names; SIZE_MAX: none ("01" and "-" are none). */
static size_t
array_place(const json_t *array, const char *token)
{
    int64_t place;
    if ((token[0] == '0' && token[1] != '\0') || !digits_read(token, INT32_MAX, &place)
        || (size_t) place >= json_array_size(array))
        return SIZE_MAX;
    return (size_t) place;
}

static json_t *
step_into(json_t *value, const char *token)
{
    return json_is_array(value) ? json_array_get(value, array_place(value, token))
                                : json_object_get(value, token);
}

json_t *
upstream_pointer_get(json_t *document, const char *pointer)
{
    char token[TOKEN_MAX + 1];
    while (document != NULL && *pointer != '\0') {
        pointer = take_token(pointer, token);
        if (pointer == NULL)
            return NULL;
        document = step_into(document, token);
    }
    return document;
}

bool
upstream_is_failure(const struct managed_route *route, const char *body, size_t length)
{
    if (route == NULL || route->success_pointer == NULL)
        return false;
    json_t *document = json_loadb(body, length, JSON_DECODE_ANY, NULL);
    const json_t *value =
        document != NULL ? upstream_pointer_get(document, route->success_pointer) : NULL;
    bool failed = value == NULL || !json_equal(value, route->success_equals);
    json_decref(document);
    return failed;
}

static void
remove_value(json_t *parent, const char *token)
{
    size_t place = json_is_array(parent) ? array_place(parent, token) : SIZE_MAX;
    if (place != SIZE_MAX)
        json_array_set_new(parent, place, json_null());
    else if (json_is_object(parent))
        json_object_del(parent, token);
}

static bool
redact_one(json_t **document, const char *pointer)
{
    char token[TOKEN_MAX + 1];
    if (pointer == NULL || strncmp(pointer, "/body", 5) != 0)
        return false;
    pointer += 5;
    if (*pointer == '\0') {
        json_decref(*document);
        *document = json_null();
        return true;
    }
    for (json_t *parent = *document;; parent = step_into(parent, token)) {
        pointer = take_token(pointer, token);
        if (pointer == NULL)
            return false;
        if (*pointer == '\0') {
            remove_value(parent, token);
            return true;
        }
    }
}

bool
upstream_redact(json_t **document, const json_t *pointers)
{
    size_t index;
    json_t *pointer;
    json_array_foreach (pointers, index, pointer)
        if (!redact_one(document, json_string_value(pointer)))
            return false;
    return true;
}
