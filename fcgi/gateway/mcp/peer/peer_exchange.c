#include "config.h"

#include "gateway/mcp/peer/peer_exchange.h"

#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/settings/settings.h"
#include "gateway/credential/types.h"
#include "managed/managed.h"

/* A stream that ended before its answer is asked for again: at most this many times, after this
 * wait if the server names none. The last number is the interval at which the caller is checked. In
 * milliseconds. */
#define RESUMES_MAX 5
#define RESUME_MS 1000
#define RESUME_LOOK_MS 250
/* Time to deliver an answer to a question of the upstream, in milliseconds. */
#define QUESTION_MS 5000
/* The same for a cancellation: the caller has gone, or has waited long enough. */
#define CANCEL_MS 1000

/* ---- reading the answer */

/* Note a request of the upstream. In the modern revision a server sends none. *ret_kept: its memory
 * is still needed, because it is not answered at once. */
static enum az_status
note_question(struct peer_exchange *it, const struct json_rpc *message, bool *ret_kept)
{
    bool asks = it->request->asker != NULL && it->message == &it->request->message
                && strcmp(message->method, "ping") != 0;
    if (it->way->modern)
        return AZ_OK;
    if (it->questions == PEER_QUESTIONS_MAX)
        return AZ_UPSTREAM_INVALID;
    const char *answer = asks ? NULL : peer_answer(it->op->mem, message);
    if (!asks && answer == NULL)
        return AZ_SERVER_ERROR;
    it->question[it->questions++] = (struct peer_asked){*message, answer};
    *ret_kept = asks;
    return AZ_OK;
}

/* Take a notification. False: the caller has gone. */
static bool
take_notification(const struct peer_exchange *it, TALLOC_CTX *mem, const struct json_rpc *message)
{
    const struct peer_request *request = it->request;
    if (it->message != &request->message)
        return true;
    return (!it->message->progress
            || peer_progress_take(mem, request->progress, clock_monotonic_ms(), message))
           && (request->log == NULL || peer_log_take(mem, request->log, message));
}

/* Take a message. A stream may hold notifications and requests before the answer; notifications
 * other than progress and log that the caller asked for are passed over. Their memory is given back
 * at once, because a stream may hold thousands. An event with empty data is no message: servers
 * open a stream with one, for its id (MCP 2025-11-25, transports). */
static bool
take_message(void *arg, const char *text, size_t len)
{
    struct peer_exchange *it = arg;
    struct json_rpc message;
    struct json_rpc_fault fault;
    bool kept = false;
    if (len == 0)
        return true;
    TALLOC_CTX *mem = talloc_new(it->op->mem);
    if (mem == NULL) {
        it->st = AZ_SERVER_ERROR;
        return false;
    }
    enum az_status st = json_rpc_read(mem, text, len, &message, &fault);
    if (st != AZ_OK)
        it->st = st == AZ_INVALID ? AZ_UPSTREAM_INVALID : st;
    else if (peer_answers(&message, it->message)) {
        it->rpc = message;
        it->reply->mem = mem;
        it->answered = true;
    } else if (message.kind == JSON_RPC_REQUEST)
        it->st = note_question(it, &message, &kept);
    else if (message.kind == JSON_RPC_NOTIFICATION && !take_notification(it, mem, &message))
        it->st = AZ_UNAVAILABLE;
    if (!it->answered && !kept)
        talloc_free(mem);
    return it->st == AZ_OK && !it->answered;
}

static bool
take_peer_octets(void *arg, const void *octets, size_t length)
{
    struct peer_exchange *it = arg;
    enum az_status st = it->stream ? sse_feed(&it->sse, octets, length, take_message, it)
                                   : buf_append(&it->body, octets, length);
    if (st == AZ_INVALID && it->st == AZ_OK)
        it->st = AZ_UPSTREAM_INVALID;
    else if (st == AZ_SERVER_ERROR)
        it->st = st;
    if (it->st == AZ_OK && !it->answered && clock_monotonic_us() > it->deadline_us)
        it->st = AZ_UPSTREAM_TIMEOUT;
    return it->st == AZ_OK && !it->answered;
}

/* Return the octets that an answer may have: the least of what the operator, the resource and, if
 * it says so, policy allow. */
static size_t
largest_answer(const struct peer_exchange *it)
{
    const struct peer_request *request = it->request;
    size_t max = (size_t) it->op->az->cfg->gateway_max_body_size;
    if ((size_t) request->resource->max_result < max)
        max = (size_t) request->resource->max_result;
    return request->max_answer != 0 && request->max_answer < max ? request->max_answer : max;
}

