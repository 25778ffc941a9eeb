#include "config.h"

#include "gateway/mcp/tools/list.h"

#include "base/json/jsonx.h"
#include "gateway/caller.h"
#include "gateway/link/link_account.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/tools/search.h"
#include "gateway/mcp/tools/verdict_memory.h"
#include "managed/auth.h"

/* Return the index of a tool's resource in the catalogue. */
static size_t
resource_index(const struct mcp_catalogue *catalogue, const struct mcp_tool *tool)
{
    size_t i = 0;
    while (i < catalogue->resources && catalogue->resource[i] != tool->resource)
        i++;
    return i;
}

/* Ask policy about all tools. */
static enum az_status
ask_about_tools(struct mcp_exchange *it, const struct mcp_catalogue *catalogue, const bool *linked,
                enum gateway_verdict *verdicts, const char **ret_revision)
{
    struct op *op = &it->req->op;
    struct gateway_target *targets =
        talloc_array(op->mem, struct gateway_target, (unsigned) catalogue->resources + 1);
    struct gateway_tool *tools =
        talloc_array(op->mem, struct gateway_tool, (unsigned) catalogue->tools + 1);
    if (targets == NULL || tools == NULL)
        return op_no_memory(op);
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
        .holder = {.mcp_version = it->version.name, .mcp_method = it->message.method},
        .resources = targets,
        .resource_count = catalogue->resources,
        .tools = tools,
        .tool_count = catalogue->tools,
    };
    enum az_status st = gateway_decide_tools(it->req, &it->access, &question, verdicts);
    *ret_revision = question.revision;
    return st;
}

enum az_status
mcp_decide_tools(struct mcp_exchange *it, const struct mcp_catalogue *catalogue,
                 enum gateway_verdict **ret)
{
    struct op *op = &it->req->op;
    struct gateway_bearer bearer = {it->req, it->access.token};
    const struct upstream_caller caller = gateway_caller(&bearer);
    struct verdict_key key;
    const char *revision = NULL;
    bool *linked = talloc_array(op->mem, bool, (unsigned) catalogue->resources + 1);
    *ret = talloc_zero_array(op->mem, enum gateway_verdict, (unsigned) catalogue->tools + 1);
    if (*ret == NULL || linked == NULL)
        return op_no_memory(op);
    enum az_status st =
        link_are_linked(op, &caller, catalogue->resource, catalogue->resources, linked);
    if (st == AZ_OK)
        st = verdict_key_make(it, catalogue, linked, &key);
    if (st != AZ_OK)
        return st;
    it->kept_from = verdicts_find(it, catalogue, &key, *ret);
    if (it->kept_from != NULL)
        return AZ_OK;
    st = ask_about_tools(it, catalogue, linked, *ret, &revision);
    if (st == AZ_OK)
        verdicts_keep(it, catalogue, &key, revision, *ret);
    return st;
}

/* Return the annotations of a tool: the upstream's if the tool is approved, overridden by the
 * operator's. A new reference, or NULL without annotations or memory. */
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

json_t *
mcp_tool_entry(const struct mcp_tool *tool, const struct mcp_version *version)
{
    const struct managed_tool *row = tool->row;
    json_t *entry = json_pack("{s:s,s:s*,s:s*,s:O,s:O*,s:o*,s:O*,s:O*}", "name", tool->name,
                              "title", row->title, "description", row->description, "inputSchema",
                              row->input_schema, "outputSchema", row->output_schema, "annotations",
                              shown_annotations(row), "icons", row->icons, "_meta", row->meta);
    if (entry != NULL)
        mcp_entry_fit(entry, version);
    return entry;
}

/* Return the list, on the request's memory: the tools that are shown, or the search in place of so
 * many. NULL: out of memory. */
static json_t *
shown_tools(struct mcp_exchange *it, const struct mcp_catalogue *catalogue,
            const enum gateway_verdict *verdicts)
{
    TALLOC_CTX *mem = it->req->op.mem;
    size_t shown = 0;
    for (size_t i = 0; i < catalogue->tools; i++)
        shown += verdicts[i] != GATEWAY_DENY;
    if (shown > 0 && mcp_lists_search(it, shown))
        return jsonx_own(mem, mcp_search_entries());
    struct jsonx_build list = {jsonx_own(mem, json_array()), false};
    for (size_t i = 0; i < catalogue->tools; i++)
        if (verdicts[i] != GATEWAY_DENY)
            jsonx_append(&list, mcp_tool_entry(&catalogue->tool[i], &it->version));
    return jsonx_built(&list);
}

/* Note for the audit row which request has the decision. */
static void
note_kept(struct mcp_exchange *it)
{
    struct jsonx_build summary = {jsonx_own(it->req->op.mem, json_pack("{s:s,s:s}", "kind", "list",
                                                                       "kept_from", it->kept_from)),
                                  false};
    mcp_note(it, &summary, 0, 0, 0);
}

enum az_status
mcp_list_tools(struct mcp_exchange *it)
{
    struct mcp_catalogue catalogue;
    enum gateway_verdict *verdicts = NULL;
    enum az_status st;
    if (json_object_get(it->message.params, "cursor") != NULL)
        return mcp_refuse(it, it->version.modern ? 400 : 200, RPC_INVALID_PARAMS, "Unknown cursor");
    if ((st = mcp_catalogue_read(it, &catalogue)) != AZ_OK
        || (st = mcp_decide_tools(it, &catalogue, &verdicts)) != AZ_OK)
        return st;
    if (it->kept_from != NULL)
        note_kept(it);
    json_t *list = shown_tools(it, &catalogue, verdicts);
    if (list != NULL)
        it->result = mcp_list_result(it->req->op.mem, "tools", list);
    return AZ_OK;
}
