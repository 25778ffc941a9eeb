#include "config.h"

#include "policy/rows/jwt_resources.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/schema/schema_failures.h"
#include "policy/decide/registry.h"

/* Return an indicator as it is compared; NULL: no memory. One without an authority is a name. */
static const char *
comparable(TALLOC_CTX *mem, const char *resource)
{
    const char *normal = resource_normal(mem, resource);
    return normal != NULL ? normal : talloc_strdup(mem, resource);
}

/* True if `inner` is `outer`, or an address below it. */
static bool
is_within(const char *inner, const char *outer)
{
    size_t length = strlen(outer);
    return strncmp(inner, outer, length) == 0 && strchr("/?#", inner[length]) != NULL;
}

static void
tell(struct schema_failures *failures, const char *resource, const char *why)
{
    const struct schema_place place = {.name = resource};
    schema_fail(failures, &place, talloc_strdup(failures->mem, why));
}

/* Judge a resource, and compare it with those before it. */
static void
judge_one(struct schema_failures *failures, const char *issuer, const char *resource,
          const char *const *before, const char *normal)
{
    if (is_within(normal, issuer))
        tell(failures, resource,
             "is an address of this service, which takes no JWT as an access token");
    for (; *before != NULL; before++)
        if (strcmp(*before, normal) == 0)
            tell(failures, resource, "is equal to another resource of the row");
}

enum az_status
jwt_resources_judge(TALLOC_CTX *mem, const char *issuer, const json_t *row, json_t **ret_failures)
{
    struct schema_failures failures = {.mem = mem, .list = jsonx_own(mem, json_array())};
    const char *normals[JWT_RESOURCES_MAX + 1] = {NULL}, *ours = comparable(mem, issuer);
    const char *resource;
    json_t *entry;
    size_t count = 0;
    if (failures.list == NULL || ours == NULL)
        return AZ_SERVER_ERROR;
    json_object_foreach ((json_t *) (uintptr_t) row, resource, entry) {
        const char *normal = comparable(mem, resource);
        if (normal == NULL)
            return AZ_SERVER_ERROR;
        if (count == JWT_RESOURCES_MAX) {
            tell(&failures, resource, "is one more than 100 resources");
            break;
        }
        judge_one(&failures, ours, resource, normals, normal);
        normals[count++] = normal;
    }
    if (failures.out_of_memory)
        return AZ_SERVER_ERROR;
    *ret_failures = failures.list;
    return json_array_size(failures.list) == 0 ? AZ_OK : AZ_INVALID;
}
