/* One message to an upstream MCP server and its answer, for the files of peer.h. Questions that the
 * server asks before its answer are answered as they come. */
#ifndef AZ_GATEWAY_MCP_PEER_PEER_EXCHANGE_H
#define AZ_GATEWAY_MCP_PEER_PEER_EXCHANGE_H

#include "base/buf.h"
#include "gateway/mcp/peer/peer.h"
#include "gateway/mcp/peer/sse.h"

/* Requests of an upstream that are answered while one answer of it is read. Servers ask once or
 * twice a minute if we are there; one that asks more than this holds a worker. */
#define PEER_QUESTIONS_MAX 20

/* A request of the upstream. */
struct peer_asked {
    struct json_rpc message;
    const char *answer; /* ours; NULL: request->asker has not given it yet */
};

/* One message and its answer. */
struct peer_exchange {
    struct op *op;
    const char
        *announced; /* to an older upstream about the client; peer_memory keeps sessions by it */
    const struct peer_request *request;
    const struct peer_message *message; /* that is sent: of the request, or of the handshake */
    const struct peer_way *way;
    struct upstream_answer *answer; /* head */
    struct peer_reply *reply;
    bool stream; /* the answer is a stream of events */
    struct sse sse;
    struct buf body;     /* else */
    struct json_rpc rpc; /* the message that answers ours */
    bool answered;
    struct peer_asked question[PEER_QUESTIONS_MAX];
    size_t questions, answered_questions; /* how many there are, and are answered */
    int64_t deadline_us;                  /* monotonic */
    enum az_status st;                    /* fault of the answer so far */
};

/* Send it->message in this way and read the answer. AZ_OK with any HTTP status. */
enum az_status peer_exchange_run(struct peer_exchange *it, const struct peer_way *way);

/* True if the HTTP status of the answer is 2xx. */
bool peer_exchange_succeeded(const struct peer_exchange *it);

#endif
