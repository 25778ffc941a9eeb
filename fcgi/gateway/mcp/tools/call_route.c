#include "config.h"

#include "gateway/mcp/tools/arguments.h"
#include "gateway/mcp/tools/call_upstream.h"
#include "gateway/mcp/tools/route_answer.h"
#include "gateway/upstream/fields.h"
#include "managed/choose.h"

/* One call of a route. */
struct route_call {
    struct mcp_call *call;
    const struct managed_route *route;
    struct tool_request request;
    char *path; /* at the upstream */
    struct upstream_field_list fields;
    struct mcp_body body;
};

static enum az_status
refuse_place(struct mcp_call *call, const char *why)
{
    call->why = why;
    return AZ_INVALID;
}

/* ---- the request */

/* Collect the header fields of the arguments. */
static bool
collect_argument_fields(struct route_call *rc)
{
    const char *name;
    json_t *value;
    if (rc->request.body != NULL)
        upstream_field_set(&rc->fields, "Content-Type", "application/json");
    json_object_foreach (rc->request.fields, name, value)
        upstream_field_set(&rc->fields, name, json_string_value(value));
    return !rc->fields.full;
}

/* Place the arguments in the request of the route. */
static enum az_status
build_request(struct route_call *rc)
{
    struct mcp_call *call = rc->call;
    TALLOC_CTX *mem = call->op->mem;
    enum az_status st =
        arguments_place(mem, call->tool->row->args, call->arguments, &rc->request, &call->why);
    const struct managed_choice choice = {.route = rc->route, .values = rc->request.path};
    if (st == AZ_OK)
        st = managed_upstream_path(mem, call->tool->resource, rc->route->methods[0], &choice,
                                   &rc->path);
    if (st == AZ_INVALID_REQUEST)
        return refuse_place(call, "The arguments of the path name what another operation is for");
    if (st == AZ_INVALID && call->why == NULL)
        return refuse_place(call, "An argument of the path is missing, or holds a character that "
                                  "a path segment cannot have");
    if (st == AZ_OK && !collect_argument_fields(rc))
        return refuse_place(call, "There are too many header fields");
    if (st == AZ_OK && rc->route->max_body != 0
        && rc->request.body_length > (size_t) rc->route->max_body)
        return refuse_place(call, "The arguments are too large");
    return st == AZ_SERVER_ERROR ? op_fail(call->op, st, NULL, "out of memory for a tool call")
                                 : st;
}

/* ---- the answer */

static enum az_status
show_answer(struct route_call *rc)
{
    struct mcp_call *call = rc->call;
    rc->body.uri = talloc_asprintf(call->op->mem, "%s%s", call->address, rc->path);
    call->status = rc->body.status;
    call->octets = rc->body.length;
    call->failed = rc->body.failed;
    call->result = rc->body.uri != NULL ? mcp_body_result(call->op->mem, &rc->body) : NULL;
    return call->result != NULL ? AZ_OK : op_no_memory(call->op);
}

enum az_status
mcp_call_route(struct mcp_call *call)
{
    struct route_call rc = {.call = call, .route = call->tool->row->route};
    enum az_status st = build_request(&rc);
    if (st != AZ_OK)
        return st;
    const struct route_request request = {
        .op = call->op,
        .resource = call->tool->resource,
        .route = rc.route,
        .secrets = call->secrets,
        .caller = call->caller,
        .obligations = call->obligations,
        .method = rc.route->methods[0],
        .path = rc.path,
        .query = rc.request.query,
        .fields = rc.fields.field,
        .field_count = rc.fields.count,
        .body = rc.request.body,
        .body_length = rc.request.body_length,
    };
    st = route_answer(&request, &call->credential, &rc.body);
    return st == AZ_OK ? show_answer(&rc) : st;
}
