/*
 * The spans of the request in hand (decisions.md "Traces"): a few requests are chosen, their spans
 * are kept in the process, and go to the process that sends them after the answer. Nothing here
 * waits: what the queue does not take is dropped and counted. The parent of --workers makes the
 * way, if SVC_TRACES_URL is set; in other processes the tracer is NULL, and nothing is done.
 */
#ifndef AZ_TRACE_TRACE_H
#define AZ_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

struct metrics;
struct tracer;

/* Octets of the ids of a trace and of a span (W3C Trace Context 3.2.2). */
#define TRACE_ID_OCTETS 16
#define TRACE_SPAN_ID_OCTETS 8
/* Octets of a traceparent with its NUL. */
#define TRACE_PARENT_SIZE 56
/* The header field of it. */
#define TRACE_FIELD "traceparent"
/* Octets of a tracestate that is passed on (W3C Trace Context 3.3.1.5 asks for at least as many).
 */
#define TRACE_STATE_MAX 512

/* Spans of one request: a /token has four, a call of a tool some ten. Further ones are counted. */
#define TRACE_SPANS_MAX 32
/* Octets of a text of a span; longer ones are cut off. Names of statements have at most 40. */
#define TRACE_TEXT_MAX 64

/* The span of trace_open() where none is kept. */
#define TRACE_NONE (-1)

enum trace_kind {
    TRACE_REQUEST,  /* name: method; place: pattern of the route */
    TRACE_DECISION, /* name: entrypoint; place: engine */
    TRACE_SQL,      /* name: statement; number: statements of the trip */
    TRACE_UPSTREAM, /* name: method; place: host; number: status of HTTP */
};

/* The facts of a span that are known at its end. The texts are those of our tables and of
 * administrators: nothing that a caller sends is among them. */
struct trace_facts {
    const char *name, *place; /* NULL: unknown */
    int number, port;         /* 0: unknown */
    bool failed;
};

struct trace_span {
    unsigned char id[TRACE_SPAN_ID_OCTETS], parent[TRACE_SPAN_ID_OCTETS]; /* parent may be 0 */
    int64_t start_us;                                                     /* since 1970 */
    int64_t us;
    int32_t number, port;
    uint8_t kind, failed;
    char name[TRACE_TEXT_MAX], place[TRACE_TEXT_MAX];
};

/* A trace as it arrives: the spans of one request, that of the request first. */
struct trace {
    unsigned char id[TRACE_ID_OCTETS];
    uint32_t count;
    uint32_t left_out; /* spans beyond TRACE_SPANS_MAX */
    struct trace_span span[TRACE_SPANS_MAX];
};

/* True if a text is a traceparent (W3C Trace Context 3.2): version 00, and ids that are not zero.
 */
bool trace_parent_is_good(const char *text);

/* Return the method as it stands in a span: one that is not known is "_OTHER". */
const char *trace_method(const char *method);

/* Make the way: a queue that processes forked later share. One request in `rate` is chosen. NULL:
 * it cannot be made. */
struct tracer *tracer_new(TALLOC_CTX *mem, int64_t rate);

/* Begin a request, and choose if its spans are kept: whatever the caller's traceparent says, so
 * that it decides of no cost. A good one names the trace; another one, or NULL, begins a new trace.
 */
void trace_begin(struct tracer *tracer, const char *parent);

/* Open a span below the one that is open. TRACE_NONE: it is not kept. */
int trace_open(struct tracer *tracer, enum trace_kind kind);

/* Close it; nothing for TRACE_NONE. */
void trace_close(struct tracer *tracer, int span, const struct trace_facts *facts);

/* Return the traceparent for a server that is asked now, which lives until the next call; NULL: the
 * request is not chosen, and what the caller sent may be passed on. */
const char *trace_parent(struct tracer *tracer);

/* End the request, and send its spans: call this after the answer. */
void trace_end(struct tracer *tracer, struct metrics *metrics, const struct trace_facts *facts);

/* Wait for a trace, at most so many milliseconds. */
bool trace_receive(struct tracer *tracer, int ms, struct trace *ret);

/* Count a trace in svc_traces_total: sent, dropped or failed. */
void trace_count(struct metrics *metrics, const char *result);

#endif
