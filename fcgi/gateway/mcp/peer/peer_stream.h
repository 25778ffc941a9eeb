/* A stream on which an upstream MCP server tells of changes: subscriptions/listen of the modern
 * revision, GET of a session of the older ones. It is read while other requests of the process wait
 * (upstream_run), so one process hears many servers. */
#ifndef AZ_GATEWAY_MCP_PEER_PEER_STREAM_H
#define AZ_GATEWAY_MCP_PEER_PEER_STREAM_H

#include "gateway/mcp/peer/peer.h"

/* Milliseconds for the head of such a stream, and for each answer of ours to a server. */
#define PEER_STREAM_MS 5000
/* Requests of a server that wait for an answer of ours; servers ask if we are there now and then.
 */
#define PEER_STREAM_ASKED_MAX 8

struct peer_stream;

/* Called with each notification; the message is freed after the call. */
typedef void peer_hear_fn(void *arg, const struct json_rpc *message);

/*
 * Open the stream of a server in a way, with the message of the request to a modern one. It is
 * below `mem`, and ends when it is freed. AZ_UPSTREAM_INVALID: the server gives none. The other
 * failures are those of upstream_begin().
 */
enum az_status peer_stream_open(struct op *op, TALLOC_CTX *mem, const struct peer_request *request,
                                const struct peer_way *way, peer_hear_fn *hear, void *arg,
                                struct peer_stream **ret);

/* True if the stream has ended, or cannot be read. */
bool peer_stream_is_over(const struct peer_stream *stream);

/* Answer one of the requests that the server has made on the stream of an older revision, so that
 * other servers wait for one answer of this one at most. What it says to that is not read. */
void peer_stream_answer(struct op *op, struct peer_stream *stream,
                        const struct peer_request *request, const struct peer_way *way);

#endif
