#include "config.h"

#include "gateway/mcp/ask/await.h"

#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "gateway/calls.h"
#include "gateway/mcp/ask/answer.h"
#include "gateway/mcp/ask/question_id.h"
#include "gateway/mcp/message/stream.h"
#include "gateway/process/gateway_process.h"
#include "gateway/upstream/room.h"

/* Time without a word after which a comment is sent, so that nothing on the way takes the stream
 * for dead; it also finds out that the client has gone. */
#define COMMENT_MS 15000
/* Interval at which a waiting worker checks if the client has gone, in milliseconds. */
#define LOOK_MS 500

/* The wait of one round. */
struct wait {
    struct mcp_exchange *it;
    TALLOC_CTX *mem; /* ends with it */
    const struct asked_questions *questions;
    struct mailbox *box[QUESTIONS_MAX]; /* NULL: it is answered */
    const char *id[QUESTIONS_MAX];
    size_t open;                /* questions without an answer */
    struct jsonx_build answers; /* by key */
    int64_t until_ms, said_ms;  /* monotonic */
};

bool
mcp_may_await(const struct mcp_exchange *it)
{
    return !it->version.modern && it->session.named && mcp_stream_takes(it)
           && upstream_room_may_hold(it->req->op.az);
}

/* ---- sending */

/* Return the params of a question as the revision of the client has them: a new reference. */
static json_t *
fitting_params(const struct mcp_exchange *it, const json_t *request)
{
    json_t *params = jsonx_copy(json_object_get(request, "params"));
    if (mcp_is_before(&it->version, MCP_LEGACY_NEWEST))
        json_object_del(params, "mode");
    return params;
}

static enum az_status
send_question(struct wait *wait, size_t i)
{
    struct op *op = &wait->it->req->op;
    const json_t *request = wait->questions->item[i].request;
    enum az_status st = mailbox_open(op, wait->mem, &wait->box[i]);
    if (st != AZ_OK)
        return st;
    wait->id[i] = question_id_make(op, &wait->it->session.key, wait->box[i],
                                   clock_realtime_ms() / 1000 + AWAIT_SECONDS);
    json_t *message = wait->id[i] != NULL
                          ? json_pack("{s:s,s:s,s:O,s:o}", "jsonrpc", "2.0", "id", wait->id[i],
                                      "method", json_object_get(request, "method"), "params",
                                      fitting_params(wait->it, request))
                          : NULL;
    if (message == NULL)
        return op_no_memory(op);
    return mcp_stream_send(wait->it, message)
               ? AZ_OK
               : op_fail(op, AZ_UNAVAILABLE, NULL, "the client of a question has gone");
}

/* Tell the client that nothing waits for its answers any more. */
static void
call_off(struct wait *wait)
{
    for (size_t i = 0; i < wait->questions->count; i++)
        if (wait->box[i] != NULL && wait->id[i] != NULL)
            mcp_stream_send(wait->it, json_pack("{s:s,s:s,s:{s:s}}", "jsonrpc", "2.0", "method",
                                                "notifications/cancelled", "params", "requestId",
                                                wait->id[i]));
}

/* ---- waiting */

static enum az_status
refuse_answer(const struct wait *wait, const char *why)
{
    return op_fail(&wait->it->req->op, AZ_FORBIDDEN, why, NULL);
}

/* Read an answer that came: {result} or {error}, as mcp_give_answer() wrote it. */
static enum az_status
read_given(struct wait *wait, size_t i, const char *text, size_t length)
{
    struct op *op = &wait->it->req->op;
    const struct asked_question *question = &wait->questions->item[i];
    json_t *message = NULL, *answer = NULL;
    enum az_status st = jsonx_parse(op->mem, text, length, JSON_RPC_DEPTH_MAX, &message, NULL);
    const json_t *result = json_object_get(message, "result");
    if (st == AZ_OK && result == NULL)
        return refuse_answer(wait, "The client did not answer a question of the upstream");
    if (st == AZ_OK)
        st = answer_read(op->mem, question->fits, result, &answer);
    if (st == AZ_INVALID)
        return refuse_answer(wait, "The answer of the client does not fit its question");
    if (st == AZ_OK)
        jsonx_set(&wait->answers, question->key, json_incref(answer));
    return st == AZ_OK ? st : op_no_memory(op);
}

