/* One policy save at a time, on all hosts (policy.md 2.4). */
#ifndef AZ_POLICY_SAVE_STEPS_SAVE_LOCK_H
#define AZ_POLICY_SAVE_STEPS_SAVE_LOCK_H

#include <stdint.h>

#include "base/op.h"

/* Take the session-level lock. Wait for it as long as the confirm timeout plus 5 s;
 * AZ_SAVE_IN_PROGRESS after that. Then withdraw a candidate that a save left when its process died.
 * *ret_session names the session that holds the lock. */
enum az_status save_lock(struct op *op, unsigned *ret_session);

/* Begin a transaction, but only on the session that holds the lock; any other would save without
 * it. */
enum az_status save_begin(struct op *op, unsigned session);

/* True if the session still holds the lock. */
bool save_lock_held(const struct op *op, unsigned session);

/* Release the lock of this session. If that fails, the connection is closed, which releases it. */
void save_unlock(struct op *op);

/* A wait that is shorter is not told: most saves take less. Milliseconds. */
#define SAVE_NOTICE_MS 1000

/* Tell the watcher of the operation, if there is one, what it waits for since `started` (monotonic,
 * in milliseconds), once the wait is long enough. */
void save_notice(struct op *op, int64_t started, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
