#include "config.h"

#include "gateway/mcp/tools/route_answer.h"

#include <string.h>
#include <strings.h>

#include "base/json/jsonx.h"
#include "gateway/credential/types.h"
#include "gateway/upstream/success.h"

/* Return the most octets of the answer; 0: only the limit of answers in memory applies. */
static size_t
largest(const struct route_request *request)
{
    size_t policy = (size_t) request->obligations->response_max_bytes;
    size_t max = request->max_answer;
    return max == 0 || (policy != 0 && policy < max) ? policy : max;
}

/* Take the answer that a STATIC route has. */
static enum az_status
take_static(const struct route_request *request, struct mcp_body *ret)
{
    const struct managed_answer *answer = request->route->response;
    const char *type = "";
    char *octets = talloc_array(request->op->mem, char, (unsigned) answer->length + 1);
    size_t max = largest(request);
    if (octets == NULL)
        return op_no_memory(request->op);
    if (max > 0 && answer->length > max)
        return op_fail(request->op, AZ_UPSTREAM_INVALID, "The response is too large",
                       "the answer of route %s is larger than policy allows", request->route->id);
    for (size_t i = 0; i < answer->headers.count; i++)
        if (strcasecmp(answer->headers.item[i].name, "Content-Type") == 0)
            type = answer->headers.item[i].value;
    if (answer->length > 0)
        memcpy(octets, answer->body, answer->length);
    octets[answer->length] = '\0';
    *ret = (struct mcp_body){
        .content_type = type, .octets = octets, .length = answer->length, .status = answer->status};
    return AZ_OK;
}

static enum az_status
take_upstream(const struct route_request *request, struct upstream_credential *ret_credential,
              struct mcp_body *ret)
{
    struct upstream_answer *answer = NULL;
    const struct upstream_call call = {
        .resource = request->resource,
        .secrets = request->secrets,
        .credential = gateway_credential,
        .route = request->route,
        .caller = request->caller,
        .method = request->method,
        .path = request->path,
        .query = request->query,
        .fields = request->fields,
        .field_count = request->field_count,
        .policy_headers = request->obligations->headers,
        .body = {.octets = request->body, .length = request->body_length},
        .max_answer = largest(request),
        .timeout_ms = (long) request->route->timeout_ms,
    };
    enum az_status st = upstream_send_memory(request->op, &call, ret_credential, &answer);
    if (st != AZ_OK)
        return st;
    *ret = (struct mcp_body){.content_type = answer->content_type,
                             .octets = answer->body,
                             .length = answer->octets,
                             .status = answer->status,
                             .failed = answer->failed};
    return AZ_OK;
}

/* Apply the rules about the answer. One that should be redacted and is not JSON, or a part of it
 * (RFC 9110 15.3.7), is not shown, because its content is not known. */
static enum az_status
apply_rules(const struct route_request *request, struct mcp_body *body)
{
    TALLOC_CTX *mem = request->op->mem;
    const json_t *redact = request->obligations->redact;
    json_t *answer = NULL;
    body->failed |= body->status >= 400;
    if (json_array_size(redact) == 0 || body->length == 0)
        return AZ_OK;
    if (body->status == 206
        || jsonx_parse(mem, body->octets, body->length, UPSTREAM_JSON_DEPTH_MAX, &answer, NULL)
               != AZ_OK
        || !upstream_redact(answer, redact))
        return op_fail(request->op, AZ_UPSTREAM_INVALID, NULL,
                       "policy wants the answer redacted, and it is not JSON: route %s",
                       request->route->id);
    body->octets = jsonx_dump(mem, answer);
    if (body->octets == NULL)
        return op_no_memory(request->op);
    body->length = strlen(body->octets);
    return AZ_OK;
}

enum az_status
route_answer(const struct route_request *request, struct upstream_credential *ret_credential,
             struct mcp_body *ret)
{
    enum az_status st = request->route->response != NULL
                            ? take_static(request, ret)
                            : take_upstream(request, ret_credential, ret);
    return st == AZ_OK ? apply_rules(request, ret) : st;
}
