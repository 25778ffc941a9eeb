#include "config.h"

#include "gateway/mcp/message/json_rpc.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/message/nulls.h"

static enum az_status
refuse_message(struct json_rpc_fault *ret, int code, const char *message)
{
    *ret = (struct json_rpc_fault){.http = 400, .code = code, .message = message};
    return AZ_INVALID;
}

/* True if a text has at most JSON_RPC_VALUES_MAX values. The first value of a container follows its
 * bracket, and each other value follows a comma. */
static bool
has_few_values(const char *text, size_t len)
{
    size_t values = 1;
    bool inside = false; /* a string */
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (inside && c == '\\')
            i++;
        else if (c == '"')
            inside = !inside;
        else if (!inside && (c == ',' || c == '[' || c == '{'))
            values++;
    }
    return values <= JSON_RPC_VALUES_MAX;
}

/* Return the id if it may be one: MCP allows no null, and no fraction. */
static const json_t *
sound_id(const json_t *id)
{
    bool sound =
        json_is_integer(id) || (json_is_string(id) && json_string_length(id) <= JSON_RPC_ID_MAX);
    return sound ? id : NULL;
}

static enum az_status
read_rpc_call(const json_t *message, struct json_rpc *ret, struct json_rpc_fault *ret_fault)
{
    const json_t *method = json_object_get(message, "method");
    if (!json_is_string(method) || json_string_length(method) == 0
        || json_string_length(method) > JSON_RPC_METHOD_MAX)
        return refuse_message(ret_fault, RPC_INVALID_REQUEST, "method is not a name");
    if (ret->params != NULL && !json_is_object(ret->params))
        return refuse_message(ret_fault, RPC_INVALID_REQUEST, "params is not an object");
    ret->kind = ret->id != NULL ? JSON_RPC_REQUEST : JSON_RPC_NOTIFICATION;
    ret->method = json_string_value(method);
    return AZ_OK;
}

static enum az_status
read_rpc_answer(struct json_rpc *ret, struct json_rpc_fault *ret_fault)
{
    bool error = ret->error != NULL;
    if (error == (ret->result != NULL) || (error && !json_is_object(ret->error))
        || (ret->id == NULL && !error))
        return refuse_message(ret_fault, RPC_INVALID_REQUEST,
                              "The message is neither a request nor an answer");
    ret->kind = error ? JSON_RPC_ERROR : JSON_RPC_RESULT;
    return AZ_OK;
}

static enum az_status
read_message(const json_t *message, struct json_rpc *ret, struct json_rpc_fault *ret_fault)
{
    const json_t *id = json_object_get(message, "id");
    const char *version = json_string_value(json_object_get(message, "jsonrpc"));
    bool call = json_object_get(message, "method") != NULL;
    *ret = (struct json_rpc){
        .id = sound_id(id),
        .params = json_object_get(message, "params"),
        .result = json_object_get(message, "result"),
        .error = json_object_get(message, "error"),
    };
    if (!json_is_object(message))
        return refuse_message(ret_fault, RPC_INVALID_REQUEST,
                              json_is_array(message) ? "Batches are not supported"
                                                     : "The message is not an object");
    if (version == NULL || strcmp(version, "2.0") != 0)
        return refuse_message(ret_fault, RPC_INVALID_REQUEST, "jsonrpc is not \"2.0\"");
    /* JSON-RPC 2.0 section 5: the id of an error is null if the request's id was not read. */
    if (ret->id == NULL && id != NULL && !(json_is_null(id) && !call))
        return refuse_message(ret_fault, RPC_INVALID_REQUEST, "id is not a text or an integer");
    return call ? read_rpc_call(message, ret, ret_fault) : read_rpc_answer(ret, ret_fault);
}

enum az_status
json_rpc_read(TALLOC_CTX *mem, const char *text, size_t len, struct json_rpc *ret,
              struct json_rpc_fault *ret_fault)
{
    const char *why = NULL;
    json_t *message = NULL;
    *ret = (struct json_rpc){.id = NULL};
    if (!has_few_values(text, len))
        return refuse_message(ret_fault, RPC_PARSE_ERROR, "JSON has too many values");
    enum az_status st = jsonx_parse(mem, text, len, JSON_RPC_DEPTH_MAX, &message, &why);
    if (st == AZ_INVALID)
        return refuse_message(ret_fault, RPC_PARSE_ERROR, why);
    if (st != AZ_OK)
        return st;
    nulls_drop(message);
    return read_message(message, ret, ret_fault);
}

json_t *
json_rpc_result(const json_t *id, json_t *result)
{
    return json_pack("{s:s,s:O,s:o}", "jsonrpc", "2.0", "id", id, "result", result);
}

json_t *
json_rpc_error(const json_t *id, const struct json_rpc_fault *fault)
{
    return json_pack("{s:s,s:O*,s:{s:i,s:s,s:O*}}", "jsonrpc", "2.0", "id", id, "error", "code",
                     fault->code, "message", fault->message, "data", fault->data);
}
