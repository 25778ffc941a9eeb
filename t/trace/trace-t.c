/* Spans of a request: the traceparent, their tree, their limits and their way (W3C Trace Context;
 * decisions.md "Traces"). */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "trace/trace.h"

#define PARENT "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
#define PARENT_TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-"

/* More traces than the kernel's queue of a socket takes. */
#define FLOOD 20000

static void
test_parent(void)
{
    static const char *const bad[] = {
        "",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736x00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(!trace_parent_is_good(bad[i]), "no traceparent: %s", bad[i]);
    ok(trace_parent_is_good(PARENT), "a traceparent (W3C Trace Context 3.2)");
    is_str(trace_method("POST"), "POST", "a method that is known");
    is_str(trace_method("BREW"), "_OTHER", "... and one that is not");
    is_str(trace_method(NULL), "_OTHER", "... and none");
}

static const struct trace_facts ended = {.name = "GET", .place = "/x", .number = 200};

static void
test_tree(TALLOC_CTX *mem)
{
    struct trace got;
    struct tracer *tracer = tracer_new(mem, 1);
    ok(trace_parent(tracer) == NULL, "outside a request there is no traceparent");
    is_int(trace_open(tracer, TRACE_SQL), TRACE_NONE, "... and no span");
    trace_begin(tracer, PARENT);
    int outer = trace_open(tracer, TRACE_DECISION), inner = trace_open(tracer, TRACE_SQL);
    ok(strncmp(trace_parent(tracer), PARENT_TRACE, strlen(PARENT_TRACE)) == 0
           && trace_parent_is_good(trace_parent(tracer)),
       "a server that is asked gets the trace of the caller");
    trace_close(tracer, inner, &ended);
    trace_close(tracer, outer, &ended);
    int next = trace_open(tracer, TRACE_UPSTREAM);
    trace_close(tracer, next, &(struct trace_facts){.failed = true});
    ok(!trace_receive(tracer, 0, &got), "nothing is sent before the end");
    trace_end(tracer, NULL, &ended);
    ok(trace_receive(tracer, 0, &got), "at the end the trace arrives");
    is_int(got.count, 4, "... with all spans");
    ok(memcmp(got.span[0].parent, "\x00\xf0\x67\xaa\x0b\xa9\x02\xb7", 8) == 0,
       "the request is below the span of the caller");
    ok(memcmp(got.span[1].parent, got.span[0].id, 8) == 0, "a decision below the request");
    ok(memcmp(got.span[2].parent, got.span[1].id, 8) == 0, "what it opens below the decision");
    ok(memcmp(got.span[3].parent, got.span[0].id, 8) == 0, "... and what comes later is not");
    ok(got.span[3].failed && *got.span[3].name == '\0', "a failure without facts");
    trace_begin(tracer, "malformed");
    trace_end(tracer, NULL, &ended);
    ok(trace_receive(tracer, 0, &got) && memcmp(got.span[0].parent, "\0\0\0\0\0\0\0\0", 8) == 0,
       "a malformed traceparent begins a new trace");
    talloc_free(tracer);
}

static void
test_limits(TALLOC_CTX *mem)
{
    struct trace got;
    struct tracer *tracer = tracer_new(mem, 1), *never = tracer_new(mem, INT64_MAX);
    char longer[2 * TRACE_TEXT_MAX];
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    trace_begin(tracer, NULL);
    for (int i = 1; i < TRACE_SPANS_MAX; i++)
        trace_close(tracer, trace_open(tracer, TRACE_SQL), &(struct trace_facts){.name = longer});
    is_int(trace_open(tracer, TRACE_SQL), TRACE_NONE, "one span past TRACE_SPANS_MAX is not kept");
    trace_close(tracer, TRACE_NONE, &ended);
    trace_end(tracer, NULL, &ended);
    ok(trace_receive(tracer, 0, &got), "a trace at the limit arrives");
    is_int(got.count, TRACE_SPANS_MAX, "... with as many spans");
    is_int(got.left_out, 1, "... and counts the other one");
    is_int((int64_t) strlen(got.span[1].name), TRACE_TEXT_MAX - 1, "a longer text is cut off");
    for (int i = 0; i < FLOOD; i++) {
        trace_begin(tracer, NULL);
        trace_end(tracer, NULL, &ended);
    }
    int arrived = 0;
    while (trace_receive(tracer, 0, &got))
        arrived++;
    ok(arrived > 0 && arrived < FLOOD, "a full queue drops, and nothing waits");
    trace_begin(never, PARENT "1");
    trace_begin(never, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    ok(trace_parent(never) == NULL, "the caller's sampled flag chooses nothing");
    trace_end(never, NULL, &ended);
    ok(!trace_receive(never, 0, &got), "... and nothing is sent");
    trace_begin(NULL, PARENT);
    is_int(trace_open(NULL, TRACE_SQL), TRACE_NONE, "without a tracer nothing is done");
    trace_end(NULL, NULL, &ended);
    talloc_free(tracer);
    talloc_free(never);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_parent();
    test_tree(mem);
    test_limits(mem);
    talloc_free(mem);
    return done();
}
