/* Audit rows: one per audited request, in the partition of its day. */
#ifndef AZ_STORE_DB_AUDIT_H
#define AZ_STORE_DB_AUDIT_H

#include "store/db/db.h"

#define AUDIT_USER_AGENT_MAX                                                                       \
    256 /* octets kept of User-Agent; a caller chooses its length, we choose what it costs */
#define AUDIT_FIELDS 14 /* parameters audit_bind adds */

struct audit_entry {
    const char *request_id;        /* X-Request-ID */
    const char *flow_id;           /* ties the requests of one flow together, or NULL */
    const char *client_id;         /* as named by the caller and known to us, or NULL */
    const char *subject_id;        /* or NULL */
    const char *endpoint;          /* the route's pattern */
    const char *operation;         /* the route's operation */
    const char *method;            /* HTTP method */
    int http_status;               /* of the answer */
    const char *outcome;           /* allowed, denied, rejected or error */
    const char *ip;                /* or NULL */
    const char *user_agent;        /* or NULL */
    const char *summary;           /* JSON text, or NULL */
    const unsigned char *input;    /* packed policy input, or NULL */
    size_t input_length;           /* octets */
    const unsigned char *decision; /* packed policy answer, or NULL */
    size_t decision_length;        /* octets */
};

/* The columns in the order audit_bind adds them; for statements that write the row together with
 * something else. */
#define AUDIT_COLUMNS                                                                              \
    "request_id, flow_id, client_id, subject_id, endpoint, operation, method, http_status, "       \
    "outcome, ip, user_agent, "                                                                    \
    "request_summary, policy_input, policy_decision"

/* Adds the AUDIT_FIELDS parameters of an entry. */
void audit_bind(struct db_params *params, const struct audit_entry *entry);

/* Writes the row, durable before it returns. One trip. */
enum az_status audit_insert(struct op *op, const struct audit_entry *entry);

/*
 * Sends the row with synchronous_commit off and does not wait (decisions.md: introspection and
 * AuthZEN rows). The result is read by db_settle after the answer.
 */
enum az_status audit_send(struct op *op, const struct audit_entry *entry);

#endif
