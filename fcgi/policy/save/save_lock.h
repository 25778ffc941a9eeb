/* One policy save at a time, on all hosts (policy.md 2.4). */
#ifndef AZ_POLICY_SAVE_SAVE_LOCK_H
#define AZ_POLICY_SAVE_SAVE_LOCK_H

#include "base/op.h"

/*
 * Takes the session-level lock, waiting for it the confirm timeout plus 5 s; AZ_SAVE_IN_PROGRESS
 * after that. Then takes back what a saver before us left when it died. *ret_session names the
 * session that holds the lock.
 */
enum az_status save_lock(struct op *op, unsigned *ret_session);

/* BEGIN, but only on the session that holds the lock: another one would save unlocked. */
enum az_status save_begin(struct op *op, unsigned session);

/* Whether the session still holds it. */
bool save_lock_held(const struct op *op, unsigned session);

void save_unlock(struct op *op);

#endif
