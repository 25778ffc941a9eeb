#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/credential/types.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/tools/arguments.h"
#include "gateway/mcp/tools/call_upstream.h"
#include "gateway/upstream/call.h"
#include "gateway/upstream/fields.h"
#include "gateway/upstream/success.h"
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
    if (st == AZ_OK)
        st = managed_upstream_path(mem, rc->route, rc->request.path, NULL, &rc->path);
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

/* Take the answer that a STATIC route has. */
static enum az_status
take_static(struct route_call *rc)
{
    const struct managed_answer *answer = rc->route->response;
    const char *type = "";
    char *octets = talloc_array(rc->call->op->mem, char, (unsigned) answer->length + 1);
    int64_t max = rc->call->obligations->response_max_bytes;
    if (octets == NULL)
        return op_fail(rc->call->op, AZ_SERVER_ERROR, NULL, "out of memory for an answer");
    if (max > 0 && answer->length > (size_t) max)
        return op_fail(rc->call->op, AZ_UPSTREAM_INVALID, "The response is too large",
                       "the answer of route %s is larger than policy allows", rc->route->id);
    for (size_t i = 0; i < answer->headers.count; i++)
        if (strcasecmp(answer->headers.item[i].name, "Content-Type") == 0)
            type = answer->headers.item[i].value;
    if (answer->length > 0)
        memcpy(octets, answer->body, answer->length);
    octets[answer->length] = '\0';
    rc->body = (struct mcp_body){
        .content_type = type, .octets = octets, .length = answer->length, .status = answer->status};
    return AZ_OK;
}

static enum az_status
take_upstream(struct route_call *rc)
{
    struct mcp_call *call = rc->call;
    struct upstream_answer *answer = NULL;
    const struct upstream_call request = {
        .resource = call->tool->resource,
        .secrets = call->secrets,
        .credential = gateway_credential,
        .route = rc->route,
        .caller = call->caller,
        .method = rc->route->methods[0],
        .path = rc->path,
        .query = rc->request.query,
        .fields = rc->fields.field,
        .field_count = rc->fields.count,
        .policy_headers = call->obligations->headers,
        .body = {.octets = rc->request.body, .length = rc->request.body_length},
        .max_answer = (size_t) call->obligations->response_max_bytes,
        .timeout_ms = (long) rc->route->timeout_ms,
    };
    enum az_status st = upstream_send_memory(call->op, &request, &call->credential, &answer);
    if (st != AZ_OK)
        return st;
    rc->body = (struct mcp_body){.content_type = answer->content_type,
                                 .octets = answer->body,
                                 .length = answer->octets,
                                 .status = answer->status,
                                 .failed = answer->failed};
    return AZ_OK;
}

/* Apply the rules about the answer. One that should be redacted and is not JSON, or a part of it
 * (RFC 9110 15.3.7), is not shown, because its content is not known. */
static enum az_status
apply_rules(struct route_call *rc)
{
    struct mcp_call *call = rc->call;
    struct mcp_body *body = &rc->body;
    const json_t *redact = call->obligations->redact;
    json_t *answer = NULL;
    body->failed |= body->status >= 400;
    if (json_array_size(redact) == 0 || body->length == 0)
        return AZ_OK;
    if (body->status == 206
        || jsonx_parse(call->op->mem, body->octets, body->length, UPSTREAM_JSON_DEPTH_MAX, &answer,
                       NULL)
               != AZ_OK
        || !upstream_redact(answer, redact))
        return op_fail(call->op, AZ_UPSTREAM_INVALID, NULL,
                       "policy wants the answer redacted, and it is not JSON: tool %s",
                       call->tool->name);
    body->octets = jsonx_dump(call->op->mem, answer);
    if (body->octets == NULL)
        return op_fail(call->op, AZ_SERVER_ERROR, NULL, "out of memory for an answer");
    body->length = strlen(body->octets);
    return AZ_OK;
}

static enum az_status
show_answer(struct route_call *rc)
{
    struct mcp_call *call = rc->call;
    rc->body.uri = talloc_asprintf(call->op->mem, "%s%s", call->address, rc->path);
    call->status = rc->body.status;
    call->octets = rc->body.length;
    call->failed = rc->body.failed;
    call->result = rc->body.uri != NULL ? mcp_body_result(call->op->mem, &rc->body) : NULL;
    return call->result != NULL
               ? AZ_OK
               : op_fail(call->op, AZ_SERVER_ERROR, NULL, "out of memory for a result");
}

enum az_status
mcp_call_route(struct mcp_call *call)
{
    struct route_call rc = {.call = call, .route = call->tool->row->route};
    enum az_status st = build_request(&rc);
    if (st == AZ_OK)
        st = rc.route->response != NULL ? take_static(&rc) : take_upstream(&rc);
    if (st == AZ_OK)
        st = apply_rules(&rc);
    return st == AZ_OK ? show_answer(&rc) : st;
}
