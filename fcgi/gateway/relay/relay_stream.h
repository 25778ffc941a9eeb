/* A stream that the relay holds: the octets on its FastCGI connection (FastCGI 1.0 sections 3.3 and
 * 5), which it reads and writes without waiting. */
#ifndef AZ_GATEWAY_RELAY_RELAY_STREAM_H
#define AZ_GATEWAY_RELAY_RELAY_STREAM_H

#include "gateway/relay/relay.h"

/* Most octets that a reader may leave unread beyond what the socket takes, before its stream ends:
 * many events, which are a few hundred octets each. */
#define RELAY_UNSENT_MAX (16 << 10)

struct relay_stream {
    struct relay_hold hold; /* its texts are owned by the stream */
    int connection;         /* to the web server */
    int reply;              /* to the worker, until it says that the relay may begin; then -1 */
    const char *ended;      /* why it is over, for the audit row; NULL: it goes on */
    int64_t began_ms, written_ms, sent_ms; /* monotonic */
    unsigned due;                          /* topics whose events are to be sent */
    uint64_t due_uris;                     /* URIs whose events are to be sent, as bits */
    int64_t ends_ms;      /* when it ends, because its URIs must be decided anew; 0: it goes on */
    const char *ends_why; /* of that end */
    char *unsent;         /* octets that the socket did not take */
    size_t unsent_length;
    bool waits;            /* epoll says when the socket takes octets again */
    unsigned char head[8]; /* of the record that is read */
    size_t head_length;    /* octets of it that are there */
    size_t skip;           /* octets of its content that are still to be read */
};

/* Make a stream of what was handed over. The descriptors are closed when it is freed; what was
 * handed over is still the worker's if it has not begun. NULL: no memory; they are closed. */
struct relay_stream *relay_stream_new(TALLOC_CTX *mem, const struct relay_hold *hold,
                                      int connection, int reply);

/* Read what the web server sends: the stream is over if it closes the connection or aborts the
 * request. */
void relay_stream_read(struct relay_stream *stream);

/* Send events; what the socket does not take is kept, and with more than RELAY_UNSENT_MAX the
 * stream is over. */
void relay_stream_send(struct relay_stream *stream, const char *events, int64_t now_ms);

/* Send the events of the URIs that are due. */
void relay_stream_update(struct relay_stream *stream, int64_t now_ms);

/* Send what was kept. */
void relay_stream_flush(struct relay_stream *stream);

/* Send the last events and the end of the request, and note why. If the socket does not take all of
 * it, the reader learns by the end of the connection that the answer is not complete. */
void relay_stream_end(struct relay_stream *stream, const char *why, int64_t now_ms);

#endif
