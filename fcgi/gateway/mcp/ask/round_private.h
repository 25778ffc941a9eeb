/* Steps of a round that its files share. */
#ifndef AZ_GATEWAY_MCP_ASK_ROUND_PRIVATE_H
#define AZ_GATEWAY_MCP_ASK_ROUND_PRIVATE_H

#include "gateway/mcp/ask/round.h"

/* Read the questions, and decide about each. */
enum az_status round_take_questions(struct mcp_round *round, const struct gateway_target *target,
                                    const struct gateway_action *call, const json_t *requests,
                                    struct asked_questions *ret);

/* Give the client the questions, with the state that ties the next call to this one; upstream: its
 * own state, or NULL. */
enum az_status round_give_questions(struct mcp_round *round,
                                    const struct asked_questions *questions, const char *upstream);

/* Fail because the upstream has asked ROUNDS_MAX times. */
enum az_status round_refuse_more(const struct mcp_round *round);

#endif
