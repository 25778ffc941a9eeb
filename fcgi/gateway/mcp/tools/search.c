#include "config.h"

#include "gateway/mcp/tools/search.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/message/tool_schema.h"
#include "gateway/mcp/tools/call.h"
#include "gateway/mcp/tools/list.h"
#include "gateway/mcp/tools/search_rank.h"
#include "managed/names.h"

/* ---- where there is a search */

static enum managed_tool_list
list_way(const struct mcp_exchange *it)
{
    return it->access.resource != NULL
               ? it->access.resource->tool_list
               : managed_tool_list_of(it->req->op.az->cfg->gateway_tool_list);
}

bool
mcp_lists_search(const struct mcp_exchange *it, size_t tools)
{
    enum managed_tool_list way = list_way(it);
    return way == MANAGED_LIST_SEARCH || (way == MANAGED_LIST_AUTO && tools > SEARCH_AUTO_MAX);
}

/* ---- the two tools */

/* Return the inputSchema of authz_find_tools: a new reference. */
static json_t *
find_schema(void)
{
    return json_pack(
        "{s:s,s:{s:{s:s,s:i,s:i,s:s},s:{s:s,s:i,s:i,s:s},s:{s:s,s:s}},s:[s],s:b}", "type", "object",
        "properties", "query", "type", "string", "minLength", 1, "maxLength", SEARCH_QUERY_MAX,
        "description", "Words of the name or the description of the tool", "limit", "type",
        "integer", "minimum", 1, "maximum", SEARCH_LIMIT_MAX, "description",
        "Number of tools that are returned at most; 8 by default", "resource", "type", "string",
        "description", "Name of the system whose tools are searched; all by default", "required",
        "query", "additionalProperties", 0);
}

/* Return the inputSchema of authz_call_tool: a new reference. */
static json_t *
call_schema(void)
{
    return json_pack("{s:s,s:{s:{s:s,s:s},s:{s:s,s:s}},s:[s],s:b}", "type", "object", "properties",
                     "name", "type", "string", "description", "Name of the tool, as it was found",
                     "arguments", "type", "object", "description",
                     "Its arguments, as its inputSchema says", "required", "name",
                     "additionalProperties", 0);
}

json_t *
mcp_search_entries(void)
{
    return json_pack(
        "[{s:s,s:s,s:s,s:o,s:{s:b,s:b}},{s:s,s:s,s:s,s:o}]", "name", MANAGED_FIND_TOOLS, "title",
        "Find tools", "description",
        "Find tools by words. There are more tools than this list shows: search here before you "
        "say "
        "that there is none. The answer has names, descriptions and inputSchemas, the best match "
        "first. Call a tool with " MANAGED_CALL_TOOL ".",
        "inputSchema", find_schema(), "annotations", "readOnlyHint", 1, "openWorldHint", 0, "name",
        MANAGED_CALL_TOOL, "title", "Call a tool", "description",
        "Call a tool that " MANAGED_FIND_TOOLS " found, with arguments as its inputSchema says.",
        "inputSchema", call_schema());
}

/* Check the arguments of a call of one of the two. The model sees the faults. Takes the
 * reference to the schema. */
static enum az_status
check_search(struct mcp_exchange *it, json_t *schema, json_t **ret)
{
    struct op *op = &it->req->op;
    json_t *given = json_object_get(it->message.params, "arguments");
    const char *why = NULL;
    schema = jsonx_own(op->mem, schema);
    if (given != NULL && !json_is_object(given))
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS, "params.arguments is not an object");
    *ret = given == NULL ? jsonx_own(op->mem, json_object())
                         : tool_schema_drop_nulls(op->mem, schema, given);
    enum az_status st = schema != NULL && *ret != NULL
                            ? tool_schema_check(op->mem, schema, *ret, &why)
                            : AZ_SERVER_ERROR;
    if (st == AZ_INVALID) {
        op_fail(op, AZ_INVALID_REQUEST, NULL, "%s", why);
        it->result = mcp_text_result(op->mem, why, true);
        return AZ_OK;
    }
    return st == AZ_OK ? st : op_fail(op, st, NULL, "out of memory for a search");
}

/* ---- finding */

