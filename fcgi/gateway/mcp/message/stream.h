/*
 * Answers as a stream of events (MCP, transports): a call whose progress the caller wants to know.
 * The first progress begins the stream, and the answer ends it, after its audit row is written; a
 * call without progress is answered in JSON.
 */
#ifndef AZ_GATEWAY_MCP_MESSAGE_STREAM_H
#define AZ_GATEWAY_MCP_MESSAGE_STREAM_H

#include "gateway/mcp/message/exchange.h"

/* Return the token for which the caller gets progress: a text of at most JSON_RPC_ID_MAX octets, or
 * an integer. NULL: the caller asks for none, or takes no stream. */
const json_t *mcp_stream_token(const struct mcp_exchange *it);

/* Send progress to the caller; `arg` is the exchange. False: the caller has gone. */
bool mcp_stream_progress(void *arg, const json_t *progress);

/* End the stream with a message, the answer. */
enum az_status mcp_stream_end(struct mcp_exchange *it, const json_t *message);

#endif
