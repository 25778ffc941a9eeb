#include "config.h"

#include "policy/decide/gateway_groups.h"

#include "base/json/jsonx.h"

/* Return the text by which tools of one group are known, or NULL: no memory. */
static const char *
group_key(TALLOC_CTX *mem, const struct gateway_tool *tool)
{
    const char *scopes = jsonx_dump(mem, tool->action.scopes);
    return scopes != NULL ? talloc_asprintf(mem, "%zu %s", tool->resource, scopes) : NULL;
}

/* Find the group of a tool, or add it. False: no memory. */
static bool
place_tool(TALLOC_CTX *mem, json_t *known, const struct gateway_tool *tool,
           struct gateway_groups *groups, size_t *ret)
{
    const char *key = group_key(mem, tool);
    const json_t *place = key != NULL ? json_object_get(known, key) : NULL;
    *ret = place != NULL ? (size_t) json_integer_value(place) : groups->count;
    if (place != NULL || key == NULL)
        return key != NULL;
    groups->group[groups->count++] = (struct gateway_tool){
        .resource = tool->resource,
        .action = {.kind = tool->action.kind, .name = "", .scopes = tool->action.scopes}
    };
    return json_object_set_new(known, key, json_integer((json_int_t) *ret)) == 0;
}

enum az_status
gateway_groups_make(struct op *op, const struct gateway_tools_question *question,
                    struct gateway_groups *ret)
{
    unsigned count = (unsigned) question->tool_count;
    TALLOC_CTX *scratch = talloc_new(op->mem);
    json_t *known = scratch != NULL ? jsonx_own(scratch, json_object()) : NULL;
    *ret = (struct gateway_groups){
        .group = talloc_array(op->mem, struct gateway_tool, count + 1),
        .of = talloc_array(op->mem, size_t, count + 1),
    };
    bool good = known != NULL && ret->group != NULL && ret->of != NULL;
    for (size_t i = 0; good && i < question->tool_count; i++)
        good = place_tool(scratch, known, &question->tools[i], ret, &ret->of[i]);
    talloc_free(scratch);
    return good ? AZ_OK
                : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for a question about %u tools",
                          count);
}
