#include "config.h"

#include "gateway/mcp/ask/carry.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/b64url.h"
#include "base/clock.h"
#include "base/json/jsonx.h"
#include "gateway/mcp/ask/await.h"
#include "gateway/mcp/ask/carried.h"
#include "gateway/mcp/ask/carry_talk.h"
#include "gateway/mcp/ask/mailbox.h"
#include "gateway/mcp/ask/round_private.h"
#include "gateway/upstream/room.h"

/* Interval at which a waiting worker checks if the service stops, in milliseconds. */
#define LOOK_MS 500
/* Time in which the worker of a request decides about another question, in milliseconds. */
#define KEEP_MS 30000

/* State by which the worker that holds the stream knows the requests that end the wait. */
struct carrier {
    TALLOC_CTX *room; /* the place among those that wait, and the mailbox */
    struct mailbox *box;
    int connection;    /* to the worker of the last answers, or -1 */
    struct http_io io; /* in place of that of the request, which is answered */
};

static int
carrier_free(struct carrier *carrier)
{
    if (carrier->connection >= 0)
        close(carrier->connection);
    return 0;
}

static void
leave_room(struct carrier *carrier)
{
    TALLOC_FREE(carrier->room);
    carrier->box = NULL;
}

/* ---- a request that is answered */

static const char *
no_variable(const struct http_io *io, const char *name)
{
    (void) io;
    (void) name;
    return NULL;
}

/* Progress and logs have no reader until the next request, and none then. */
static bool
drop_octets(const struct http_io *io, const void *octets, size_t size)
{
    (void) io;
    (void) octets;
    (void) size;
    return true;
}

static bool
has_gone(const struct http_io *io)
{
    return talk_has_ended(((const struct carrier *) io->handle)->connection);
}

bool
mcp_may_carry(const struct mcp_exchange *it)
{
    return it->era.modern && it->req->io->leave != NULL && upstream_room_lingers(it->req->op.az);
}

enum az_status
carry_note_state(const struct mcp_round *round, struct request_state *state)
{
    TALLOC_CTX *mem = round->it->req->op.mem;
    state->carrier = b64url_encode(mem, round->waits->id, sizeof(round->waits->id));
    state->duties = talk_duties(mem, round);
    return state->carrier != NULL && state->duties != NULL ? AZ_OK : AZ_SERVER_ERROR;
}

/* ---- waiting */

/* Wait for the next request, and take its answers: round->answers, which may be empty. */
static enum az_status
wait_once(struct mcp_round *round)
{
    struct op *op = &round->it->req->op;
    struct carrier *carrier = round->carrier;
    int64_t until = clock_monotonic_ms() + AWAIT_SECONDS * 1000L;
    struct pollfd waited = {.fd = carrier->box->listener, .events = POLLIN};
    char *text = NULL;
    size_t length = 0;
    enum az_status st = AZ_RETRY;
    while (st == AZ_RETRY) {
        if (*op->az->stopping || clock_monotonic_ms() >= until)
            return op_fail(op, AZ_UNAVAILABLE, NULL, "no answer to a question came in time");
        poll(&waited, 1, LOOK_MS);
        st = mailbox_take_open(op->mem, carrier->box, &text, &length, &carrier->connection);
    }
    if (st == AZ_OK)
        st = jsonx_parse(op->mem, text, length, JSON_RPC_DEPTH_MAX, &round->answers, NULL);
    return st == AZ_OK ? st : op_fail(op, AZ_UNAVAILABLE, NULL, "the answer to a question is lost");
}

/* Send another question to the worker of the last answers, with the place where its answer is
 * waited for, and find out if it was given to the client. */
static enum az_status
pass_on(struct mcp_round *round, const struct json_rpc *request)
{
    struct op *op = &round->it->req->op;
    struct carrier *carrier = round->carrier;
    talloc_free(carrier->box);
    carrier->box = NULL;
    enum az_status st = mailbox_open(op, carrier->room, &carrier->box);
    const char *box =
        st == AZ_OK ? b64url_encode(op->mem, carrier->box->id, sizeof(carrier->box->id)) : NULL;
    const char *text =
        box != NULL
            ? jsonx_dump(op->mem, jsonx_own(op->mem, json_pack("{s:s,s:{s:s,s:O*}}", "box", box,
                                                               "asked", "method", request->method,
                                                               "params", request->params)))
            : NULL;
    bool kept = text != NULL && talk_say(carrier->connection, text, strlen(text))
                && talk_is_kept(carrier->connection, KEEP_MS);
    close(carrier->connection);
    carrier->connection = -1;
    return kept
               ? AZ_OK
               : op_fail(op, AZ_UNAVAILABLE, NULL, "a question did not reach the client of a call");
}

