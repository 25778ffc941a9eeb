/* What the two workers of a carried call say to each other by the connection of a mailbox (carry.h,
 * carried.h). */
#ifndef AZ_GATEWAY_MCP_ASK_CARRY_TALK_H
#define AZ_GATEWAY_MCP_ASK_CARRY_TALK_H

#include "base/buf.h"
#include "gateway/mcp/ask/round.h"

/* Send a text in pieces. False: the other worker has gone, or takes nothing. */
bool talk_say(int connection, const char *text, size_t length);

/* Append the piece that is there. AZ_NOT_FOUND: the other worker has gone. */
enum az_status talk_hear(int connection, struct buf *text, bool *ret_whole);

/* Say that a question was given to the client, and find out if it was, within a time. */
bool talk_keep(int connection);
bool talk_is_kept(int connection, int ms);

/* True if the other worker has closed the connection; -1 is none. */
bool talk_has_ended(int connection);

/* Return the hash of what the upstream of a call is asked under: the obligations of the decision
 * and the version of the resource; on mem, or NULL if out of memory. */
const char *talk_duties(TALLOC_CTX *mem, const struct mcp_round *round);

#endif
