/*
 * Questions of an upstream in place of an answer, and a call that comes again with their answers
 * (MCP 2026-07-28, multi round-trip requests; gateway-admin.md 1.12). Nothing is stored between two
 * rounds: what a later one has to know is in the requestState that the client sends back. An older
 * client is asked on the stream of its call, which waits (await.h). An older upstream may ask such
 * a client alone: it asks during the call, and a modern client answers after it.
 */
#ifndef AZ_GATEWAY_MCP_ASK_ROUND_H
#define AZ_GATEWAY_MCP_ASK_ROUND_H

#include "gateway/mcp/ask/question.h"
#include "gateway/mcp/ask/request_state.h"
#include "gateway/mcp/message/exchange.h"
#include "gateway/mcp/peer/peer.h"

/* Times that an upstream may ask during one call. A person who is asked more often is being worn
 * down. */
#define ROUNDS_MAX 5

struct peer_reply;

/* One call, as it came. */
struct mcp_round {
    struct mcp_exchange *it; /* NULL: no client has called, and none can be asked */
    const struct managed_resource *resource;
    struct stated_call call;
    json_t *capabilities;       /* announced to the upstream; set by mcp_round_begin() */
    bool again;                 /* the call came with a requestState of the gateway, which says: */
    struct request_state state; /* the rounds so far */
    json_t *answers;            /* object: the checked answers, or NULL */
    bool waited;                /* the answers came while the call waited for them */
    bool repeats;               /* the upstream is to be asked again, with them */
    /* Decide the call once more, with the answers that an older upstream gets while it is asked: a
     * denial is an answer to the client, or a failure. */
    enum az_status (*decide)(void *arg);
    void *decide_arg;
    const struct gateway_target *target; /* of the call, for its questions */
    const struct gateway_action *action;
    struct peer_asker asker;
};

/*
 * Begin: read requestState and inputResponses of a modern client. Ignore answers without a
 * requestState, because nothing was asked. If the state is not ours, belongs to another call or
 * caller, or has expired, or if an answer does not fit its question, the refusal becomes the
 * answer, and the status is AZ_OK.
 */
enum az_status mcp_round_begin(struct mcp_exchange *it, const struct managed_resource *resource,
                               const struct stated_call *call, struct mcp_round *ret);

/* Let the upstream ask nothing in this call. */
void mcp_round_silence(struct mcp_round *round);

/* Return whoever answers requests of an older upstream for the client of a round, whose members
 * `decide` to `action` are set; NULL: they may not be asked. */
const struct peer_asker *mcp_round_asker(struct mcp_round *round);

/* Find out, after a wait, if the caller would still be let in with this question; *ret_why is NULL,
 * or says why not. */
enum az_status mcp_round_look(const struct mcp_round *round,
                              const struct gateway_question *question, const char **ret_why);

/* True if both sets of obligations are equal. A request that was already made cannot meet new ones.
 */
bool mcp_round_same_duties(const struct gateway_obligations *one,
                           const struct gateway_obligations *other);

/* Add answers and the upstream's own state to the params of its request, an object, changed. False:
 * out of memory. */
bool mcp_round_add(const struct mcp_round *round, json_t *params);

/* True if a server asks for input in place of a result. A server of an older revision cannot: no
 * capability was announced to it, so a member with this name is a coincidence. */
bool mcp_round_is_asked(const struct peer_reply *reply);

/*
 * Handle a result by which an upstream asks for input, for a call that policy has allowed. Policy
 * decides about each question. AZ_OK: it->result asks the client, or an older client has answered
 * and the call repeats. AZ_FORBIDDEN: a question is denied or has no answer; the fault has the
 * text. AZ_UPSTREAM_INVALID: the result is malformed, or the upstream has asked too often.
 */
enum az_status mcp_round_ask(struct mcp_round *round, const struct gateway_target *target,
                             const struct gateway_action *action, const json_t *result);

/*
 * Handle an error by which an older upstream wants the person to open addresses before the call is
 * repeated (MCP 2025-11-25, client/elicitation, "URL Mode With Elicitation Required Error"), for a
 * call that policy has allowed. Each address is a question as in mcp_round_ask(), with the same
 * failures. AZ_OK: the answer is input_required for a modern client, the same error for an older
 * client that knows it, and a text with the addresses for every other client.
 */
enum az_status mcp_round_ask_addresses(struct mcp_round *round, const struct gateway_target *target,
                                       const struct gateway_action *action, const json_t *error);

/* Return the capabilities that an error of the upstream wants of the client and that it lacks,
 * borrowed; NULL: the error says something else. */
json_t *mcp_round_lacks(const struct mcp_round *round, const json_t *error);

/* Answer that the client lacks them (MCP 2026-07-28, versioning). */
enum az_status mcp_round_refuse(struct mcp_exchange *it, json_t *lacks);

/* Return what `round` is in the summary of the audit row: how often the upstream has asked. */
json_t *mcp_round_note(const struct mcp_round *round);

#endif
