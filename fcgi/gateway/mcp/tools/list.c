#include "config.h"

#include "gateway/mcp/tools/list.h"

#include "base/json/jsonx.h"
#include "gateway/caller.h"
#include "gateway/link/account.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/tools/catalogue.h"
#include "managed/auth.h"

/* Return the place of a tool's resource among those of the catalogue. */
static size_t
resource_index(const struct mcp_catalogue *catalogue, const struct mcp_tool *tool)
{
    size_t i = 0;
    while (i < catalogue->resources && catalogue->resource[i] != tool->resource)
        i++;
    return i;
}

/* Ask policy about all tools at once. */
static enum az_status
decide_tools(struct mcp_exchange *it, const struct mcp_catalogue *catalogue,
             enum gateway_verdict *verdicts)
{
    struct op *op = &it->req->op;
    struct gateway_target *targets =
        talloc_array(op->mem, struct gateway_target, (unsigned) catalogue->resources + 1);
    struct gateway_tool *tools =
        talloc_array(op->mem, struct gateway_tool, (unsigned) catalogue->tools + 1);
    bool *linked = talloc_array(op->mem, bool, (unsigned) catalogue->resources + 1);
    struct gateway_bearer bearer = {it->req, it->visit.token};
    const struct upstream_caller caller = gateway_caller(&bearer);
    if (targets == NULL || tools == NULL || linked == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for the list of tools");
    enum az_status st =
        link_are_linked(op, &caller, catalogue->resource, catalogue->resources, linked);
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; i < catalogue->resources; i++) {
        const struct managed_resource *resource = catalogue->resource[i];
        targets[i] = gateway_target_of(
            resource, managed_auth_is_linked(resource->auth.type) ? &linked[i] : NULL);
    }
    for (size_t i = 0; i < catalogue->tools; i++) {
        const struct mcp_tool *tool = &catalogue->tool[i];
        tools[i].resource = resource_index(catalogue, tool);
        tools[i].action = mcp_describe_tool(tool);
    }
    struct gateway_tools_question question = {
        .holder = {.mcp_version = it->era.version, .mcp_method = it->message.method},
        .resources = targets,
        .resource_count = catalogue->resources,
        .tools = tools,
        .tool_count = catalogue->tools,
    };
    return gateway_decide_tools(it->req, &it->visit, &question, verdicts);
}

/* Return the annotations of a tool: what an upstream claims of an approved tool, and above it what
 * the operator says. A new reference, or NULL if there are none, or no memory. */
static json_t *
shown_annotations(const struct managed_tool *row)
{
    if (row->upstream_annotations == NULL || row->annotations == NULL)
        return json_incref(row->annotations != NULL ? row->annotations : row->upstream_annotations);
    json_t *both = jsonx_copy(row->upstream_annotations);
    if (both != NULL && json_object_update(both, row->annotations) != 0) {
        json_decref(both);
        return NULL;
    }
    return both;
}

/* Return a tool as clients see it: a new reference. */
static json_t *
tool_entry(const struct mcp_tool *tool)
{
    const struct managed_tool *row = tool->row;
    return json_pack("{s:s,s:s*,s:s*,s:O,s:O*,s:o*}", "name", tool->name, "title", row->title,
                     "description", row->description, "inputSchema", row->input_schema,
                     "outputSchema", row->output_schema, "annotations", shown_annotations(row));
}

enum az_status
mcp_list_tools(struct mcp_exchange *it)
{
    struct op *op = &it->req->op;
    struct mcp_catalogue catalogue;
    struct jsonx_build list = {jsonx_own(op->mem, json_array()), false};
    enum gateway_verdict *verdicts;
    enum az_status st;
    if (json_object_get(it->message.params, "cursor") != NULL)
        return mcp_refuse(it, it->era.modern ? 400 : 200, RPC_INVALID_PARAMS, "Unknown cursor");
    if ((st = mcp_catalogue_read(it, &catalogue)) != AZ_OK)
        return st;
    verdicts = talloc_zero_array(op->mem, enum gateway_verdict, (unsigned) catalogue.tools + 1);
    if (verdicts == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for the list of tools");
    if ((st = decide_tools(it, &catalogue, verdicts)) != AZ_OK)
        return st;
    for (size_t i = 0; i < catalogue.tools; i++)
        if (verdicts[i] != GATEWAY_DENY)
            jsonx_append(&list, tool_entry(&catalogue.tool[i]));
    if (jsonx_built(&list) != NULL)
        it->result = mcp_list_result(op->mem, "tools", list.value);
    return AZ_OK;
}
