/* The end of many sessions at once: housekeeping, and the operator's word after a compromise. */
#ifndef AZ_STORE_PEOPLE_SESSION_CLEANUP_H
#define AZ_STORE_PEOPLE_SESSION_CLEANUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* Rows that housekeeping removes with one statement, so that none is locked for long. */
#define SESSION_CLEANUP_BATCH 500
/* Statements per table and run: what is left waits for the next run. */
#define SESSION_CLEANUP_BATCHES 200

/* Removes what is over: sessions, sign-ins, consent requests. *ret_removed: rows. Families of
 * tokens outlive their end for as long as a token of theirs may live (grants.h). */
enum az_status session_cleanup(struct op *op, int64_t *ret_removed);

/*
 * SVC_CREDENTIAL_KEY_DISCARD_PER_USER: deletes all browser sessions and sign-ins, once for each
 * `start` (a text that names one start of one parent process). *ret_done false: it was done for
 * that start already.
 */
enum az_status session_discard(struct op *op, const char *start, bool *ret_done,
                               int64_t *ret_sessions, int64_t *ret_sign_ins);

#endif
