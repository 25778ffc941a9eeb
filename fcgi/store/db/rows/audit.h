/* Audit rows: one per audited request, in the partition of its day. */
#ifndef AZ_STORE_DB_ROWS_AUDIT_H
#define AZ_STORE_DB_ROWS_AUDIT_H

#include "store/db/db.h"

#define AUDIT_USER_AGENT_MAX 256 /* octets kept of User-Agent, whose length the client chooses */

/* Depth of a summary; the handlers' summaries are flat, or have one list or object. */
#define AUDIT_SUMMARY_DEPTH_MAX 8

struct audit_entry {
    const char *request_id;        /* X-Request-ID */
    const char *flow_id;           /* ties the requests of one flow together, or NULL */
    const char *client_id;         /* client of the request if it is known, or NULL */
    const char *subject_id;        /* or NULL */
    const char *endpoint;          /* the route's pattern */
    const char *operation;         /* the route's operation */
    const char *method;            /* HTTP method */
    int http_status;               /* status of the answer */
    const char *outcome;           /* allowed, denied, rejected or error */
    const char *ip;                /* or NULL */
    const char *user_agent;        /* or NULL */
    const char *summary;           /* JSON object as text, or NULL */
    const char *explained;         /* the same with the members of audit_explain, or NULL */
    const unsigned char *input;    /* packed policy input, or NULL */
    size_t input_length;           /* octets */
    const unsigned char *decision; /* packed policy answer, or NULL */
    size_t decision_length;        /* octets */
    const char *grant_type;        /* these four are for the log line and audit_explain; or NULL */
    const char *scope;             /* granted or shown, or what was denied; separated by spaces */
    const char *codes;             /* of all deny reasons, joined by words_join_texts, or NULL */
    const char *inactive;          /* why an introspection showed nothing, or NULL */
    const char *error, *reason;    /* reason of a failed request as its caller saw it, or NULL */
    const char *resource;         /* these three are for audit_explain: asked for, or the token's */
    const json_t *resource_types; /* array, or NULL */
    const json_t *details;        /* authorization_details, of which the types are noted; or NULL */
};

/* The columns in the order of audit_bind, for statements that write the row together with other
 * rows. */
#define AUDIT_COLUMNS                                                                              \
    "request_id, flow_id, client_id, subject_id, endpoint, operation, method, http_status, "       \
    "outcome, ip, user_agent, "                                                                    \
    "request_summary, policy_input, policy_decision"

/* Append the parameters of an entry, in the order of AUDIT_COLUMNS. */
void audit_bind(struct db_params *params, const struct audit_entry *entry);

/* Add `inactive`, `codes`, `grant_type`, `scope`, `resource`, `resource_types`, the types of
 * `details`, `error` and `reason` to the summary that is written, if there is something to explain:
 * one of the first two, or `error`. The members are those of the last call, and do not replace what
 * the endpoint noted. The values of details may be personal: they are in the policy input alone. */
void audit_explain(struct op *op, struct audit_entry *entry);

/* Write the row; it is durable when this returns. One trip. */
enum az_status audit_insert(struct op *op, const struct audit_entry *entry);

/* Send the row with synchronous_commit off and do not wait, for the rows of introspection and
 * AuthZEN. db_settle reads the result after the answer. */
enum az_status audit_send(struct op *op, const struct audit_entry *entry);

#endif
