/*
 * Answers as a stream of events (MCP, transports): a call whose progress or log the caller wants to
 * know, or that asks it something. The first event begins the stream, and the answer ends it, after
 * its audit row is written; a call without progress is answered in JSON.
 */
#ifndef AZ_GATEWAY_MCP_MESSAGE_STREAM_H
#define AZ_GATEWAY_MCP_MESSAGE_STREAM_H

#include "gateway/mcp/message/exchange.h"

/* Return the token for which the caller gets progress: a text of at most JSON_RPC_ID_MAX octets, or
 * an integer. NULL: the caller asks for none, or takes no stream. */
const json_t *mcp_stream_token(const struct mcp_exchange *it);

/* True if the caller takes a stream of events. */
bool mcp_stream_takes(const struct mcp_exchange *it);

/* Return the least level of the log messages that the caller wants (log_level.h), or MCP_LOG_UNSAID
 * if it wants no log messages. A modern client names the level in `_meta`; an older one in a
 * session gets messages from level info on, or from the level that it set. */
int mcp_stream_log_level(const struct mcp_exchange *it);

/* Send progress, or the params of a log message, to the caller; `arg` is the exchange. False: the
 * caller has gone. */
bool mcp_stream_progress(void *arg, const json_t *progress);
bool mcp_stream_log(void *arg, const json_t *params);

/* Send a message, which is taken, or a comment, which readers pass over. False: the caller has
 * gone, or there is no memory for the message. */
bool mcp_stream_send(struct mcp_exchange *it, json_t *message);
bool mcp_stream_comment(struct mcp_exchange *it);

/* End the stream with a message, the answer. */
enum az_status mcp_stream_end(struct mcp_exchange *it, const json_t *message);

#endif