static void
build_peer_call(const struct peer_exchange *it, const struct peer_envelope *envelope,
                struct upstream_call *ret)
{
    const struct peer_request *request = it->request;
    *ret = (struct upstream_call){
        .resource = request->resource,
        .secrets = request->secrets,
        .credential = gateway_credential,
        .caller = request->caller,
        .method = "POST",
        .path = "",
        .query = "",
        .fields = envelope->field,
        .field_count = envelope->fields,
        .policy_headers = request->policy_headers,
        .body = {.octets = envelope->body, .length = envelope->length},
        .max_answer = largest_answer(it),
        .timeout_ms = request->seconds * 1000L,
    };
}

/* Send one of our answers, or a cancellation, also for a caller who has gone. What the upstream
 * makes of it is of no interest: a failure shows when the call that waits for it fails. Its answer
 * is not read beyond the head, so that one without end holds no worker. */
static void
notify_upstream(struct peer_exchange *it, struct op *beside, const char *answer, int timeout_ms)
{
    struct upstream_caller caller;
    struct peer_envelope envelope;
    struct upstream_call call;
    struct upstream_transfer *transfer;
    struct upstream_answer *head;
    if (peer_write_answer(it->way, answer, &envelope) != AZ_OK)
        return;
    build_peer_call(it, &envelope, &call);
    call.timeout_ms = timeout_ms;
    if (call.caller != NULL) {
        caller = *call.caller;
        caller.gone = NULL;
        call.caller = &caller;
    }
    if (upstream_begin(beside, &call, NULL, &transfer, &head) == AZ_OK)
        upstream_done(transfer);
}

/* Get the answer to a request, whoever gives it. */
static enum az_status
find_answer(struct peer_exchange *it, struct peer_asked *asked)
{
    const struct peer_asker *asker = it->request->asker;
    if (asked->answer != NULL)
        return AZ_OK;
    int64_t began = clock_monotonic_us();
    enum az_status st = asker->answer(asker->arg, &asked->message, &asked->answer);
    it->deadline_us += clock_monotonic_us() - began;
    return st;
}

/* Answer the requests that came so far: until the upstream has the answers, it may not answer the
 * call. */
static bool
answer_questions(void *arg)
{
    struct peer_exchange *it = arg;
    while (it->answered_questions < it->questions && it->st == AZ_OK && !it->answered) {
        struct peer_asked *asked = &it->question[it->answered_questions++];
        struct op beside = op_beside(it->op, talloc_new(it->op->mem));
        it->st = beside.mem != NULL ? find_answer(it, asked) : AZ_SERVER_ERROR;
        if (it->st == AZ_OK)
            notify_upstream(it, &beside, asked->answer, QUESTION_MS);
        talloc_free(beside.mem);
        if (it->st == AZ_OK && clock_monotonic_us() > it->deadline_us)
            it->st = AZ_UPSTREAM_TIMEOUT;
    }
    return it->st == AZ_OK && !it->answered;
}

static bool
caller_is_gone(const struct peer_exchange *it)
{
    const struct upstream_caller *caller = it->request->caller;
    return caller != NULL && caller->gone != NULL && caller->gone(caller->arg);
}

/* Tell an older upstream that nothing waits for its answer any more: there a connection that is
 * closed says nothing (MCP 2025-11-25, transports and basic/utilities/cancellation). */
static void
cancel_request(struct peer_exchange *it, enum az_status st)
{
    bool gone = caller_is_gone(it);
    bool unanswered = it->answered_questions > 0 && it->st != AZ_OK;
    if (it->way->modern || it->message != &it->request->message || it->answered
        || (st != AZ_UPSTREAM_TIMEOUT && it->st != AZ_UNAVAILABLE && !gone && !unanswered))
        return;
    struct op beside = op_beside(it->op, talloc_new(it->op->mem));
    const char *cancel = beside.mem != NULL ? peer_cancellation(beside.mem) : NULL;
    if (cancel != NULL)
        notify_upstream(it, &beside, cancel, CANCEL_MS);
    talloc_free(beside.mem);
}

/* Read the body of the answer. It is a message, a stream, or of no interest. */
static enum az_status
read_answer_body(struct peer_exchange *it, struct upstream_transfer *transfer, size_t max)
{
    const struct upstream_sink sink = {
        .take = take_peer_octets, .arg = it, .between = answer_questions};
    enum az_status st;
    it->stream = strcmp(it->answer->content_type, "text/event-stream") == 0;
    sse_init(&it->sse, it->op->mem, max);
    buf_init(&it->body, it->op->mem, max);
    st = upstream_pump(transfer, &sink);
    if (st == AZ_OK && it->st == AZ_OK && !it->stream && it->body.len > 0
        && strcmp(it->answer->content_type, "application/json") == 0)
        take_message(it, it->body.data, it->body.len);
    sse_done(&it->sse);
    buf_done(&it->body);
    it->reply->octets = it->answer->octets;
    return st == AZ_OK ? it->st : st;
}

