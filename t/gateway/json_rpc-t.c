#include "config.h"

#include "gateway/mcp/message/json_rpc.h"

#include <string.h>
#include <talloc.h>

#include "tap.h"

/* clang-format off */
static const struct {
    const char *text;
    int code;           /* of the fault; 0: none */
    enum json_rpc_kind kind;
    const char *method; /* or NULL */
    bool id;            /* it was read */
    const char *name;
} cases[] = {
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", 0, JSON_RPC_REQUEST, "ping", true, "a request"},
    {"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}", 0, JSON_RPC_REQUEST, "tools/call", true, "an id that is a text"},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", 0, JSON_RPC_NOTIFICATION, "notifications/initialized", false, "a notification"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 0, JSON_RPC_RESULT, NULL, true, "a result"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"m\"}}", 0, JSON_RPC_ERROR, NULL, true, "an error"},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"m\"}}", 0, JSON_RPC_ERROR, NULL, false, "an error for an id that was not read (JSON-RPC 2.0 section 5)"},
    {"", RPC_PARSE_ERROR, 0, NULL, false, "nothing"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", RPC_PARSE_ERROR, 0, NULL, false, "half a message"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", RPC_PARSE_ERROR, 0, NULL, false, "two ids"},
    {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", RPC_INVALID_REQUEST, 0, NULL, false, "a batch (MCP 2025-06-18 has none)"},
    {"[]", RPC_INVALID_REQUEST, 0, NULL, false, "an empty batch"},
    {"\"ping\"", RPC_INVALID_REQUEST, 0, NULL, false, "a text"},
    {"{\"id\":1,\"method\":\"ping\"}", RPC_INVALID_REQUEST, 0, NULL, true, "no version"},
    {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", RPC_INVALID_REQUEST, 0, NULL, true, "another version"},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", RPC_INVALID_REQUEST, 0, NULL, false, "a request with the id null (MCP: it must not be null)"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", RPC_INVALID_REQUEST, 0, NULL, false, "an id with a fraction"},
    {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", RPC_INVALID_REQUEST, 0, NULL, false, "an id that is an object"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", RPC_INVALID_REQUEST, 0, NULL, true, "a method that is a number"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\"}", RPC_INVALID_REQUEST, 0, NULL, true, "a method without a name"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", RPC_INVALID_REQUEST, 0, NULL, true, "params by position (MCP has none)"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_INVALID_REQUEST, 0, NULL, true, "neither request nor answer"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}", RPC_INVALID_REQUEST, 0, NULL, true, "result and error"},
    {"{\"jsonrpc\":\"2.0\",\"result\":{}}", RPC_INVALID_REQUEST, 0, NULL, false, "a result of no request"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":null}", 0, JSON_RPC_RESULT, NULL, true, "M8: a result beside an error that is null"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":null}", 0, JSON_RPC_REQUEST, "ping", true, "M8: params that are null"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}", RPC_INVALID_REQUEST, 0, NULL, true, "M8: a result that is null"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"no\"}", RPC_INVALID_REQUEST, 0, NULL, true, "an error that is a text"},
};
/* clang-format on */

static void
test_cases(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json_rpc message;
        struct json_rpc_fault fault = {.code = 0};
        enum az_status st =
            json_rpc_read(mem, cases[i].text, strlen(cases[i].text), &message, &fault);
        is_int(st, cases[i].code == 0 ? AZ_OK : AZ_INVALID, "%s: %s", cases[i].name,
               cases[i].code == 0 ? "read" : "refused");
        is_int(fault.code, cases[i].code, "... its code");
        ok((message.id != NULL) == cases[i].id, "... its id");
        if (st == AZ_OK) {
            is_int(message.kind, cases[i].kind, "... its kind");
            is_str(message.method, cases[i].method, "... its method");
        } else {
            is_int(fault.http, 400, "... HTTP 400");
        }
    }
}

/* Read a request whose params hold a text. */
static enum az_status
read_params(TALLOC_CTX *mem, const char *params, const char *id, struct json_rpc_fault *fault)
{
    struct json_rpc message;
    const char *text = talloc_asprintf(
        mem, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"x\",\"params\":{\"a\":%s}}", id,
        params);
    return json_rpc_read(mem, text, strlen(text), &message, fault);
}

static const char *
repeated(TALLOC_CTX *mem, const char *begin, const char *part, size_t count, const char *end)
{
    char *text = talloc_strdup(mem, begin);
    for (size_t i = 0; i < count; i++)
        text = talloc_strdup_append_buffer(text, part);
    return talloc_strdup_append_buffer(text, end);
}

static const char *
nested(TALLOC_CTX *mem, size_t depth)
{
    return talloc_asprintf(mem, "%s%s", repeated(mem, "", "[", depth, ""),
                           repeated(mem, "", "]", depth, ""));
}

/* Values of the message beside the items of the array. */
#define OTHER_VALUES 7

static void
test_limits(TALLOC_CTX *mem)
{
    struct json_rpc_fault fault = {.code = 0};
    is_int(read_params(mem, nested(mem, JSON_RPC_DEPTH_MAX - 2), "1", &fault), AZ_OK,
           "the deepest message");
    is_int(read_params(mem, nested(mem, JSON_RPC_DEPTH_MAX - 1), "1", &fault), AZ_INVALID,
           "one level deeper");
    is_str(fault.message, "JSON is nested too deeply", "... it says so");
    is_int(read_params(mem, repeated(mem, "[1", ",1", JSON_RPC_VALUES_MAX - OTHER_VALUES, "]"), "1",
                       &fault),
           AZ_OK, "the most values");
    is_int(read_params(mem, repeated(mem, "[1", ",1", JSON_RPC_VALUES_MAX - OTHER_VALUES + 1, "]"),
                       "1", &fault),
           AZ_INVALID, "one more");
    is_str(fault.message, "JSON has too many values", "... it says so");
    is_int(read_params(mem, repeated(mem, "\"\\\"", ",[{", JSON_RPC_VALUES_MAX, "\""), "1", &fault),
           AZ_OK, "brackets and commas inside a text are no values");
    is_int(read_params(mem, "1", repeated(mem, "", "i", JSON_RPC_ID_MAX, ""), &fault), AZ_OK,
           "the longest id");
    is_int(read_params(mem, "1", repeated(mem, "", "i", JSON_RPC_ID_MAX + 1, ""), &fault),
           AZ_INVALID, "one longer");
}

static void
test_answers(void)
{
    json_auto_t *id = json_integer(7);
    json_auto_t *result = json_rpc_result(id, json_object());
    json_auto_t *error =
        json_rpc_error(id, &(struct json_rpc_fault){.code = RPC_INVALID_PARAMS, .message = "m"});
    json_auto_t *unnamed =
        json_rpc_error(NULL, &(struct json_rpc_fault){.code = RPC_PARSE_ERROR, .message = "m"});
    char *text = json_dumps(result, JSON_COMPACT);
    is_str(text, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}", "a result");
    free(text);
    text = json_dumps(error, JSON_COMPACT);
    is_str(text, "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":\"m\"}}",
           "an error");
    free(text);
    ok(json_object_get(unnamed, "id") == NULL, "an error of an unknown id has none");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_cases(mem);
    test_limits(mem);
    test_answers();
    talloc_free(mem);
    return done();
}
