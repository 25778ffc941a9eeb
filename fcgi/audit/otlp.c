#include "config.h"

#include "audit/otlp.h"

#include <string.h>

#define NAMED "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"" PACKAGE_NAME "\"}}"
#define VERSIONED                                                                                  \
    "{\"key\":\"service.version\",\"value\":{\"stringValue\":\"" PACKAGE_VERSION "\"}}"
#define EVENT_NAME "authz.audit"

const char otlp_begin[] =
    "{\"resourceLogs\":[{\"resource\":{\"attributes\":[" NAMED "," VERSIONED
    "]},\"scopeLogs\":[{\"scope\":{\"name\":\"" EVENT_NAME "\"},\"logRecords\":[";
const char otlp_end[] = "]}]}]}";
const char otlp_spans_begin[] =
    "{\"resourceSpans\":[{\"resource\":{\"attributes\":[" NAMED "," VERSIONED
    "]},\"scopeSpans\":[{\"scope\":{\"name\":\"" PACKAGE_NAME "\"},\"spans\":";
const char otlp_spans_end[] = "}]}]}";
const char otlp_truncated[] =
    "{\"severityNumber\":13,\"eventName\":\"" EVENT_NAME
    ".truncated\",\"body\":{\"stringValue\":\"There are more audit rows than were exported\"}}";

/* Return a document that is short enough. */
static json_t *
document(const struct audit_event *event, const char *text)
{
    return event->documents && text != NULL && strlen(text) <= OTLP_DOCUMENT_MAX ? json_string(text)
                                                                                 : NULL;
}

/* Return the octets of a document that is too long. */
static json_t *
document_octets(const struct audit_event *event, const char *text)
{
    return event->documents && text != NULL && strlen(text) > OTLP_DOCUMENT_MAX
               ? json_integer((json_int_t) strlen(text))
               : NULL;
}

static json_t *
input(const struct audit_event *event)
{
    return document(event, event->row->input);
}

static json_t *
input_octets(const struct audit_event *event)
{
    return document_octets(event, event->row->input);
}

static json_t *
decision(const struct audit_event *event)
{
    return document(event, event->row->decision);
}

static json_t *
decision_octets(const struct audit_event *event)
{
    return document_octets(event, event->row->decision);
}

static json_t *
deny_codes(const struct audit_event *event)
{
    return event_outcome_is(event, "allowed") ? NULL : event_codes(event);
}

/* The attributes, by their names in the semantic conventions where those have one. */
/* clang-format off */
static const struct event_member attributes[] = {
    EVENT_COLUMN("client.address", ip),
    EVENT_COLUMN("user_agent.original", user_agent),
    EVENT_COLUMN("http.request.method", method),
    EVENT_COLUMN("http.route", endpoint),
    EVENT_VALUE("http.response.status_code", event_status),
    EVENT_COLUMN("user.id", subject_id),
    EVENT_VALUE("user.name", event_admin),
    EVENT_VALUE("authz.audit_id", event_row_id),
    EVENT_COLUMN("authz.request_id", request_id),
    EVENT_COLUMN("authz.flow_id", flow_id),
    EVENT_VALUE("authz.client_id", event_client),
    EVENT_COLUMN("authz.operation", operation),
    EVENT_COLUMN("authz.outcome", outcome),
    EVENT_VALUE("authz.deny_codes", deny_codes),
    EVENT_VALUE("authz.error", event_error),
    EVENT_VALUE("authz.scope", event_scope_text),
    EVENT_VALUE("authz.resource", event_resource),
    EVENT_VALUE("authz.revision", event_revision),
    EVENT_VALUE("authz.leaf_hash", event_leaf_hash),
    EVENT_VALUE("authz.input", input),
    EVENT_VALUE("authz.input_octets", input_octets),
    EVENT_VALUE("authz.decision", decision),
    EVENT_VALUE("authz.decision_octets", decision_octets),
    EVENT_END,
};

/* Severities by outcome; the last one counts for others. */
static const struct {
    const char *outcome;
    int number;
    const char *text;
} severities[] = {
    {"allowed",  9,  "INFO"},
    {"denied",   13, "WARN"},
    {"rejected", 13, "WARN"},
    {"error",    17, "ERROR"},
};
/* clang-format on */
#define SEVERITIES (sizeof(severities) / sizeof(severities[0]))

/* 64-bit integers are texts in the JSON of Protocol Buffers. */
json_t *
otlp_any_value(json_t *value)
{
    size_t i;
    json_t *item;
    if (json_is_string(value))
        return json_pack("{s:o}", "stringValue", value);
    if (json_is_integer(value)) {
        json_t *any = json_pack("{s:o}", "intValue",
                                json_sprintf("%lld", (long long) json_integer_value(value)));
        json_decref(value);
        return any;
    }
    struct jsonx_build list = {json_array(), false};
    json_array_foreach (value, i, item)
        jsonx_append(&list, otlp_any_value(json_incref(item)));
    json_decref(value);
    if (list.lost) {
        json_decref(list.value);
        return NULL;
    }
    return json_pack("{s:{s:o}}", "arrayValue", "values", list.value);
}

/* Return the text of the record: what was asked, and what came of it. */
static const char *
body(const struct audit_event *event)
{
    const struct audit_row *row = event->row;
    json_t *codes = event_codes_text(event);
    const char *why = json_string_value(codes);
    if (event_outcome_is(event, "allowed"))
        why = NULL;
    char *text = talloc_asprintf(
        event->mem, "%s%s%s %s%s%s", row->method != NULL ? row->method : "",
        row->method != NULL ? " " : "", row->endpoint != NULL ? row->endpoint : "",
        row->outcome != NULL ? row->outcome : "", why != NULL ? " " : "", why != NULL ? why : "");
    json_decref(codes);
    return text;
}

/* Return the time in nanoseconds; 0, which is "unknown", for one before 1970. */
static json_t *
time_ns(const struct audit_event *event)
{
    return event->time_ms > 0 ? json_sprintf("%lld000000", (long long) event->time_ms)
                              : json_string("0");
}

char *
otlp_record_text(const struct audit_event *event)
{
    size_t at = 0;
    while (at < SEVERITIES - 1 && !event_outcome_is(event, severities[at].outcome))
        at++;
    struct jsonx_build list = {json_array(), false};
    for (const struct event_member *member = attributes; member->path != NULL; member++) {
        json_t *value = event_value(event, member);
        if (value != NULL)
            jsonx_append(
                &list, json_pack("{s:s,s:o}", "key", member->path, "value", otlp_any_value(value)));
    }
    json_t *record = jsonx_own(
        event->mem,
        json_pack("{s:o,s:i,s:s,s:s,s:{s:s},s:o}", "timeUnixNano", time_ns(event), "severityNumber",
                  severities[at].number, "severityText", severities[at].text, "eventName",
                  EVENT_NAME, "body", "stringValue", body(event), "attributes", list.value));
    return record != NULL && !list.lost ? jsonx_dump(event->mem, record) : NULL;
}