/* ---- an answer that goes on later */

/* True if the server has ended a stream of a session before the answer, and can be asked for what
 * follows an event of it (MCP 2025-11-25, transports, "Resumability and Redelivery"). */
static bool
goes_on_later(const struct peer_exchange *it)
{
    return it->stream && !it->answered && it->st == AZ_OK && !it->way->modern
           && it->way->session != NULL && *it->sse.id != '\0';
}

/* Wait as the server said. AZ_UPSTREAM_TIMEOUT: the time of the answer, or the caller, is gone. */
static enum az_status
wait_to_resume(const struct peer_exchange *it)
{
    int64_t until = clock_monotonic_ms() + (it->sse.retry_ms >= 0 ? it->sse.retry_ms : RESUME_MS);
    for (int64_t left; (left = until - clock_monotonic_ms()) > 0;) {
        if (clock_monotonic_us() > it->deadline_us || caller_is_gone(it) || *it->op->az->stopping)
            return AZ_UPSTREAM_TIMEOUT;
        poll(NULL, 0, (int) (left < RESUME_LOOK_MS ? left : RESUME_LOOK_MS));
    }
    return AZ_OK;
}

/* Ask once for what follows the last event, and read it. *ret_more false: the server does not
 * give it. */
static enum az_status
resume_once(struct peer_exchange *it, bool *ret_more)
{
    struct upstream_answer *first = it->answer;
    struct peer_envelope envelope;
    struct upstream_call call;
    struct upstream_transfer *transfer;
    char id[SSE_ID_MAX + 1];
    int retry_ms = it->sse.retry_ms;
    memcpy(id, it->sse.id, sizeof(id));
    enum az_status st = peer_write_stream(it->way, id, &envelope);
    build_peer_call(it, &envelope, &call);
    call.method = "GET";
    if (st == AZ_OK)
        st = upstream_begin(it->op, &call, &it->reply->credential, &transfer, &it->answer);
    bool begun = st == AZ_OK;
    *ret_more = begun && it->answer->status == 200
                && strcmp(it->answer->content_type, "text/event-stream") == 0;
    if (*ret_more)
        st = read_answer_body(it, transfer, call.max_answer);
    if (begun)
        upstream_done(transfer);
    it->answer = first; /* session of the request itself: a 404 to this message does not end it */
    if (*it->sse.id == '\0')
        memcpy(it->sse.id, id, sizeof(id));
    if (it->sse.retry_ms < 0)
        it->sse.retry_ms = retry_ms;
    return st;
}

/* Ask for the rest of an answer until it is there. */
static enum az_status
resume(struct peer_exchange *it)
{
    bool more = true;
    enum az_status st = AZ_OK;
    for (int i = 0; i < RESUMES_MAX && st == AZ_OK && more && goes_on_later(it); i++) {
        st = wait_to_resume(it);
        if (st == AZ_OK)
            st = resume_once(it, &more);
    }
    return st;
}

/* ---- one exchange */

enum az_status
peer_exchange_run(struct peer_exchange *it, const struct peer_way *way)
{
    struct op *op = it->op;
    struct peer_envelope envelope;
    struct upstream_call call;
    struct upstream_transfer *transfer = NULL;
    enum az_status st = peer_write(op->mem, way, it->message, &envelope);
    if (st != AZ_OK)
        return op_no_memory(op);
    build_peer_call(it, &envelope, &call);
    it->way = way;
    it->st = AZ_OK;
    it->answered = false;
    it->questions = it->answered_questions = 0;
    int seconds = it->request->seconds > 0 ? it->request->seconds : PEER_ANSWER_SECONDS;
    it->deadline_us = clock_monotonic_us() + seconds * 1000000LL;
    st = upstream_begin(op, &call, &it->reply->credential, &transfer, &it->answer);
    if (st == AZ_OK) {
        it->reply->status = it->answer->status;
        st = read_answer_body(it, transfer, call.max_answer);
        upstream_done(transfer);
    }
    if (st == AZ_OK)
        st = resume(it);
    if (st != AZ_OK)
        cancel_request(it, st);
    return st;
}

bool
peer_exchange_succeeded(const struct peer_exchange *it)
{
    return it->answer->status >= 200 && it->answer->status < 300;
}
