#include "config.h"

#include "gateway/mcp/ask/carried.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/b64url.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "gateway/mcp/ask/carry_talk.h"
#include "gateway/mcp/ask/mailbox.h"
#include "gateway/mcp/ask/round_private.h"
#include "gateway/upstream/room.h"

/* Interval at which a waiting worker checks if its client has gone, in milliseconds. */
#define LOOK_MS 250
/* Time for what the upstream says after an answer, in milliseconds: the carrier ends the call
 * after PEER_ANSWER_SECONDS, and says so. */
#define HEAR_MS (PEER_ANSWER_SECONDS * 1000L + 10000)

struct carried {
    int connection;      /* to the carrier */
    struct mailbox next; /* where the answer to another question is waited for */
};

static int
carried_free(struct carried *carried)
{
    close(carried->connection);
    return 0;
}

/* ---- handing over */

static enum az_status
lost(struct op *op)
{
    return op_fail(op, AZ_RESOURCE_UNAVAILABLE,
                   "The call no longer waits for the answer; make it again",
                   "no worker of this host holds the stream of the call");
}

/* Connect to the carrier, and give it the answers that fit its question. */
static enum az_status
hand_over(struct mcp_round *round, struct op *op)
{
    unsigned char id[MAILBOX_OCTETS];
    const char *box = round->state.carrier;
    int connection = -1;
    struct carried *carried = talloc_zero(op->mem, struct carried);
    json_t *answers =
        json_object_size(round->answers) > 0 ? round->answers : jsonx_own(op->mem, json_object());
    const char *text = carried != NULL && answers != NULL ? jsonx_dump(op->mem, answers) : NULL;
    if (text == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for an answer");
    enum az_status st = b64url_decode_into(box, strlen(box), id, sizeof(id));
    if (st == AZ_OK)
        st = mailbox_put_open(op, id, text, strlen(text), &connection);
    if (st != AZ_OK)
        return st == AZ_SERVER_ERROR ? st : lost(op);
    carried->connection = connection;
    talloc_set_destructor(carried, carried_free);
    round->carried = carried;
    return AZ_OK;
}

enum az_status
carried_keep(struct mcp_round *round)
{
    return talk_keep(round->carried->connection) ? AZ_OK : lost(&round->it->req->op);
}

/* ---- hearing */

/* Wait for the next piece of what the carrier says. */
static enum az_status
wait_for_piece(const struct carried *carried, struct op *op, const struct upstream_caller *caller,
               int64_t until)
{
    struct pollfd waited = {.fd = carried->connection, .events = POLLIN};
    do {
        if (*op->az->stopping || (caller->gone != NULL && caller->gone(caller->arg)))
            return op_fail(op, AZ_UNAVAILABLE, NULL, "the client of a call has gone");
        if (clock_monotonic_ms() >= until)
            return op_fail(op, AZ_UPSTREAM_TIMEOUT, NULL, "the carrier of a call says nothing");
    } while (poll(&waited, 1, LOOK_MS) <= 0);
    return AZ_OK;
}

/* Read what the carrier says, whole. */
static enum az_status
hear(const struct carried *carried, struct op *op, const struct upstream_caller *caller,
     json_t **ret)
{
    BUF_AUTO text;
    int64_t until = clock_monotonic_ms() + HEAR_MS;
    bool whole = false;
    enum az_status st = AZ_OK;
    /* Text that is written anew may be longer than it came: a character as \uXXXX. */
    buf_init(&text, op->mem, (size_t) op->az->cfg->gateway_max_body_size * 6);
    while (st == AZ_OK && !whole) {
        st = wait_for_piece(carried, op, caller, until);
        if (st != AZ_OK)
            return st;
        st = talk_hear(carried->connection, &text, &whole);
    }
    if (st == AZ_OK)
        st = jsonx_parse(op->mem, text.data, text.len, JSON_RPC_DEPTH_MAX + 2, ret, NULL);
    return st == AZ_OK          ? st
           : st == AZ_NOT_FOUND ? lost(op)
                                : op_fail(op, AZ_SERVER_ERROR, NULL, "the words of a carrier");
}

/* Make a reply of another question, as a modern upstream would give it. */
static enum az_status
take_question(struct mcp_round *round, struct op *op, const json_t *told, struct peer_reply *ret)
{
    struct carried *carried = round->carried;
    const char *box = json_string_value(json_object_get(told, "box"));
    json_t *asked =
        jsonx_own(op->mem, json_pack("{s:s,s:{s:O}}", "resultType", "input_required",
                                     "inputRequests", REQUEST_KEY, json_object_get(told, "asked")));
    if (asked == NULL || box == NULL
        || b64url_decode_into(box, strlen(box), carried->next.id, sizeof(carried->next.id))
               != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for a question");
    round->waits = &carried->next;
    ret->result = asked;
    ret->modern = true;
    return AZ_OK;
}

/* Fail as the call did; a link that is wanted by then is none of this request. */
static enum az_status
fail_so(struct op *op, const json_t *told)
{
    json_int_t failure = json_integer_value(json_object_get(told, "failure"));
    const char *why = json_string_value(json_object_get(told, "why"));
    bool known = failure > AZ_OK && failure < AZ_STATUS_COUNT && failure != AZ_LINK_REQUIRED;
    return op_fail(op, known ? (enum az_status) failure : AZ_UPSTREAM_INVALID, why,
                   "the call failed after an answer to its upstream");
}

static enum az_status
take_words(struct mcp_round *round, struct op *op, const json_t *told, struct peer_reply *ret)
{
    ret->mem = talloc_new(op->mem);
    if (json_object_get(told, "asked") != NULL)
        return take_question(round, op, told, ret);
    ret->result = json_object_get(told, "result");
    ret->error = json_object_get(told, "error");
    ret->status = (int) json_integer_value(json_object_get(told, "status"));
    ret->octets = (size_t) json_integer_value(json_object_get(told, "octets"));
    return ret->result != NULL || ret->error != NULL ? AZ_OK : fail_so(op, told);
}

enum az_status
carried_ask(struct mcp_round *round, struct op *op, const struct peer_request *request,
            struct peer_reply *ret)
{
    const char *duties = talk_duties(op->mem, round);
    json_t *told = NULL;
    *ret = (struct peer_reply){.result = NULL};
    if (duties == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for an answer");
    if (round->state.duties == NULL || strcmp(duties, round->state.duties) != 0)
        return op_fail(op, AZ_FORBIDDEN,
                       "Denied: policy demands other things of the call now, or its resource was "
                       "changed; make it again",
                       "the call waits under another decision");
    enum az_status st = upstream_room_keep(op, request->resource->name, request->caller);
    if (st == AZ_OK)
        st = hand_over(round, op);
    if (st == AZ_OK)
        st = hear(round->carried, op, request->caller, &told);
    return st == AZ_OK ? take_words(round, op, told, ret) : st;
}
