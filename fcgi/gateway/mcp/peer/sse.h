/* Reader of server-sent events (WHATWG HTML 9.2.6), fed with octets as they come. The data of
 * events is kept, and what a reader needs who comes back after the stream ended: the id of the last
 * event, and the time to wait. Names are passed over. */
#ifndef AZ_GATEWAY_MCP_PEER_SSE_H
#define AZ_GATEWAY_MCP_PEER_SSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Events of one stream, comments not counted. An upstream may send progress for as long as the
 * call lasts; ten a second for the longest response time-out are far fewer. */
#define SSE_EVENTS_MAX 10000

/* Octets of the id of an event that is kept; an id that is longer, or that a header field cannot
 * carry, is ignored. */
#define SSE_ID_MAX 512
/* Longest time to wait, in milliseconds: one that is longer is this one. */
#define SSE_RETRY_MAX 30000

struct sse {
    struct buf line; /* the line so far */
    struct buf data; /* the data of the event so far */
    size_t events;   /* seen */
    bool after_cr;   /* the last octet was a CR: a LF after it is of the same line end */
    bool begun;      /* the first line is read: no byte order mark comes any more */
    bool has_data;   /* the event has a field `data`, maybe empty */
    char next_id[SSE_ID_MAX + 1]; /* id of the current event, and of later events without an id */
    char id[SSE_ID_MAX + 1];      /* of the last complete event; "" without an id */
    int retry_ms;                 /* -1: the stream names none */
};

/* Called for the data of each event; NUL-terminated, freed after the call. Return false to stop
 * reading. */
typedef bool sse_event_fn(void *arg, const char *data, size_t len);

/* Start. An event may have max octets of data, and a line may be as long. */
void sse_init(struct sse *sse, TALLOC_CTX *mem, size_t max);
void sse_done(struct sse *sse);

/*
 * Feed octets. AZ_OK: all are read. AZ_RETRY: `event` returned false. AZ_INVALID: a line or an
 * event is longer than the maximum, or there are more than SSE_EVENTS_MAX. AZ_SERVER_ERROR: out of
 * memory. An event that the stream leaves without its empty line does not count.
 */
enum az_status sse_feed(struct sse *sse, const char *octets, size_t len, sse_event_fn *event,
                        void *arg);

#endif
