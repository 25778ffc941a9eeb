/*
 * Messages of JSON-RPC 2.0, as the Model Context Protocol (MCP) sends them: one object per message.
 * The same reader takes requests of callers and answers of upstreams.
 */
#ifndef AZ_GATEWAY_MCP_MESSAGE_JSON_RPC_H
#define AZ_GATEWAY_MCP_MESSAGE_JSON_RPC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Nesting of a message. Schemas of tools nest up to TOOL_SCHEMA_DEPTH_MAX, and each of their levels
 * takes two of JSON. */
#define JSON_RPC_DEPTH_MAX 80
/* Values of a message: objects, arrays and what they hold. A megabyte of "[[[],[]..." would take
 * fifty of memory. 500 tools with 200 values each fit. */
#define JSON_RPC_VALUES_MAX 100000
/* Octets of an id that is a text: it is sent back, and stored nowhere. */
#define JSON_RPC_ID_MAX 256
/* Octets of a method's name. The longest of MCP has fewer than 50. */
#define JSON_RPC_METHOD_MAX 128

/* Error codes (JSON-RPC 2.0 section 5.1, and MCP 2026-07-28). */
enum json_rpc_code {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
    RPC_RESOURCE_NOT_FOUND = -32002, /* before MCP 2026-07-28 */
    RPC_URL_ELICITATION = -32042,    /* of MCP 2025-11-25 */
    RPC_HEADER_MISMATCH = -32020,
    RPC_MISSING_CAPABILITY = -32021,
    RPC_UNSUPPORTED_VERSION = -32022,
    /* Ours, outside the reserved range: the answer's HTTP status times 100. */
    RPC_INSUFFICIENT_SCOPE = 40300,
    RPC_NOT_THERE = 40400,
    RPC_UPSTREAM = 50200,
    RPC_UNAVAILABLE = 50300,
};

enum json_rpc_kind {
    JSON_RPC_REQUEST,      /* has a method and an id */
    JSON_RPC_NOTIFICATION, /* has a method and no id */
    JSON_RPC_RESULT,       /* an answer */
    JSON_RPC_ERROR,        /* an answer; the error is an object */
};

/* A message; its values are borrowed from the JSON value that was read. */
struct json_rpc {
    enum json_rpc_kind kind;
    const json_t
        *id; /* a string or an integer, or NULL for a notification or an error without id */
    const char *method;   /* of a request or notification */
    const json_t *params; /* object, or NULL */
    const json_t *result; /* of a result, any value */
    const json_t *error;  /* object; of an error */
};

/* An error that answers a request. */
struct json_rpc_fault {
    int http;            /* HTTP status */
    int code;            /* enum json_rpc_code */
    const char *message; /* constant, or on the request's memory */
    json_t *data;        /* borrowed, or NULL */
};

/*
 * Read a message of len octets. AZ_INVALID if it is malformed: *ret_fault holds the reason, and
 * ret->id is set if it could be read. A batch is refused, because MCP dropped batches in
 * 2025-06-18. AZ_SERVER_ERROR: out of memory.
 */
enum az_status json_rpc_read(TALLOC_CTX *mem, const char *text, size_t len, struct json_rpc *ret,
                             struct json_rpc_fault *ret_fault);

/* Return the answer to a request: a new reference. Takes the reference to result. The return value
 * is NULL if out of memory. */
json_t *json_rpc_result(const json_t *id, json_t *result);

/* Return the error that answers a request (id NULL: of an unknown one, which MCP leaves out): a new
 * reference, or NULL if out of memory. */
json_t *json_rpc_error(const json_t *id, const struct json_rpc_fault *fault);

#endif
