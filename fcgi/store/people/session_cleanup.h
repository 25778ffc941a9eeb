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

/* Delete all browser sessions and sign-ins (SVC_CREDENTIAL_KEY_DISCARD_PER_USER), once for each
 * `start` (a text that names one start of a parent process). *ret_done false: it was done for that
 * start already. */
enum az_status session_discard(struct op *op, const char *start, bool *ret_done,
                               int64_t *ret_sessions, int64_t *ret_sign_ins);

#endif
