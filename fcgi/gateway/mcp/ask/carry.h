/*
 * Questions of an older upstream to a modern client (gateway-admin.md 1.12): the upstream asks on
 * the stream of its answer and waits there, while the client has input_required as its answer, and
 * answers by another request. The worker that holds the stream, the carrier, goes on with it after
 * its own request is answered; the worker of the next request hands the answers over by the mailbox
 * that requestState names, and gets by the same connection what the upstream says then: its result,
 * or another question. Whoever may call is decided for each request, by the worker that has it.
 */
#ifndef AZ_GATEWAY_MCP_ASK_CARRY_H
#define AZ_GATEWAY_MCP_ASK_CARRY_H

#include "gateway/mcp/ask/round.h"

/* True if an older upstream may ask the client of this exchange: it is a modern one, and this
 * worker can go on after the answer and has room for that. */
bool mcp_may_carry(const struct mcp_exchange *it);

/*
 * Answer the request with these questions, which are decided, and wait for the answers:
 * round->answers. AZ_RESOURCE_UNAVAILABLE: as many calls wait for people as may; nothing is
 * answered yet. AZ_UNAVAILABLE: no answer came in AWAIT_SECONDS, or the service stops.
 */
enum az_status carry_begin(struct mcp_round *round, const struct asked_questions *questions,
                           const struct json_rpc *request);

/* Let the worker of the last answers have another request of the upstream, and wait. As above;
 * AZ_UNAVAILABLE also if that worker does not pass it on. */
enum az_status carry_on(struct mcp_round *round, const struct json_rpc *request);

/* Note in a state where the call waits, round->waits, and under which obligations and which version
 * of its resource the upstream was asked. AZ_SERVER_ERROR: out of memory. */
enum az_status carry_note_state(const struct mcp_round *round, struct request_state *state);

#endif
