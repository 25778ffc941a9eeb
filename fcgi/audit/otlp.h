/* Audit rows as log records of OpenTelemetry, in the JSON form of OTLP 1 (opentelemetry-proto,
 * ExportLogsServiceRequest). */
#ifndef AZ_AUDIT_OTLP_H
#define AZ_AUDIT_OTLP_H

#include "audit/event.h"

/* Begin and end of the object around the records, which commas separate. */
extern const char otlp_begin[], otlp_end[];

/* The same around the spans of traces, which are an array. */
extern const char otlp_spans_begin[], otlp_spans_end[];

/* A record that says that a list is not complete. */
extern const char otlp_truncated[];

/* Octets of a document that a record has; of a longer one it has the length. Collectors cut off
 * longer values. */
#define OTLP_DOCUMENT_MAX 8192

/* Return a value as AnyValue, and drop the reference to it: a text, an integer, or an array of
 * texts. NULL: out of memory. */
json_t *otlp_any_value(json_t *value);

/* Return a record as JSON text without a line feed, on the event's memory; NULL: out of memory. */
char *otlp_record_text(const struct audit_event *event);

#endif
