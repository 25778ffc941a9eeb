#include "config.h"

#include "gateway/mcp/message/scoped_uri.h"

#include <string.h>

#include "base/json/jsonx.h"

#define SCOPE_BEGIN "mcp+"

const char *
scoped_uri(TALLOC_CTX *mem, const char *resource, const char *uri)
{
    return resource != NULL ? talloc_asprintf(mem, SCOPE_BEGIN "%s+%s", resource, uri)
                            : talloc_strdup(mem, uri);
}

bool
scoped_uri_split(const char *text, char ret_resource[MANAGED_NAME_MAX + 1], const char **ret_uri)
{
    size_t begin = strlen(SCOPE_BEGIN);
    if (strncmp(text, SCOPE_BEGIN, begin) != 0)
        return false;
    size_t length = strcspn(text + begin, "+");
    if (length == 0 || length > MANAGED_NAME_MAX || text[begin + length] == '\0')
        return false;
    memcpy(ret_resource, text + begin, length);
    ret_resource[length] = '\0';
    *ret_uri = text + begin + length + 1;
    return true;
}

/* Return an object with another URI: a new reference, or NULL if out of memory. */
static json_t *
with_scope(TALLOC_CTX *mem, const char *resource, const json_t *object)
{
    const char *uri = json_string_value(json_object_get(object, "uri"));
    const char *shown = uri != NULL ? scoped_uri(mem, resource, uri) : NULL;
    struct jsonx_build copy = {jsonx_copy(object), shown == NULL};
    jsonx_set(&copy, "uri", shown != NULL ? json_string(shown) : NULL);
    if (jsonx_built(&copy) == NULL)
        json_decref(copy.value);
    return jsonx_built(&copy);
}

json_t *
scoped_uri_block(TALLOC_CTX *mem, const char *resource, json_t *block)
{
    const char *type = json_string_value(json_object_get(block, "type"));
    if (resource == NULL || type == NULL)
        return json_incref(block);
    if (strcmp(type, "resource_link") == 0)
        return with_scope(mem, resource, block);
    if (strcmp(type, "resource") != 0)
        return json_incref(block);
    struct jsonx_build copy = {jsonx_copy(block), false};
    jsonx_set(&copy, "resource", with_scope(mem, resource, json_object_get(block, "resource")));
    if (jsonx_built(&copy) == NULL)
        json_decref(copy.value);
    return jsonx_built(&copy);
}
