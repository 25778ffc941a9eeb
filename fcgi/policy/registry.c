#include "config.h"

#include "policy/registry.h"

#include <string.h>

#include "base/jsonx.h"
#include "store/policy_rows.h"

#define ROW "svc.registry.resource_types"
/* The row's schema is flat; this is far above it. */
#define DEPTH_MAX 32

bool
resource_equal(const char *a, const char *b)
{
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a > length_b) {
        const char *swap = a;
        a = b, b = swap;
        size_t size = length_a;
        length_a = length_b, length_b = size;
    }
    if (length_a == length_b)
        return strcmp(a, b) == 0;
    const char *authority = strstr(a, "://");
    bool bare = authority != NULL && strchr(authority + 3, '/') == NULL && strpbrk(a, "?#") == NULL;
    return bare && length_b == length_a + 1 && strncmp(a, b, length_a) == 0 && b[length_a] == '/';
}

static enum az_status
read_row(struct op *op, json_t **ret)
{
    struct policy_row row = {.payload = NULL};
    const char *why;
    *ret = NULL;
    enum az_status st = policy_data_fetch(op, ROW, &row);
    if (st != AZ_OK || row.payload == NULL)
        return st;
    if (jsonx_parse(op->mem, row.payload, strlen(row.payload), DEPTH_MAX, ret, &why) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "row " ROW " is not JSON: %s", why);
    return AZ_OK;
}

enum az_status
registry_ties(struct op *op, const char *type, const char *resource, bool *ret_tied)
{
    json_t *row;
    enum az_status st = read_row(op, &row);
    if (st != AZ_OK)
        return st;
    json_t *types = json_object_get(json_object_get(row, "resource"), "types");
    const char *indicator =
        json_string_value(json_object_get(json_object_get(types, type), "indicator"));
    *ret_tied = indicator != NULL && resource_equal(indicator, resource);
    return AZ_OK;
}

enum az_status
registry_type_names(struct op *op, json_t **ret)
{
    static const char *const parts[] = {"resource", "rar"};
    json_t *row, *names = jsonx_own(op->mem, json_array()), *value;
    const char *name;
    enum az_status st = read_row(op, &row);
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; i < 2; i++)
        json_object_foreach (json_object_get(json_object_get(row, parts[i]), "types"), name, value)
            json_array_append_new(names, json_string(name));
    *ret = names;
    return AZ_OK;
}
