/* The request that brings the answers for a call which another worker carries (carry.h). */
#ifndef AZ_GATEWAY_MCP_ASK_CARRIED_H
#define AZ_GATEWAY_MCP_ASK_CARRIED_H

#include "gateway/mcp/ask/round.h"

/*
 * Hand the answers over, and wait for what the upstream says then, which is the reply; another
 * question is one of a modern upstream, as mcp_round_ask() takes it. AZ_BUSY: no room to wait.
 * AZ_RESOURCE_UNAVAILABLE: the call no longer waits. AZ_FORBIDDEN: the call that waits was made
 * under another decision, or another version of its resource. The others are those of peer_ask().
 */
enum az_status carried_ask(struct mcp_round *round, struct op *op,
                           const struct peer_request *request, struct peer_reply *ret);

/* Tell the carrier that its question was given to the client. AZ_RESOURCE_UNAVAILABLE: it has gone.
 */
enum az_status carried_keep(struct mcp_round *round);

#endif
