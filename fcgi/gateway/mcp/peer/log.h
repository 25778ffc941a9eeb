/* Messages of an upstream's log (MCP, server/utilities/logging), for a caller who wants them. */
#ifndef AZ_GATEWAY_MCP_PEER_LOG_H
#define AZ_GATEWAY_MCP_PEER_LOG_H

#include <stdbool.h>

#include "gateway/mcp/message/json_rpc.h"

/* Octets of the data of one message as JSON text; a longer one is dropped. It is a line of a log.
 */
#define PEER_LOG_OCTETS_MAX 4096
/* Messages of one request that are passed on; more are dropped. A person reads no more. */
#define PEER_LOG_MAX 200

struct peer_log {
    /* Pass a message on: {level, logger, data}, with `logger` if the upstream sends it. False: the
     * caller has gone. */
    bool (*tell)(void *arg, const json_t *params);
    void *arg;
    int level; /* the least level that is passed on (log_level.h) */
    int sent;  /* so far */
};

/* Take a notification of the upstream. One that is no message of a log, is malformed, too long, of
 * a lower level, or comes after too many is dropped. False: the caller has gone. */
bool peer_log_take(TALLOC_CTX *mem, struct peer_log *log, const struct json_rpc *message);

#endif
