#include "config.h"

#include "gateway/mcp/tools/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/link/link_account.h"
#include "managed/auth.h"

enum az_status
mcp_find_resources(struct mcp_exchange *it, struct managed_resources *ret)
{
    enum az_status st = AZ_OK;
    if (it->access.resource != NULL)
        it->served = (struct managed_resources){.item = &it->access.resource, .count = 1};
    else if (it->served.item == NULL)
        st = resources_list(&it->req->op, &it->served);
    *ret = it->served;
    return st;
}

const char *
mcp_scope_of(const struct mcp_exchange *it, const struct managed_resource *resource)
{
    return it->access.resource == NULL ? resource->name : NULL;
}

static int
compare_tools(const void *a, const void *b)
{
    return strcmp(((const struct mcp_tool *) a)->name, ((const struct mcp_tool *) b)->name);
}

enum az_status
mcp_catalogue_read(struct mcp_exchange *it, struct mcp_catalogue *ret)
{
    struct op *op = &it->req->op;
    size_t count = 0;
    bool single = it->access.resource != NULL;
    struct managed_resources all;
    enum az_status st = mcp_find_resources(it, &all);
    if (st != AZ_OK)
        return st;
    ret->resource = all.item;
    ret->resources = all.count;
    for (size_t i = 0; i < ret->resources; i++)
        count += ret->resource[i]->tools;
    ret->tools = 0;
    ret->tool = talloc_array(op->mem, struct mcp_tool, (unsigned) count + 1);
    if (ret->tool == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for %zu tools", count);
    for (size_t i = 0; i < ret->resources; i++) {
        const struct managed_resource *resource = ret->resource[i];
        for (size_t j = 0; j < resource->tools; j++) {
            const struct managed_tool *row = &resource->tool[j];
            if (row->served)
                ret->tool[ret->tools++] = (struct mcp_tool){
                    resource, row, single ? row->single.shown : row->exposed.shown,
                    single ? row->single.also : row->exposed.also};
        }
    }
    qsort(ret->tool, ret->tools, sizeof(ret->tool[0]), compare_tools);
    return AZ_OK;
}

const struct mcp_tool *
mcp_catalogue_find(const struct mcp_catalogue *catalogue, const char *name)
{
    const struct mcp_tool wanted = {.name = name};
    const struct mcp_tool *found =
        bsearch(&wanted, catalogue->tool, catalogue->tools, sizeof(wanted), compare_tools);
    for (size_t i = 0; found == NULL && i < catalogue->tools; i++)
        if (catalogue->tool[i].also != NULL && strcmp(catalogue->tool[i].also, name) == 0)
            found = &catalogue->tool[i];
    return found;
}

enum az_status
mcp_target(struct op *op, const struct upstream_caller *caller,
           const struct managed_resource *resource, bool *linked, struct gateway_target *ret)
{
    bool needed = managed_auth_is_linked(resource->auth.type);
    *ret = gateway_target_of(resource, needed ? linked : NULL);
    return needed ? link_is_linked(op, caller, resource, linked) : AZ_OK;
}

json_t *
mcp_default_scopes(TALLOC_CTX *mem, const struct managed_resource *resource)
{
    const char *scope = resource->default_scope;
    return jsonx_own(mem, scope != NULL ? json_pack("[s]", scope) : json_array());
}

struct gateway_action
mcp_describe_tool(const struct mcp_tool *tool)
{
    const struct managed_tool *row = tool->row;
    return (struct gateway_action){
        .kind = "tool",
        .name = row->name,
        .route = row->route != NULL ? row->route->id : NULL,
        .method = row->route != NULL ? row->route->methods[0] : NULL,
        .path = row->route != NULL ? row->route->path : NULL,
        .annotations = row->annotations,
        .scopes = row->scopes,
    };
}
