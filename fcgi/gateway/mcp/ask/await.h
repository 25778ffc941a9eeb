/*
 * Questions to a client from before MCP 2026-07-28 (gateway-admin.md 1.12): requests on the stream
 * of its call. The worker of the call waits, and the worker that gets the answer hands it over.
 */
#ifndef AZ_GATEWAY_MCP_ASK_AWAIT_H
#define AZ_GATEWAY_MCP_ASK_AWAIT_H

#include "gateway/mcp/ask/question.h"
#include "gateway/mcp/message/exchange.h"
#include "gateway/upstream/credential.h"

/* Seconds that a person has for the questions of one round. A worker waits with them. */
#define AWAIT_SECONDS 300

/* True if the client of this exchange could be asked: it takes a stream, has a session, and the
 * pool has room for a worker that waits. */
bool mcp_may_await(const struct mcp_exchange *it);

/*
 * Ask the client, and wait for all answers: *ret, an object by the keys of the questions, on the
 * memory of the request. AZ_FORBIDDEN: the client refuses, an answer does not fit, or none came in
 * AWAIT_SECONDS. AZ_RESOURCE_UNAVAILABLE: as many calls wait for people as may. AZ_UNAVAILABLE: the
 * client has gone, or the service stops. The text of each is for the model.
 */
enum az_status mcp_await_answers(struct mcp_exchange *it, const char *resource,
                                 const struct upstream_caller *caller,
                                 const struct asked_questions *questions, json_t **ret);

/* Take an answer that a client sends, a message without a method: 202, and 404 if no question of
 * its session waits for it. */
enum az_status mcp_give_answer(struct mcp_exchange *it);

#endif