/* Collect the tools that the caller may use, of one resource if `resource` is not NULL. */
static enum az_status
permitted_tools(struct mcp_exchange *it, const char *resource, const struct mcp_tool ***ret,
                size_t *ret_count)
{
    struct mcp_catalogue catalogue;
    enum gateway_verdict *verdicts = NULL;
    enum az_status st = mcp_catalogue_read(it, &catalogue);
    if (st == AZ_OK)
        st = mcp_decide_tools(it, &catalogue, &verdicts);
    if (st != AZ_OK)
        return st;
    *ret = talloc_array(it->req->op.mem, const struct mcp_tool *, (unsigned) catalogue.tools + 1);
    *ret_count = 0;
    if (*ret == NULL)
        return op_no_memory(&it->req->op);
    for (size_t i = 0; i < catalogue.tools; i++)
        if (verdicts[i] != GATEWAY_DENY
            && (resource == NULL || strcmp(catalogue.tool[i].resource->name, resource) == 0))
            (*ret)[(*ret_count)++] = &catalogue.tool[i];
    return AZ_OK;
}

/* Answer with the best of them: as structure, and as text for hosts that show models no structure.
 */
static enum az_status
show_found(struct mcp_exchange *it, const struct rank_hit *hits, size_t count)
{
    TALLOC_CTX *mem = it->req->op.mem;
    struct jsonx_build list = {jsonx_own(mem, json_array()), false};
    for (size_t i = 0; i < count; i++)
        jsonx_append(&list, mcp_tool_entry(hits[i].tool, &it->version));
    json_t *found =
        jsonx_built(&list) != NULL ? jsonx_own(mem, json_pack("{s:O}", "tools", list.value)) : NULL;
    const char *text = found != NULL ? jsonx_dump(mem, found) : NULL;
    if (text != NULL)
        it->result = jsonx_own(mem, json_pack("{s:[{s:s,s:s}],s:O}", "content", "type", "text",
                                              "text", text, "structuredContent", found));
    struct jsonx_build summary = {
        jsonx_own(mem, json_pack("{s:s,s:I,s:s}", "kind", "search", "found", (json_int_t) count,
                                 "mcp_version", it->version.name)),
        false};
    if (it->kept_from != NULL)
        jsonx_set(&summary, "kept_from", json_string(it->kept_from));
    mcp_note(it, &summary, 0, 0, 0);
    return AZ_OK;
}

static enum az_status
find_tools(struct mcp_exchange *it)
{
    TALLOC_CTX *mem = it->req->op.mem;
    const struct mcp_tool **tools = NULL;
    struct rank_hit *hits;
    json_t *arguments = NULL;
    size_t count = 0;
    enum az_status st = check_search(it, find_schema(), &arguments);
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    const json_t *limit = json_object_get(arguments, "limit");
    size_t most = limit != NULL ? (size_t) json_integer_value(limit) : SEARCH_LIMIT_DEFAULT;
    st = permitted_tools(it, json_string_value(json_object_get(arguments, "resource")), &tools,
                         &count);
    if (st != AZ_OK)
        return st;
    count = rank_tools(mem, json_string_value(json_object_get(arguments, "query")), tools, count,
                       &hits);
    return hits != NULL ? show_found(it, hits, count < most ? count : most)
                        : op_no_memory(&it->req->op);
}

/* ---- calling */

/* Put the call that authz_call_tool names in the place of the message's, and make it. */
static enum az_status
call_found(struct mcp_exchange *it)
{
    json_t *arguments = NULL;
    enum az_status st = check_search(it, call_schema(), &arguments);
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    json_t *inner = json_object_get(arguments, "arguments");
    struct jsonx_build params = {jsonx_own(it->req->op.mem, jsonx_copy(it->message.params)), false};
    jsonx_set(&params, "name", json_incref(json_object_get(arguments, "name")));
    jsonx_set(&params, "arguments", inner != NULL ? json_incref(inner) : json_object());
    if (jsonx_built(&params) == NULL)
        return op_no_memory(&it->req->op);
    it->message.params = params.value;
    it->via_search = true;
    return mcp_call_tool(it);
}

enum az_status
mcp_use_tool(struct mcp_exchange *it)
{
    const char *name = json_string_value(json_object_get(it->message.params, "name"));
    if (name == NULL || list_way(it) == MANAGED_LIST_ALL)
        return mcp_call_tool(it);
    return strcmp(name, MANAGED_FIND_TOOLS) == 0  ? find_tools(it)
           : strcmp(name, MANAGED_CALL_TOOL) == 0 ? call_found(it)
                                                  : mcp_call_tool(it);
}
