/*
 * Progress of a request at an upstream (MCP, basic/utilities/progress), for the caller who asked
 * for it. The upstream gets a token of ours, and what it says of another is dropped.
 */
#ifndef AZ_GATEWAY_MCP_PEER_PROGRESS_H
#define AZ_GATEWAY_MCP_PEER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "gateway/mcp/message/json_rpc.h"

/* The token: every request has a connection of its own, so one is enough. */
#define PROGRESS_TOKEN 1
/* Notifications in one second that are passed on; more are dropped. A host shows a bar. */
#define PROGRESS_RATE 10

struct peer_progress {
    /* Pass one on: {progress, total, message}, the last two if the upstream says them. False: the
     * caller has gone. */
    bool (*tell)(void *arg, const json_t *progress);
    void *arg;
    bool begun;     /* one was passed on, with: */
    double last;    /* progress */
    int64_t second; /* monotonic */
    int sent;       /* in that second */
};

/* Take a notification of the upstream at a time, monotonic in milliseconds. One that is malformed,
 * has another token, does not rise, or comes too soon is dropped. False: the caller has gone. */
bool peer_progress_take(TALLOC_CTX *mem, struct peer_progress *progress, int64_t now_ms,
                        const struct json_rpc *message);

#endif
