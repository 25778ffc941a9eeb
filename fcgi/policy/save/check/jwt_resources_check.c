#include "config.h"

#include "policy/save/check/jwt_resources_check.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/schema/schema_failures.h"
#include "base/settings/settings.h"
#include "policy/decide/registry.h"
#include "policy/rows/jwt_resources.h"
#include "policy/save/check/check_row.h"
#include "store/clients/clients.h"
#include "store/gateway/resources_admin.h"

#define SPELLINGS 3

static enum az_status
refuse(struct op *op, const char *resource, const char *why, json_t **ret_failures)
{
    struct schema_failures failures = {.mem = op->mem, .list = jsonx_own(op->mem, json_array())};
    const struct schema_place place = {.name = resource};
    if (failures.list != NULL)
        schema_fail(&failures, &place, why);
    if (failures.list == NULL || failures.out_of_memory)
        return op_no_memory(op);
    *ret_failures = failures.list;
    return op_fail(op, AZ_UNPROCESSABLE, "A resource cannot have JWT access tokens", "%s %s",
                   resource, why);
}

/* Check a resource, in all spellings that are equal, against the clients and the doors that exist.
 */
static enum az_status
check_one(struct op *op, const char *resource, json_t **ret_failures)
{
    const char *client_id = NULL, *door = NULL;
    const char *normal = resource_normal(op->mem, resource);
    const char *slash = normal != NULL ? talloc_asprintf(op->mem, "%s/", normal) : NULL;
    const char *const list[SPELLINGS + 1] = {resource, normal, slash, NULL};
    enum az_status st = client_named_as(op, list, &client_id);
    if (st == AZ_OK && client_id != NULL)
        return refuse(op, resource,
                      "is the client_id of a client, which would take the JWTs for its ID tokens",
                      ret_failures);
    if (st == AZ_OK)
        st = resource_public_owner(op, "", list, &door);
    if (st == AZ_OK && door != NULL)
        return refuse(op, resource,
                      talloc_asprintf(op->mem,
                                      "is an address in publicUrls of the resource %s, and a door "
                                      "takes no JWT",
                                      door),
                      ret_failures);
    return st;
}

static enum az_status
check_others(struct op *op, const json_t *row, json_t **ret_failures)
{
    const char *resource;
    json_t *entry;
    enum az_status st = AZ_OK;
    json_object_foreach ((json_t *) (uintptr_t) row, resource, entry)
        if (st == AZ_OK)
            st = check_one(op, resource, ret_failures);
    return st;
}

enum az_status
jwt_resources_check(struct op *op, const char *data_key, json_t **ret_failures)
{
    json_t *row = NULL, *failures = NULL;
    if (strcmp(data_key, JWT_RESOURCES_ROW) != 0)
        return AZ_OK;
    enum az_status st = check_row_read(op, data_key, &row);
    if (st != AZ_OK)
        return st;
    st = jwt_resources_judge(op->mem, op->az->cfg->oidc_issuer, row, &failures);
    if (st == AZ_OK)
        return check_others(op, row, ret_failures);
    if (st == AZ_SERVER_ERROR)
        return op_no_memory(op);
    *ret_failures = failures;
    return op_fail(op, AZ_UNPROCESSABLE, "A resource cannot have JWT access tokens",
                   "%zu faults of %s", json_array_size(failures), data_key);
}
