#include "config.h"

#include "trace/trace.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "crypto/random.h"
#include "host/post.h"
#include "metrics/metrics.h"

/* Places of the ids in a traceparent. */
#define PARENT_TRACE 3
#define PARENT_SPAN 36
#define PARENT_FLAGS 53

struct tracer {
    struct post *queue;
    int64_t rate;
    bool chosen;      /* the request in hand is */
    int open;         /* the innermost span */
    int64_t shift_us; /* from the monotonic clock to the time of day */
    int before[TRACE_SPANS_MAX];
    struct trace trace;
    char parent[TRACE_PARENT_SIZE];
};

struct tracer *
tracer_new(TALLOC_CTX *mem, int64_t rate)
{
    struct tracer *tracer = talloc_zero(mem, struct tracer);
    if (tracer == NULL || (tracer->queue = post_new(tracer)) == NULL) {
        talloc_free(tracer);
        return NULL;
    }
    tracer->rate = rate;
    return tracer;
}

/* ---- texts */

static bool
is_hex_id(const char *text, size_t length)
{
    return strspn(text, "0123456789abcdef") >= length && strspn(text, "0") < length;
}

/*
 *   traceparent = "00" "-" 32HEXDIGLC "-" 16HEXDIGLC "-" 2HEXDIGLC
 */
bool
trace_parent_is_good(const char *text)
{
    return strlen(text) == TRACE_PARENT_SIZE - 1 && strncmp(text, "00-", PARENT_TRACE) == 0
           && is_hex_id(text + PARENT_TRACE, (size_t) 2 * TRACE_ID_OCTETS)
           && text[PARENT_SPAN - 1] == '-'
           && is_hex_id(text + PARENT_SPAN, (size_t) 2 * TRACE_SPAN_ID_OCTETS)
           && text[PARENT_FLAGS - 1] == '-' && strspn(text + PARENT_FLAGS, "0123456789abcdef") == 2;
}

const char *
trace_method(const char *method)
{
    static const char *const known[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
    for (size_t i = 0; method != NULL && i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(method, known[i]) == 0)
            return known[i];
    return "_OTHER";
}

/* Read hex digits that trace_parent_is_good() has seen. */
static void
read_hex(const char *text, unsigned char *ret, size_t octets)
{
    for (size_t i = 0; i < 2 * octets; i++) {
        unsigned digit = (unsigned) (text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
        ret[i / 2] = (unsigned char) (i % 2 == 0 ? digit << 4 : ret[i / 2] | digit);
    }
}

static char *
write_hex(char *at, const unsigned char *octets, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        *at++ = digits[octets[i] >> 4];
        *at++ = digits[octets[i] & 15];
    }
    return at;
}

const char *
trace_parent(struct tracer *tracer)
{
    if (tracer == NULL || !tracer->chosen)
        return NULL;
    char *at = stpcpy(tracer->parent, "00-");
    at = write_hex(at, tracer->trace.id, TRACE_ID_OCTETS);
    *at++ = '-';
    at = write_hex(at, tracer->trace.span[tracer->open].id, TRACE_SPAN_ID_OCTETS);
    strcpy(at, "-01");
    return tracer->parent;
}

/* ---- the request in hand */

void
trace_begin(struct tracer *tracer, const char *parent)
{
    struct timespec now;
    if (tracer == NULL)
        return;
    tracer->chosen = random_one_in(tracer->rate);
    if (!tracer->chosen)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    tracer->shift_us = (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000 - clock_monotonic_us();
    tracer->trace.count = 0;
    tracer->trace.left_out = 0;
    tracer->open = TRACE_NONE;
    bool given = parent != NULL && trace_parent_is_good(parent);
    if (given)
        read_hex(parent + PARENT_TRACE, tracer->trace.id, TRACE_ID_OCTETS);
    else if (random_nonce(tracer->trace.id, TRACE_ID_OCTETS) != AZ_OK)
        tracer->chosen = false;
    trace_open(tracer, TRACE_REQUEST);
    if (given && tracer->chosen)
        read_hex(parent + PARENT_SPAN, tracer->trace.span[0].parent, TRACE_SPAN_ID_OCTETS);
}

int
trace_open(struct tracer *tracer, enum trace_kind kind)
{
    if (tracer == NULL || !tracer->chosen)
        return TRACE_NONE;
    struct trace *trace = &tracer->trace;
    if (trace->count == TRACE_SPANS_MAX) {
        trace->left_out++;
        return TRACE_NONE;
    }
    int at = (int) trace->count++;
    struct trace_span *span = &trace->span[at];
    *span = (struct trace_span){
        .kind = (uint8_t) kind, .us = -1, .start_us = clock_monotonic_us() + tracer->shift_us};
    if (random_nonce(span->id, sizeof(span->id)) != AZ_OK)
        tracer->chosen = false;
    if (tracer->open != TRACE_NONE)
        memcpy(span->parent, trace->span[tracer->open].id, sizeof(span->parent));
    tracer->before[at] = tracer->open;
    tracer->open = at;
    return at;
}

static void
put_text(char room[TRACE_TEXT_MAX], const char *text)
{
    utf8_print(room, TRACE_TEXT_MAX, "%s", text != NULL ? text : "");
}

void
trace_close(struct tracer *tracer, int span, const struct trace_facts *facts)
{
    if (span == TRACE_NONE)
        return;
    struct trace_span *closed = &tracer->trace.span[span];
    closed->us = clock_monotonic_us() + tracer->shift_us - closed->start_us;
    closed->number = facts->number;
    closed->port = facts->port;
    closed->failed = facts->failed;
    put_text(closed->name, facts->name);
    put_text(closed->place, facts->place);
    tracer->open = tracer->before[span];
}

void
trace_count(struct metrics *metrics, const char *result)
{
    const char *const values[] = {result};
    metrics_add(metrics, METRIC_TRACES, 0, values);
}

void
trace_end(struct tracer *tracer, struct metrics *metrics, const struct trace_facts *facts)
{
    if (tracer == NULL || !tracer->chosen)
        return;
    const struct trace *trace = &tracer->trace;
    size_t length = offsetof(struct trace, span) + trace->count * sizeof(trace->span[0]);
    trace_close(tracer, 0, facts);
    tracer->chosen = false;
    if (!post_send(tracer->queue, trace, length, NULL, 0))
        trace_count(metrics, "dropped");
}

bool
trace_receive(struct tracer *tracer, int ms, struct trace *ret)
{
    ssize_t got = post_wait(tracer->queue, ms, ret, sizeof(*ret));
    return got >= (ssize_t) offsetof(struct trace, span) && ret->count <= TRACE_SPANS_MAX
           && (size_t) got == offsetof(struct trace, span) + ret->count * sizeof(ret->span[0]);
}
