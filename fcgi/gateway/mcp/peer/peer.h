/*
 * Requests to upstream MCP servers (gateway-admin.md 1.5). A server is asked once whether it
 * follows revision 2026-07-28; older ones get `initialize` and a session for each caller. Nothing
 * of the caller's request but the arguments of a tool and its trace context reaches them: no
 * other header, no token, no other _meta. A progress token that they get is ours.
 */
#ifndef AZ_GATEWAY_MCP_PEER_PEER_H
#define AZ_GATEWAY_MCP_PEER_PEER_H

#include "gateway/mcp/peer/log.h"
#include "gateway/mcp/peer/peer_message.h"
#include "gateway/mcp/peer/progress.h"
#include "gateway/upstream/credential.h"

/* Seconds for a whole answer. An upstream that sends progress or comments forever would hold the
 * worker; clients of the SDK give up after 60. */
#define PEER_ANSWER_SECONDS 120

/* Whoever answers requests that an older upstream makes while it is asked. */
struct peer_asker {
    /* Answer one question: *ret_answer is JSON text on the memory of the operation. This may take
     * minutes, which do not count against the upstream's time. A failure ends the request, and the
     * upstream is notified. */
    enum az_status (*answer)(void *arg, const struct json_rpc *question, const char **ret_answer);
    void *arg;
};

/* A request to an upstream. */
struct peer_request {
    const struct managed_resource *resource;
    const struct managed_secrets *secrets; /* NULL if it has none */
    const struct upstream_caller *caller;  /* NULL for the service itself */
    json_t *policy_headers;                /* object of texts: fields to add, or NULL */
    size_t max_answer;                     /* octets that policy allows; 0: it says nothing */
    int seconds;                           /* for a whole answer; 0: PEER_ANSWER_SECONDS */
    struct peer_progress *progress;        /* for a caller that asked for it, or NULL */
    struct peer_log *log;                  /* for a caller that wants it, or NULL */
    const struct peer_asker *asker;        /* NULL: older upstreams may ask nothing */
    struct peer_message message;
};

/* The answer, on op->mem. One of result and error is set. */
struct peer_reply {
    const json_t *result;
    const json_t *error;
    const json_t *hello; /* result of server/discover or initialize, on the memory of the operation;
                            NULL: the server was known */
    bool modern;         /* the server follows revision 2026-07-28 */
    TALLOC_CTX *mem;     /* owns result and error; below the memory of the operation */
    int status;          /* HTTP status code of the last answer; 0 if there was none */
    size_t octets;       /* of it */
    struct upstream_credential credential; /* with AZ_LINK_REQUIRED: the link */
};

/*
 * Send a request and read its answer. Fails as upstream_begin() does; AZ_UPSTREAM_INVALID also if
 * the answer does not follow MCP or is too large, and AZ_UPSTREAM_TIMEOUT if it does not end within
 * request->seconds.
 */
enum az_status peer_ask(struct op *op, const struct peer_request *request, struct peer_reply *ret);

/* Find the way to talk to the server of a request, without sending the request: from memory, or by
 * asking the server. *ret is on op->mem. Fails as peer_ask() does. */
enum az_status peer_greet(struct op *op, const struct peer_request *request, struct peer_way *ret);

#endif
