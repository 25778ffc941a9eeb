/* An audit row as an event for programs that collect logs: the facts that OCSF (ocsf.h) and
 * OpenTelemetry (otlp.h) have places for (decisions.md "Audit events"). */
#ifndef AZ_AUDIT_EVENT_H
#define AZ_AUDIT_EVENT_H

#include <jansson.h>
#include <stddef.h>

#include "base/json/jsonx.h"
#include "store/audit/read/rows.h"

/* Octets of the text of one event: its row may have two documents of 1 MiB, each octet of which may
 * be escaped. */
#define AUDIT_EVENT_MAX (16 << 20)

/* The parts of an event. */
struct audit_event {
    TALLOC_CTX *mem;
    const struct audit_row *row;
    int epoch;                          /* of the log that proves itself */
    const char *leaf_hash;              /* of the row in that log, hex */
    bool documents;                     /* with question and answer of policy */
    int64_t time_ms;                    /* created at, milliseconds since 1970 */
    json_t *summary, *input, *decision; /* parsed; NULL: the row has none, or not an object */
};

/* Prepare an event; its row and hash outlive it. AZ_SERVER_ERROR: out of memory. */
enum az_status audit_event_begin(struct audit_event *event);

/* A member of an event: where it stands, and one of three values: what a function returns, a
 * constant text, or a column of the row. Write it by one of the macros below. */
struct event_member {
    const char *path;                                  /* names of objects, then its own */
    json_t *(*value)(const struct audit_event *event); /* a new reference; NULL: absent */
    const char *text;
    size_t column; /* of a const char * in struct audit_row; NULL: absent */
};
#define EVENT_VALUE(path_, function_)                                                              \
    {                                                                                              \
        .path = (path_), .value = (function_)                                                      \
    }
#define EVENT_TEXT(path_, text_)                                                                   \
    {                                                                                              \
        .path = (path_), .text = (text_)                                                           \
    }
#define EVENT_COLUMN(path_, name_)                                                                 \
    {                                                                                              \
        .path = (path_), .column = offsetof(struct audit_row, name_)                               \
    }
#define EVENT_END                                                                                  \
    {                                                                                              \
        .path = NULL                                                                               \
    }

/* Return the value of a member, a new reference; NULL: the event has none. */
json_t *event_value(const struct audit_event *event, const struct event_member *member);

/* Put the members of a table, which ends with a path that is NULL, into an object. */
void event_put(struct jsonx_build *object, const struct audit_event *event,
               const struct event_member *table);

/* True if the row is one of an administrator: then its client is the label of a key. */
bool event_of_admin(const struct audit_event *event);

/* True if the outcome of the row is this one. */
bool event_outcome_is(const struct audit_event *event, const char *outcome);

/* ---- values: each returns a new reference, or NULL if the event has none ---- */

/* Return the time in milliseconds; EPOCH/ID of the row; its id; and the HTTP status. */
json_t *event_time_ms(const struct audit_event *event);
json_t *event_uid(const struct audit_event *event);
json_t *event_row_id(const struct audit_event *event);
json_t *event_status(const struct audit_event *event);

/* Return the OAuth client, or the label of the admin key in its place. */
json_t *event_client(const struct audit_event *event);
json_t *event_admin(const struct audit_event *event);

/* Return the hash of the leaf; the summary; the codes of reasons as an array, and as
 * words_join_texts joins them; and the error of the answer. */
json_t *event_leaf_hash(const struct audit_event *event);
json_t *event_summary(const struct audit_event *event);
json_t *event_codes(const struct audit_event *event);
json_t *event_codes_text(const struct audit_event *event);
json_t *event_error(const struct audit_event *event);

/* Return the scopes of the decision as an array; those, or what was denied, separated by spaces;
 * the resource that was asked for; and the revision of policy. */
json_t *event_scopes(const struct audit_event *event);
json_t *event_scope_text(const struct audit_event *event);
json_t *event_resource(const struct audit_event *event);
json_t *event_revision(const struct audit_event *event);

#endif
