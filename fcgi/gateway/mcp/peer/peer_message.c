#include "config.h"

#include "gateway/mcp/peer/peer_message.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "gateway/mcp/message/param_header.h"
#include "gateway/mcp/message/shown_text.h"
#include "gateway/mcp/message/version.h"
#include "gateway/mcp/peer/progress.h"

/* Every request has its own connection, so one id is enough; but a call that is repeated with
 * answers needs a new id (MCP 2026-07-28, basic/patterns/mrtr). */
#define PEER_ID 1
/* The member of params with answers to questions, which older revisions do not have. */
#define ANSWERS "inputResponses"

/* ---- writing */

static bool
add_peer_field(struct peer_envelope *envelope, const char *name, const char *value)
{
    if (name == NULL || value == NULL || envelope->fields == PEER_FIELDS_MAX)
        return false;
    envelope->field[envelope->fields++] = (struct upstream_field){name, value};
    return true;
}

/* Return the `_meta` of a request: what a modern upstream wants, with the capabilities that it may
 * use, the token of progress, and the trace context. A new reference, or NULL if out of memory. */
static json_t *
request_meta(const struct peer_way *way, const struct peer_message *message)
{
    json_t *token = message->progress ? json_integer(PROGRESS_TOKEN) : NULL;
    const struct mcp_trace *trace = &message->trace;
    if (!way->modern)
        return json_pack("{s:o*,s:s*,s:s*}", "progressToken", token, "traceparent", trace->parent,
                         "tracestate", trace->state);
    json_t *may =
        message->capabilities != NULL ? json_incref(message->capabilities) : json_object();
    return json_pack("{s:s,s:o,s:{s:s,s:s},s:o*,s:s*,s:s*,s:s*}", MCP_META_VERSION, MCP_MODERN,
                     MCP_META_CAPABILITIES, may, MCP_META_CLIENT, "name", PACKAGE_NAME, "version",
                     PACKAGE_VERSION, "progressToken", token, "traceparent", trace->parent,
                     "tracestate", trace->state, MCP_META_LOG_LEVEL, message->log_level);
}

/* Return the params with `_meta` if there are any: a new reference, or NULL without params or
 * memory. */
static json_t *
request_params(const struct peer_way *way, const struct peer_message *message)
{
    const json_t *params = message->params;
    bool answers = json_object_get(params, ANSWERS) != NULL;
    if (!way->modern && !message->progress && message->trace.parent == NULL && !answers)
        return json_incref(message->params);
    struct jsonx_build copy = {params != NULL ? jsonx_copy(params) : json_object(), false};
    jsonx_set(&copy, "_meta", request_meta(way, message));
    if (!way->modern)
        json_object_del(copy.value, ANSWERS);
    if (jsonx_built(&copy) == NULL)
        json_decref(copy.value);
    return jsonx_built(&copy);
}

static enum az_status
write_body(TALLOC_CTX *mem, const struct peer_way *way, const struct peer_message *message,
           struct peer_envelope *ret)
{
    json_t *params = request_params(way, message);
    json_t *body;
    if ((way->modern || message->params != NULL) && params == NULL)
        return AZ_SERVER_ERROR;
    body =
        json_pack("{s:s,s:s,s:o*}", "jsonrpc", "2.0", "method", message->method, "params", params);
    body = jsonx_own(mem, body);
    if (body == NULL
        || (!message->notification
            && json_object_set_new(body, "id", json_integer(PEER_ID + message->round)) != 0))
        return AZ_SERVER_ERROR;
    ret->body = jsonx_dump(mem, body);
    if (ret->body == NULL)
        return AZ_SERVER_ERROR;
    ret->length = strlen(ret->body);
    return AZ_OK;
}

/* The place in which the fields of arguments are collected. */
struct param_fields {
    TALLOC_CTX *mem;
    struct peer_envelope *envelope;
};

static bool
add_param(void *arg, const char *name, const json_t *value)
{
    const struct param_fields *it = arg;
    return !param_header_carries(value) || it->envelope->fields == PEER_FIELDS_MAX
           || add_peer_field(it->envelope, talloc_asprintf(it->mem, PARAM_HEADER_PREFIX "%s", name),
                             param_header_value(it->mem, value));
}

/* Add the fields that say how the server is talked to. */
static bool
add_protocol(struct peer_envelope *envelope, const struct peer_way *way)
{
    const char *version = way->modern ? MCP_MODERN : way->version;
    return (version == NULL || add_peer_field(envelope, "MCP-Protocol-Version", version))
           && (way->modern || way->session == NULL
               || add_peer_field(envelope, "Mcp-Session-Id", way->session));
}

/* Add the fields that every message has. */
static bool
add_way(struct peer_envelope *envelope, const struct peer_way *way)
{
    envelope->fields = 0;
    return add_peer_field(envelope, "Content-Type", "application/json")
           && add_peer_field(envelope, "Accept", "application/json, text/event-stream")
           && add_protocol(envelope, way);
}

/* Add the trace context. */
static bool
add_trace(struct peer_envelope *envelope, const struct mcp_trace *trace)
{
    return (trace->parent == NULL || add_peer_field(envelope, "traceparent", trace->parent))
           && (trace->state == NULL || add_peer_field(envelope, "tracestate", trace->state));
}

