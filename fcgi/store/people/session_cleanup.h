/* Ending many sessions at once: housekeeping, and the response to a compromise. */
#ifndef AZ_STORE_PEOPLE_SESSION_CLEANUP_H
#define AZ_STORE_PEOPLE_SESSION_CLEANUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* Rows that one statement removes, so that none is locked for long. */
#define SESSION_CLEANUP_BATCH 500
/* Statements per table and run; the remaining rows wait for the next run. */
#define SESSION_CLEANUP_BATCHES 200

/* Remove sessions that expired or are too old, and expired sign-ins and consent requests.
 * *ret_removed counts rows. Families of tokens are kept for as long as one of their tokens may live
 * (grants.h). */
enum az_status session_cleanup(struct op *op, int64_t *ret_removed);

/* The numbers of deleted rows. */
struct session_discarded {
    bool done; /* false: nothing, because it was done for that start already */
    int64_t sessions;
    int64_t sign_ins;
    int64_t connections; /* accounts at upstreams of the gateway */
    int64_t links;       /* links that wait for such an account */
};

/* Delete all browser sessions, sign-ins, and connections of people with upstreams
 * (SVC_CREDENTIAL_KEY_DISCARD_PER_USER), once for each `start` (a text that names one start of a
 * parent process). */
enum az_status session_discard(struct op *op, const char *start, struct session_discarded *ret);

#endif
