#include "config.h"

#include "gateway/mcp/peer/peer_stream.h"

#include <string.h>

#include "gateway/credential/types.h"
#include "gateway/mcp/peer/sse.h"
#include "managed/managed.h"

/* Octets of one event. A notification that counts here names one URI. */
#define EVENT_OCTETS_MAX (64 << 10)

struct peer_stream {
    struct op op; /* as long as the stream */
    struct upstream_call call;
    struct peer_envelope envelope;
    struct upstream_transfer *transfer;
    struct upstream_sink sink;
    struct sse sse;
    peer_hear_fn *hear;
    void *arg;
    bool modern;
    bool over; /* the server ends it, or breaks a rule */
    const char *asked[PEER_STREAM_ASKED_MAX];
    size_t asked_count; /* answers that are owed */
};

/* ---- reading */

/* Owe the answer to a request of an older server. In the modern revision a server sends none. */
static void
take_request(struct peer_stream *stream, const struct json_rpc *message)
{
    if (stream->modern)
        return;
    const char *answer =
        stream->asked_count < PEER_STREAM_ASKED_MAX ? peer_answer(stream->op.mem, message) : NULL;
    if (answer == NULL)
        stream->over = true;
    else
        stream->asked[stream->asked_count++] = answer;
}

static bool
take_event(void *arg, const char *text, size_t length)
{
    struct peer_stream *stream = arg;
    struct json_rpc message;
    struct json_rpc_fault fault;
    if (length == 0)
        return true;
    TALLOC_CTX *mem = talloc_new(stream);
    if (mem == NULL || json_rpc_read(mem, text, length, &message, &fault) != AZ_OK)
        stream->over = true;
    else if (message.kind == JSON_RPC_NOTIFICATION)
        stream->hear(stream->arg, &message);
    else if (message.kind == JSON_RPC_REQUEST)
        take_request(stream, &message);
    else
        stream->over = stream->over || stream->modern; /* the result of the subscription */
    talloc_free(mem);
    return !stream->over;
}

static bool
take_octets(void *arg, const void *octets, size_t length)
{
    struct peer_stream *stream = arg;
    if (sse_feed(&stream->sse, octets, length, take_event, stream) != AZ_OK)
        stream->over = true;
    return !stream->over;
}

bool
peer_stream_is_over(const struct peer_stream *stream)
{
    return stream->over || upstream_is_over(stream->transfer);
}

/* ---- opening */

static int
stream_free(struct peer_stream *stream)
{
    if (stream->transfer != NULL)
        upstream_done(stream->transfer);
    sse_done(&stream->sse);
    return 0;
}

/* Describe a request to the server of another one. */
static struct upstream_call
call_of(const struct peer_request *request, const struct peer_envelope *envelope)
{
    return (struct upstream_call){
        .resource = request->resource,
        .secrets = request->secrets,
        .credential = gateway_credential,
        .caller = request->caller,
        .method = envelope->body != NULL ? "POST" : "GET",
        .path = "",
        .query = "",
        .fields = envelope->field,
        .field_count = envelope->fields,
        .body = {.octets = envelope->body, .length = envelope->length},
        .timeout_ms = PEER_STREAM_MS,
    };
}

static enum az_status
begin_stream(struct peer_stream *stream, const struct peer_request *request,
             const struct peer_way *way)
{
    struct op *op = &stream->op;
    struct upstream_answer *answer;
    enum az_status st = way->modern ? peer_write(op->mem, way, &request->message, &stream->envelope)
                                    : peer_write_stream(way, NULL, &stream->envelope);
    if (st != AZ_OK)
        return op_fail(op, st, NULL, "out of memory for a stream of an upstream");
    stream->call = call_of(request, &stream->envelope);
    st = upstream_begin(op, &stream->call, NULL, &stream->transfer, &answer);
    if (st != AZ_OK)
        return st;
    if (answer->status != 200 || strcmp(answer->content_type, "text/event-stream") != 0)
        return op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                       "the upstream of %s gives no stream, HTTP status %d",
                       request->resource->name, answer->status);
    upstream_attend(stream->transfer, &stream->sink);
    return AZ_OK;
}

enum az_status
peer_stream_open(struct op *op, TALLOC_CTX *mem, const struct peer_request *request,
                 const struct peer_way *way, peer_hear_fn *hear, void *arg,
                 struct peer_stream **ret)
{
    struct peer_stream *stream = talloc_zero(mem, struct peer_stream);
    if (stream == NULL)
        return op_no_memory(op);
    stream->op = op_beside(op, stream);
    stream->op.request_id = "none";
    stream->hear = hear;
    stream->arg = arg;
    stream->modern = way->modern;
    stream->sink = (struct upstream_sink){.take = take_octets, .arg = stream};
    sse_init(&stream->sse, stream, EVENT_OCTETS_MAX);
    talloc_set_destructor(stream, stream_free);
    enum az_status st = begin_stream(stream, request, way);
    if (st != AZ_OK) {
        op_fail(op, st, NULL, "%s", stream->op.fault.detail);
        talloc_free(stream);
        return st;
    }
    *ret = stream;
    return AZ_OK;
}

/* ---- answers */

void
peer_stream_answer(struct op *op, struct peer_stream *stream, const struct peer_request *request,
                   const struct peer_way *way)
{
    if (stream->asked_count == 0)
        return;
    const char *answer = stream->asked[--stream->asked_count];
    struct op beside = op_beside(op, talloc_new(op->mem));
    struct peer_envelope envelope;
    struct upstream_transfer *transfer;
    struct upstream_answer *head;
    if (beside.mem != NULL && peer_write_answer(way, answer, &envelope) == AZ_OK) {
        const struct upstream_call call = call_of(request, &envelope);
        if (upstream_begin(&beside, &call, NULL, &transfer, &head) == AZ_OK)
            upstream_done(transfer);
    }
    talloc_free(beside.mem);
    talloc_free((char *) (uintptr_t) answer);
}
