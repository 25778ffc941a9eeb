/* Authentication requests of CIBA, as the person and the identity provider see them: found, shown,
 * and answered once. */
#ifndef AZ_STORE_TOKENS_CIBA_ANSWERS_H
#define AZ_STORE_TOKENS_CIBA_ANSWERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/uuid7.h"
#include "store/db/rows/audit.h"

/* A request that may be answered. Texts live as long as the operation. */
struct ciba_waiting {
    unsigned char id[UUID7_OCTETS]; /* of the request */
    bool pending;                   /* the person has not answered, and it has not expired */
    const char *subject;            /* who must answer */
    const char *upstream_sub;       /* the same person at the provider */
    const char *flow_id;            /* UUID that ties the audit rows together */
    const char *client_id;          /* of the client that asked, as are the next three */
    const char *client_name;        /* or NULL */
    const char *client_uri;         /* or NULL */
    const char *registration;       /* how it was registered */
    const char *binding_message;    /* or NULL */
    const char *scope;              /* what would be granted, so the next two */
    const char *resource;           /* or NULL */
    json_t *details;                /* array, or NULL */
    int64_t seconds;                /* until its time is over */
};

/* Find the requests that wait for a person, the oldest first: `ret` has room for CIBA_OPEN_MAX. One
 * trip. */
enum az_status ciba_waiting_list(struct op *op, const char *subject, struct ciba_waiting *ret,
                                 size_t *ret_count);

/* Find a request, whatever its state: by its id, or by the hash of the provider's callback token.
 * *ret_found false: not found. One trip. */
enum az_status ciba_waiting_find(struct op *op, const unsigned char id[UUID7_OCTETS],
                                 struct ciba_waiting *ret, bool *ret_found);
enum az_status ciba_waiting_find_callback(struct op *op, const unsigned char *callback_hash,
                                          struct ciba_waiting *ret, bool *ret_found);

/* The answer of a person, and how we know it. */
struct ciba_answer {
    bool approved;
    const unsigned char *session; /* SHA256_OCTETS: key of the browser session, which must live and
                                     be the person's; NULL: the provider tells the answer */
    int64_t auth_time;            /* seconds since 1970; 0: unknown */
    const char *acr;              /* or NULL */
    json_t *amr;                  /* array, or NULL */
};

/*
 * Answer a request that is pending: of several answers one counts. An approval makes the family
 * whose code is the auth_req_id, in the same commit as the audit row. *ret_done false: it is not
 * pending any more, or its client or provider was disabled, or the session has ended; nothing was
 * done. One trip.
 */
enum az_status ciba_request_answer(struct op *op, const unsigned char id[UUID7_OCTETS],
                                   const struct ciba_answer *answer,
                                   const struct audit_entry *audit, bool *ret_done);

#endif
