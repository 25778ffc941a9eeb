#include "config.h"

#include "audit/traces.h"

#include <string.h>

#include "audit/otlp.h"
#include "audit/send.h"
#include "base/background.h"
#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "trace/trace.h"

/* Data and stack of the process, in octets: a batch with its text takes a tenth of it. */
#define SERVE_MEMORY ((size_t) 128 << 20)
/* Time for which a batch is gathered, and between two lines in the log about a collector that does
 * not answer. Milliseconds. */
#define GATHER_MS 1000
#define COMPLAIN_MS 60000

/* Kinds of spans and codes of status (opentelemetry-proto, trace.proto). */
enum { KIND_INTERNAL = 1, KIND_SERVER = 2, KIND_CLIENT = 3 };
enum { STATUS_ERROR = 2 };

/* Span attributes by kind, under the names of the semantic conventions where those have one. */
/* clang-format off */
static const struct {
    int kind;
    const char *name, *place, *number, *port; /* attributes, or NULL */
    const char *text, *text_value;            /* an attribute that each span has, or NULL */
} forms[] = {
    [TRACE_REQUEST] =  {KIND_SERVER,   "http.request.method",     "http.route",
                        "http.response.status_code", NULL,          NULL,             NULL},
    [TRACE_DECISION] = {KIND_INTERNAL, "authz.policy.entrypoint", "authz.policy.engine", NULL,
                        NULL,          NULL,             NULL},
    [TRACE_SQL] =      {KIND_CLIENT,   "db.query.summary",        NULL,
                        "db.operation.batch.size",   NULL,          "db.system.name", "postgresql"},
    [TRACE_UPSTREAM] = {KIND_CLIENT,   "http.request.method",     "server.address",
                        "http.response.status_code", "server.port", NULL,             NULL},
};
/* clang-format on */
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static void
put_attribute(struct jsonx_build *list, const char *key, json_t *value)
{
    if (key == NULL)
        json_decref(value);
    else
        jsonx_append(list, json_pack("{s:s,s:o}", "key", key, "value", otlp_any_value(value)));
}

static json_t *
attributes_of(const struct trace_span *span, uint32_t left_out)
{
    struct jsonx_build list = {json_array(), false};
    const char *fixed = forms[span->kind].text_value;
    if (fixed != NULL)
        put_attribute(&list, forms[span->kind].text, json_string(fixed));
    if (*span->name != '\0')
        put_attribute(&list, forms[span->kind].name, json_string(span->name));
    if (*span->place != '\0')
        put_attribute(&list, forms[span->kind].place, json_string(span->place));
    if (span->number > 0)
        put_attribute(&list, forms[span->kind].number, json_integer(span->number));
    if (span->port > 0)
        put_attribute(&list, forms[span->kind].port, json_integer(span->port));
    if (left_out > 0)
        put_attribute(&list, "authz.spans_left_out", json_integer(left_out));
    if (!list.lost)
        return list.value;
    json_decref(list.value);
    return NULL;
}

static json_t *
hex_of(const unsigned char *octets, size_t length)
{
    static const unsigned char none[TRACE_ID_OCTETS];
    char text[2 * TRACE_ID_OCTETS + 1];
    for (size_t i = 0; i < length; i++)
        snprintf(text + 2 * i, 3, "%02x", octets[i]);
    return memcmp(octets, none, length) != 0 ? json_string(text) : NULL;
}

/* Return the name of a span: of the request "POST /token", else its own. */
static json_t *
name_of(const struct trace_span *span)
{
    return span->kind == TRACE_REQUEST && *span->place != '\0'
               ? json_sprintf("%s %s", span->name, span->place)
               : json_string(*span->name != '\0' ? span->name : "unfinished");
}

static json_t *
span_json(const struct trace *trace, const struct trace_span *span)
{
    int64_t end = span->start_us + (span->us > 0 ? span->us : 0);
    if (span->kind >= FORMS)
        return NULL;
    return json_pack("{s:o,s:o,s:o*,s:o,s:i,s:o,s:o,s:o,s:o*}", "traceId",
                     hex_of(trace->id, sizeof(trace->id)), "spanId",
                     hex_of(span->id, sizeof(span->id)), "parentSpanId",
                     hex_of(span->parent, sizeof(span->parent)), "name", name_of(span), "kind",
                     forms[span->kind].kind, "startTimeUnixNano",
                     json_sprintf("%lld000", (long long) span->start_us), "endTimeUnixNano",
                     json_sprintf("%lld000", (long long) end), "attributes",
                     attributes_of(span, span == trace->span ? trace->left_out : 0), "status",
                     span->failed ? json_pack("{s:i}", "code", STATUS_ERROR) : NULL);
}

/* ---- the process */

struct serving {
    struct op *op;
    int64_t complained_ms; /* clock_monotonic_ms() of the last line, or 0 */
};

static void
complain(struct serving *serving, const char *why)
{
    int64_t now = clock_monotonic_ms();
    if (serving->complained_ms != 0 && now - serving->complained_ms < COMPLAIN_MS)
        return;
    serving->complained_ms = now;
    log_text(AZ_SEV_WARN, "traces not taken", "%s", why);
}

/* Gather the traces of a second, or a full batch, as spans. Return how many there are. */
static size_t
gather(struct op *step, struct jsonx_build *spans, int gather_ms)
{
    struct trace trace;
    size_t count = 0;
    int64_t until = clock_monotonic_ms() + gather_ms;
    for (int64_t left = gather_ms; count < TRACES_BATCH && left >= 0;
         left = until - clock_monotonic_ms()) {
        if (!trace_receive(step->az->tracer, (int) left, &trace)) {
            if (gather_ms == 0 || *step->az->stopping)
                break;
            continue;
        }
        for (uint32_t i = 0; i < trace.count; i++)
            jsonx_append(spans, span_json(&trace, &trace.span[i]));
        count++;
    }
    return count;
}

/* Send what there is. */
static void
send_some(struct serving *serving, int gather_ms)
{
    struct op step = op_beside(serving->op, talloc_new(serving->op->mem));
    const struct settings *cfg = step.az->cfg;
    struct jsonx_build spans = {jsonx_own(step.mem, json_array()), false};
    struct sent sent = {.outcome = SEND_LATER, .error = "out of memory for a batch of traces"};
    size_t length, count = gather(&step, &spans, gather_ms);
    const char *body =
        count > 0 && !spans.lost
            ? jsonx_dump_around(step.mem, otlp_spans_begin, spans.value, otlp_spans_end, &length)
            : NULL;
    if (body != NULL) {
        const struct fetch_request request = {.url = cfg->traces_url, .json = body};
        sent = send_post(&step, "SVC_TRACES_URL", &request, NULL);
    }
    for (size_t i = 0; i < count; i++)
        trace_count(step.az->metrics, sent.outcome == SEND_TAKEN ? "sent" : "failed");
    if (count > 0 && sent.outcome != SEND_TAKEN)
        complain(serving, sent.error);
    talloc_free(step.mem);
}

void
traces_serve(struct op *op)
{
    struct serving serving = {.op = op};
    background_begin("authz-traces", SERVE_MEMORY);
    while (!*op->az->stopping)
        send_some(&serving, GATHER_MS);
    send_some(&serving, 0); /* of the last requests */
}
