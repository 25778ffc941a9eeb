#include "config.h"

#include "base/json/json_pointer.h"

#include <stdint.h>

#include "base/digits.h"

/*
 *   json-pointer    = *( "/" reference-token )        (RFC 6901 section 3)
 *   reference-token = *( unescaped / "~0" / "~1" )
 */
const char *
json_pointer_token(const char *pointer, char token[JSON_POINTER_TOKEN_MAX + 1])
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
        if (used == JSON_POINTER_TOKEN_MAX)
            return NULL;
        token[used++] = c;
    }
    token[used] = '\0';
    return pointer;
}

bool
json_pointer_is_good(const char *text)
{
    char token[JSON_POINTER_TOKEN_MAX + 1];
    while (text != NULL && *text != '\0')
        text = json_pointer_token(text, token);
    return text != NULL;
}

/*   array-index = %x30 / ( %x31-39 *(%x30-39) )        (RFC 6901 section 4) */
size_t
json_pointer_place(const json_t *array, const char *token)
{
    int64_t place;
    if ((token[0] == '0' && token[1] != '\0') || !digits_read(token, JSON_POINTER_INDEX_MAX, &place)
        || (size_t) place >= json_array_size(array))
        return SIZE_MAX;
    return (size_t) place;
}

json_t *
json_pointer_step(const json_t *value, const char *token)
{
    return json_is_array(value) ? json_array_get(value, json_pointer_place(value, token))
                                : json_object_get(value, token);
}

json_t *
json_pointer_get(const json_t *document, const char *pointer)
{
    char token[JSON_POINTER_TOKEN_MAX + 1];
    json_t *value = (json_t *) (uintptr_t) document;
    while (value != NULL && *pointer != '\0') {
        pointer = json_pointer_token(pointer, token);
        value = pointer != NULL ? json_pointer_step(value, token) : NULL;
        if (pointer == NULL)
            return NULL;
    }
    return value;
}
