/*
 * The messages of the gateway to upstream MCP servers, and the reading of their answers. Answers
 * are trusted no more than a caller's request: every size is limited, and only members that are
 * named here are used.
 */
#ifndef AZ_GATEWAY_MCP_PEER_PEER_MESSAGE_H
#define AZ_GATEWAY_MCP_PEER_PEER_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "gateway/mcp/message/json_rpc.h"
#include "gateway/mcp/message/trace.h"
#include "gateway/upstream/upstream_call.h"

/* Octets of a page's cursor, of a session's id, and of an error's message that is passed on. */
#define PEER_CURSOR_MAX 4096
#define PEER_SESSION_MAX 512
#define PEER_MESSAGE_MAX 1000
/* Header fields of one message: at most eight others, and PARAM_HEADERS_MAX. */
#define PEER_FIELDS_MAX 32

/* The protocol that an upstream follows. */
struct peer_way {
    bool modern;         /* revision 2026-07-28; else an older one */
    const char *version; /* of an older server, or NULL before it is negotiated */
    const char *session; /* Mcp-Session-Id of an older server, or NULL */
};

/* A message to an upstream. */
struct peer_message {
    const char *method;
    json_t *params;        /* object, or NULL */
    const json_t *schema;  /* tools/call: inputSchema of the tool, for its Mcp-Param-... */
    json_t *capabilities;  /* object: of the client, as far as the upstream may use them, or NULL */
    const char *log_level; /* the least level of the log messages that are wanted, or NULL */
    int round;             /* of the call: 0 is the first; each has an id of its own */
    bool notification;
    bool progress;          /* ask for progress, with PROGRESS_TOKEN */
    struct mcp_trace trace; /* of the caller; empty if no trace context is sent */
};

/* The message as it is sent; on the caller's memory. */
struct peer_envelope {
    const char *body;
    size_t length;
    struct upstream_field field[PEER_FIELDS_MAX];
    size_t fields;
};

/* Write a message. AZ_SERVER_ERROR: out of memory. */
enum az_status peer_write(TALLOC_CTX *mem, const struct peer_way *way,
                          const struct peer_message *message, struct peer_envelope *ret);

/* Return the answer to a request of an upstream: {} to ping, which MCP 2025-11-25 wants answered,
 * and -32601 to every other, because we declare no capability. It is JSON text on mem; NULL: out of
 * memory. */
const char *peer_answer(TALLOC_CTX *mem, const struct json_rpc *question);

/* Return the notification that cancels a request of peer_write(), JSON text on mem; NULL: out of
 * memory. */
const char *peer_cancellation(TALLOC_CTX *mem);

/* Write the request for a stream of an older server (MCP 2025-11-25, transports, "Listening for
 * Messages from the Server"), or, with the id of an event, for what followed this event
 * ("Resumability and Redelivery"). AZ_SERVER_ERROR: the buffer is too small. */
enum az_status peer_write_stream(const struct peer_way *way, const char *last_event,
                                 struct peer_envelope *ret);

/* Write an answer or a cancellation to send. AZ_SERVER_ERROR: the buffer is too small. */
enum az_status peer_write_answer(const struct peer_way *way, const char *answer,
                                 struct peer_envelope *ret);

/* True if a message answers a request that peer_write() made. */
bool peer_answers(const struct json_rpc *message, const struct peer_message *request);

/* Return the message of an error that an upstream answered with, cut and without control
 * characters, on mem, or NULL if out of memory. */
const char *peer_error_text(TALLOC_CTX *mem, const json_t *error);

/* True if an error has this code. */
bool peer_error_is(const json_t *error, enum json_rpc_code code);

/* Return which client capabilities an error with RPC_MISSING_CAPABILITY demands, as far as a client
 * may lend them to an upstream (gateway-admin.md 1.12), on mem; an empty object if it demands no
 * such capability. NULL: out of memory. */
json_t *peer_capabilities(TALLOC_CTX *mem, const json_t *error);

/* Return the newest revision, a constant, that an error with RPC_UNSUPPORTED_VERSION offers and the
 * gateway supports, or NULL. */
const char *peer_supported(const json_t *error);

/* Return the name of the revision, a constant, if the result of `initialize` has one that we know;
 * else NULL. */
const char *peer_version(const json_t *result);

/* True if the result of `server/discover` names the modern revision. */
bool peer_is_modern(const json_t *result);

#endif
