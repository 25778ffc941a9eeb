#include "config.h"

#include "gateway/relay/relay_stream.h"

#include <errno.h>
#include <fastcgi.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Octets of the records around events: three heads, and the body of the end of a request. */
#define RECORDS_OCTETS (3 * FCGI_HEADER_LEN + sizeof(FCGI_EndRequestBody))

static int
stream_free(struct relay_stream *stream)
{
    close(stream->connection);
    if (stream->reply >= 0)
        close(stream->reply);
    return 0;
}

struct relay_stream *
relay_stream_new(TALLOC_CTX *mem, const struct relay_hold *hold, int connection, int reply)
{
    struct relay_stream *stream = talloc_zero(mem, struct relay_stream);
    bool whole = stream != NULL;
    if (whole) {
        stream->hold = *hold;
        for (size_t i = 0; whole && i < RELAY_TEXTS; i++)
            whole = (stream->hold.text[i] = talloc_strdup(stream, hold->text[i])) != NULL;
    }
    if (!whole) {
        talloc_free(stream);
        close(connection);
        close(reply);
        return NULL;
    }
    stream->connection = connection;
    stream->reply = reply;
    talloc_set_destructor(stream, stream_free);
    return stream;
}

/* ---- reading */

/* Note a record whose head is there. */
static void
take_head(struct relay_stream *stream)
{
    const FCGI_Header *head = (const FCGI_Header *) stream->head;
    if (head->version != FCGI_VERSION_1)
        stream->ended = "malformed";
    else if (head->type == FCGI_ABORT_REQUEST)
        stream->ended = "client_left";
    stream->skip =
        ((size_t) head->contentLengthB1 << 8) + head->contentLengthB0 + head->paddingLength;
    stream->head_length = 0;
}

/* Take octets of records. None of them but an abort says anything: the request was read before. */
static void
take_octets(struct relay_stream *stream, const unsigned char *octets, size_t length)
{
    while (length > 0 && stream->ended == NULL) {
        size_t wanted =
            stream->skip > 0 ? stream->skip : sizeof(stream->head) - stream->head_length;
        size_t taken = wanted < length ? wanted : length;
        if (stream->skip > 0) {
            stream->skip -= taken;
        } else {
            memcpy(stream->head + stream->head_length, octets, taken);
            stream->head_length += taken;
            if (stream->head_length == sizeof(stream->head))
                take_head(stream);
        }
        octets += taken;
        length -= taken;
    }
}

void
relay_stream_read(struct relay_stream *stream)
{
    unsigned char octets[1024];
    while (stream->ended == NULL) {
        ssize_t got = recv(stream->connection, octets, sizeof(octets), MSG_DONTWAIT);
        if (got > 0)
            take_octets(stream, octets, (size_t) got);
        else if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        else
            stream->ended = "client_left";
    }
}

/* ---- writing */

/* Keep octets until the socket takes them. */
static void
keep_unsent(struct relay_stream *stream, const char *octets, size_t length)
{
    if (length > RELAY_UNSENT_MAX - stream->unsent_length) {
        stream->ended = "slow_reader";
        return;
    }
    char *more = talloc_realloc_size(stream, stream->unsent, stream->unsent_length + length);
    if (more == NULL) {
        stream->ended = "no_memory";
        return;
    }
    memcpy(more + stream->unsent_length, octets, length);
    stream->unsent = more;
    stream->unsent_length += length;
}

/* Send octets, and return how many the socket took. */
static size_t
send_some(struct relay_stream *stream, const char *octets, size_t length)
{
    ssize_t put = send(stream->connection, octets, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0)
        return (size_t) put;
    if (errno != EAGAIN && errno != EINTR)
        stream->ended = "client_left";
    return 0;
}

static void
send_octets(struct relay_stream *stream, const char *octets, size_t length)
{
    size_t put = stream->unsent_length == 0 ? send_some(stream, octets, length) : 0;
    if (stream->ended == NULL && put < length)
        keep_unsent(stream, octets + put, length - put);
}

void
relay_stream_flush(struct relay_stream *stream)
{
    size_t put = send_some(stream, stream->unsent, stream->unsent_length);
    stream->unsent_length -= put;
    if (stream->unsent_length == 0)
        TALLOC_FREE(stream->unsent);
    else
        memmove(stream->unsent, stream->unsent + put, stream->unsent_length);
}

static FCGI_Header
record_head(const struct relay_stream *stream, int type, size_t length)
{
    unsigned request = stream->hold.request;
    return (FCGI_Header){
        .version = FCGI_VERSION_1,
        .type = (unsigned char) type,
        .requestIdB1 = (unsigned char) (request >> 8),
        .requestIdB0 = (unsigned char) request,
        .contentLengthB1 = (unsigned char) (length >> 8),
        .contentLengthB0 = (unsigned char) length,
    };
}

/* Write a text as a record of the answer, and with `last` the end of the request behind it. Return
 * the octets; the texts of a stream are within RELAY_MESSAGE_MAX, and so within a record. */
static size_t
write_records(const struct relay_stream *stream, const char *text, bool last, char *room)
{
    size_t length = strlen(text), used = sizeof(FCGI_Header) + length;
    FCGI_Header head = record_head(stream, FCGI_STDOUT, length);
    FCGI_EndRequestBody body = {.protocolStatus = FCGI_REQUEST_COMPLETE};
    memcpy(room, &head, sizeof(head));
    memcpy(room + sizeof(head), text, length);
    if (!last)
        return used;
    head = record_head(stream, FCGI_STDOUT, 0);
    memcpy(room + used, &head, sizeof(head));
    used += sizeof(head);
    head = record_head(stream, FCGI_END_REQUEST, sizeof(body));
    memcpy(room + used, &head, sizeof(head));
    memcpy(room + used + sizeof(head), &body, sizeof(body));
    return used + sizeof(head) + sizeof(body);
}

void
relay_stream_send(struct relay_stream *stream, const char *events, int64_t now_ms)
{
    char room[RELAY_MESSAGE_MAX + RECORDS_OCTETS];
    stream->written_ms = now_ms;
    send_octets(stream, room, write_records(stream, events, false, room));
}

void
relay_stream_update(struct relay_stream *stream, int64_t now_ms)
{
    char event[RELAY_UPDATES_MAX + 1];
    const char *at = stream->hold.text[RELAY_EVENTS_UPDATED], *end;
    for (size_t i = 0; i < stream->hold.uris && (end = strstr(at, "\n\n")) != NULL; i++) {
        size_t length = (size_t) (end - at) + strlen("\n\n");
        if ((stream->due_uris & (uint64_t) 1 << i) != 0 && stream->ended == NULL
            && length < sizeof(event)) {
            memcpy(event, at, length);
            event[length] = '\0';
            relay_stream_send(stream, event, now_ms);
        }
        at += length;
    }
    stream->due_uris = 0;
}

void
relay_stream_end(struct relay_stream *stream, const char *why, int64_t now_ms)
{
    char room[RELAY_MESSAGE_MAX + RECORDS_OCTETS];
    stream->written_ms = now_ms;
    send_octets(stream, room, write_records(stream, stream->hold.text[RELAY_LAST], true, room));
    stream->ended = why;
}