/* Wait until the question has its answer: one that is left out is asked again. Without one the
 * place is free before the upstream learns of the end. */
static enum az_status
wait_for_answer(struct mcp_round *round, const struct json_rpc *request)
{
    enum az_status st = wait_once(round);
    while (st == AZ_OK && json_object_get(round->answers, REQUEST_KEY) == NULL) {
        st = pass_on(round, request);
        if (st == AZ_OK)
            st = wait_once(round);
    }
    if (st != AZ_OK)
        leave_room(round->carrier);
    return st;
}

enum az_status
carry_on(struct mcp_round *round, const struct json_rpc *request)
{
    enum az_status st = pass_on(round, request);
    if (st != AZ_OK)
        leave_room(round->carrier);
    return st == AZ_OK ? wait_for_answer(round, request) : st;
}

/* ---- the first question */

/* Keep a place among those that wait for people, and open a mailbox. */
static enum az_status
prepare(struct mcp_round *round, struct carrier *carrier)
{
    struct op *op = &round->it->req->op;
    const struct upstream_caller caller = {.person = round->call.person,
                                           .subject = round->call.subject,
                                           .idp = round->call.idp,
                                           .client_id = round->call.client_id};
    carrier->connection = -1;
    carrier->room = talloc_new(carrier);
    talloc_set_destructor(carrier, carrier_free);
    if (carrier->room == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for a question");
    enum az_status st = upstream_room_linger(op, carrier->room, round->resource->name, &caller);
    return st == AZ_OK ? mailbox_open(op, carrier->room, &carrier->box) : st;
}

enum az_status
carry_begin(struct mcp_round *round, const struct asked_questions *questions,
            const struct json_rpc *request)
{
    struct mcp_exchange *it = round->it;
    struct op *op = &it->req->op;
    struct carrier *carrier = talloc_zero(op->mem, struct carrier);
    enum az_status st = carrier != NULL
                            ? prepare(round, carrier)
                            : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for a question");
    if (st == AZ_OK) {
        round->waits = carrier->box;
        st = round_give_questions(round, questions, NULL);
    }
    if (st != AZ_OK) {
        talloc_free(carrier);
        return st;
    }
    round->note(round->decide_arg);
    st = it->answer_early(it);
    if (!it->req->answered) {
        it->result = NULL;
        return st;
    }
    round->carrier = carrier;
    carrier->io = (struct http_io){
        .handle = carrier, .variable = no_variable, .write = drop_octets, .gone = has_gone};
    it->req->io = &carrier->io;
    it->req->res.begun = true; /* so that nothing begins another answer */
    upstream_room_share_out(op->az);
    return st == AZ_OK ? wait_for_answer(round, request) : st;
}

/* ---- the end */

/* Tell the worker of the last answers what became of the call. */
static void
tell_outcome(const struct carrier *carrier, struct op *op, enum az_status st,
             const struct peer_reply *reply)
{
    const char *why = op->fault.status == st ? op->fault.public_text : NULL;
    json_t *outcome = st == AZ_OK ? json_pack("{s:i,s:I,s:O*,s:O*}", "status", reply->status,
                                              "octets", (json_int_t) reply->octets, "result",
                                              reply->result, "error", reply->error)
                                  : json_pack("{s:i,s:s*}", "failure", (int) st, "why", why);
    const char *text = outcome != NULL ? jsonx_dump(op->mem, jsonx_own(op->mem, outcome)) : NULL;
    if (text != NULL && carrier->connection >= 0)
        talk_say(carrier->connection, text, strlen(text));
}

enum az_status
mcp_round_ask_peer(struct mcp_round *round, struct op *op, const struct peer_request *request,
                   struct peer_reply *ret)
{
    if (round->it != NULL && round->state.carrier != NULL)
        return carried_ask(round, op, request, ret);
    enum az_status st = peer_ask(op, request, ret);
    if (round->carrier == NULL)
        return st;
    leave_room(round->carrier); /* whoever hears the outcome finds it free */
    tell_outcome(round->carrier, op, st, ret);
    return AZ_UNAVAILABLE;
}