/* Take the answers that are there. */
static enum az_status
take_answers(struct wait *wait)
{
    enum az_status st = AZ_OK;
    for (size_t i = 0; st == AZ_OK && i < wait->questions->count; i++) {
        char *text = NULL;
        size_t length = 0;
        enum az_status came =
            wait->box[i] != NULL ? mailbox_take(wait->mem, wait->box[i], &text, &length) : AZ_RETRY;
        if (came == AZ_RETRY)
            continue;
        wait->box[i] = NULL;
        wait->open--;
        st = came == AZ_OK ? read_given(wait, i, text, length)
                           : refuse_answer(wait, "The answer of the client was lost");
    }
    return st;
}

/* Wait until something may have come. */
static enum az_status
wait_a_while(struct wait *wait)
{
    struct request *req = wait->it->req;
    struct pollfd box[QUESTIONS_MAX];
    nfds_t boxes = 0;
    int64_t now = clock_monotonic_ms();
    if (now >= wait->until_ms)
        return refuse_answer(wait, "No answer to a question of the upstream came in time");
    if (*req->op.az->stopping || calls_is_cancelled(req->op.az->gateway->calls)
        || (req->io->gone != NULL && req->io->gone(req->io)))
        return op_fail(&req->op, AZ_UNAVAILABLE, NULL, "the client of a question has gone");
    if (now - wait->said_ms >= COMMENT_MS) {
        wait->said_ms = now;
        if (!mcp_stream_comment(wait->it))
            return op_fail(&req->op, AZ_UNAVAILABLE, NULL, "the client of a question has gone");
    }
    for (size_t i = 0; i < wait->questions->count; i++)
        if (wait->box[i] != NULL)
            box[boxes++] = (struct pollfd){.fd = wait->box[i]->listener, .events = POLLIN};
    poll(box, boxes, LOOK_MS);
    return AZ_OK;
}

static enum az_status
await_all(struct wait *wait)
{
    enum az_status st = AZ_OK;
    for (size_t i = 0; st == AZ_OK && i < wait->questions->count; i++)
        st = send_question(wait, i);
    while (st == AZ_OK && wait->open > 0) {
        st = wait_a_while(wait);
        if (st == AZ_OK)
            st = take_answers(wait);
    }
    if (st != AZ_OK)
        call_off(wait);
    return st;
}

enum az_status
mcp_await_answers(struct mcp_exchange *it, const char *resource,
                  const struct upstream_caller *caller, const struct asked_questions *questions,
                  json_t **ret)
{
    struct op *op = &it->req->op;
    int64_t now = clock_monotonic_ms();
    struct wait wait = {
        .it = it,
        .mem = talloc_new(op->mem),
        .questions = questions,
        .open = questions->count,
        .answers = {jsonx_own(op->mem, json_object()), false},
        .until_ms = now + AWAIT_SECONDS * 1000L,
        .said_ms = now,
    };
    enum az_status st =
        wait.mem != NULL ? upstream_room_hold(op, wait.mem, resource, caller) : AZ_SERVER_ERROR;
    if (st == AZ_OK)
        st = await_all(&wait);
    talloc_free(wait.mem);
    *ret = jsonx_built(&wait.answers);
    return st != AZ_OK || *ret != NULL ? st : op_no_memory(op);
}

/* ---- the other side */

static enum az_status
refuse_unasked(struct mcp_exchange *it)
{
    return mcp_refuse(it, 404, RPC_NOT_THERE, "No question of this session waits for the answer");
}

enum az_status
mcp_give_answer(struct mcp_exchange *it)
{
    struct op *op = &it->req->op;
    unsigned char box[MAILBOX_OCTETS];
    const char *id = json_string_value(it->message.id);
    enum az_status st = id != NULL && it->session.named
                            ? question_id_read(op, &it->session.key, id, box)
                            : AZ_INVALID;
    if (st != AZ_OK)
        return st == AZ_INVALID ? refuse_unasked(it) : op_no_memory(op);
    json_t *message = jsonx_own(op->mem, it->message.result != NULL
                                             ? json_pack("{s:O}", "result", it->message.result)
                                             : json_pack("{s:{}}", "error"));
    const char *text = message != NULL ? jsonx_dump(op->mem, message) : NULL;
    if (text == NULL)
        return op_no_memory(op);
    if (strlen(text) > ANSWERS_OCTETS_MAX)
        return mcp_refuse(it, 400, RPC_INVALID_PARAMS, "The answer is too large");
    st = mailbox_put(op, box, text, strlen(text));
    return st == AZ_NOT_FOUND ? refuse_unasked(it) : st == AZ_OK ? respond_empty(it->req, 202) : st;
}
