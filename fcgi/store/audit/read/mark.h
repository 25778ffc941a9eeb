/* The mark up to which the audit log is complete, for the counts (counts.h) and the log that proves
 * itself (seal.h). */
#ifndef AZ_STORE_AUDIT_READ_MARK_H
#define AZ_STORE_AUDIT_READ_MARK_H

#include "store/db/db.h"

/* Longest wait for transactions that were writing audit rows, in milliseconds. Usual ones take a
 * few; if one hangs, the next run gets a mark. */
#define AUDIT_MARK_WAIT_MS 5000

struct audit_mark {
    int64_t last;    /* all rows up to this id are committed, or never will be */
    const char *now; /* rows after `last` were written after this time; on op->mem */
};

/* Find the mark: read the last id that was given out, and wait until the transactions that may
 * have written up to it are over. AZ_RETRY without a fault: one of them takes too long.
 * AZ_CONFLICT: ids are not given out in their order (CACHE of the sequence). */
enum az_status audit_mark_find(struct op *op, struct audit_mark *ret);

#endif