enum az_status
peer_write(TALLOC_CTX *mem, const struct peer_way *way, const struct peer_message *message,
           struct peer_envelope *ret)
{
    const char *member = mcp_named_member(message->method);
    const char *name =
        member != NULL ? json_string_value(json_object_get(message->params, member)) : NULL;
    struct param_fields params = {mem, ret};
    bool good = add_way(ret, way) && add_trace(ret, &message->trace)
                && write_body(mem, way, message, ret) == AZ_OK;
    if (good && way->modern)
        good = add_peer_field(ret, "Mcp-Method", message->method)
               && (name == NULL || add_peer_field(ret, "Mcp-Name", mcp_header_value(mem, name)))
               && param_headers_each(message->schema, json_object_get(message->params, "arguments"),
                                     add_param, &params);
    return good ? AZ_OK : AZ_SERVER_ERROR;
}

const char *
peer_answer(TALLOC_CTX *mem, const struct json_rpc *question)
{
    const struct json_rpc_fault unknown = {.code = RPC_METHOD_NOT_FOUND,
                                           .message = "Unknown method"};
    bool ping = strcmp(question->method, "ping") == 0;
    return jsonx_dump(mem, jsonx_own(mem, ping ? json_rpc_result(question->id, json_object())
                                               : json_rpc_error(question->id, &unknown)));
}

const char *
peer_cancellation(TALLOC_CTX *mem)
{
    return jsonx_dump(
        mem, jsonx_own(mem, json_pack("{s:s,s:s,s:{s:i}}", "jsonrpc", "2.0", "method",
                                      "notifications/cancelled", "params", "requestId", PEER_ID)));
}

enum az_status
peer_write_answer(const struct peer_way *way, const char *answer, struct peer_envelope *ret)
{
    ret->body = answer;
    ret->length = strlen(answer);
    return add_way(ret, way) ? AZ_OK : AZ_SERVER_ERROR;
}

enum az_status
peer_write_stream(const struct peer_way *way, const char *last_event, struct peer_envelope *ret)
{
    *ret = (struct peer_envelope){.body = NULL};
    return add_peer_field(ret, "Accept", "text/event-stream") && add_protocol(ret, way)
                   && (last_event == NULL || add_peer_field(ret, "Last-Event-ID", last_event))
               ? AZ_OK
               : AZ_SERVER_ERROR;
}

/* ---- reading */

bool
peer_answers(const struct json_rpc *message, const struct peer_message *request)
{
    bool answer = message->kind == JSON_RPC_RESULT || message->kind == JSON_RPC_ERROR;
    return answer
           && (message->id == NULL || json_integer_value(message->id) == PEER_ID + request->round);
}

const char *
peer_error_text(TALLOC_CTX *mem, const json_t *error)
{
    const char *message = json_string_value(json_object_get(error, "message"));
    const json_t *code = json_object_get(error, "code");
    char *text = utf8_strndup(mem, message != NULL ? message : "", PEER_MESSAGE_MAX);
    for (char *c = text; c != NULL && *c != '\0'; c++)
        if ((unsigned char) *c < ' ' || *c == 0x7f)
            *c = ' ';
    const char *shown = text != NULL ? shown_lines(mem, text) : NULL;
    return shown != NULL ? talloc_asprintf(mem, "The upstream answered with error %d: %s",
                                           (int) json_integer_value(code), shown)
                         : NULL;
}

const char *
peer_version(const json_t *result)
{
    const char *version = json_string_value(json_object_get(result, "protocolVersion"));
    const char *known = version != NULL ? mcp_known_version(version) : NULL;
    return known != NULL && strcmp(known, MCP_MODERN) != 0 ? known : NULL;
}

bool
peer_is_modern(const json_t *result)
{
    size_t index;
    const json_t *version;
    json_array_foreach (json_object_get(result, "supportedVersions"), index, version)
        if (json_is_string(version) && strcmp(json_string_value(version), MCP_MODERN) == 0)
            return true;
    return false;
}

bool
peer_error_is(const json_t *error, enum json_rpc_code code)
{
    return json_is_integer(json_object_get(error, "code"))
           && json_integer_value(json_object_get(error, "code")) == code;
}

const char *
peer_supported(const json_t *error)
{
    const json_t *list = json_object_get(json_object_get(error, "data"), "supported");
    size_t index;
    const json_t *version;
    const char *best = NULL;
    json_array_foreach (list, index, version) {
        const char *text = json_string_value(version);
        const char *known = text != NULL ? mcp_known_version(text) : NULL;
        /* The names are dates, so the newest is the greatest. */
        if (known != NULL && (best == NULL || strcmp(known, best) > 0))
            best = known;
    }
    return best;
}

json_t *
peer_capabilities(TALLOC_CTX *mem, const json_t *error)
{
    static const struct {
        const char *name, *part; /* part: NULL for the capability itself */
    } known[] = {
        {"elicitation", NULL  },
        {"elicitation", "form"},
        {"elicitation", "url" },
        {"sampling",    NULL  },
        {"roots",       NULL  },
    };
    const json_t *needed = json_object_get(json_object_get(error, "data"), "requiredCapabilities");
    struct jsonx_build kept = {jsonx_own(mem, json_object()), false};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const json_t *capability = json_object_get(needed, known[i].name);
        struct jsonx_build whole = {json_object_get(kept.value, known[i].name), false};
        if (known[i].part == NULL && json_is_object(capability))
            jsonx_set(&kept, known[i].name, json_object());
        else if (json_is_object(json_object_get(capability, known[i].part)))
            jsonx_set(&whole, known[i].part, json_object());
        kept.lost = kept.lost || whole.lost;
    }
    return jsonx_built(&kept);
}
