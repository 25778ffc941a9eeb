/* Checkpoints of the audit log that are posted to SVC_AUDIT_CHECKPOINT_URL (decisions.md "Audit
 * stream"). */
#ifndef AZ_AUDIT_POSTS_H
#define AZ_AUDIT_POSTS_H

#include "base/op.h"

/* Post the checkpoints that wait, the oldest first, and keep the signatures that are answered.
 * *ret counts those that were taken. What the server does is no failure: the next run tries again.
 * Nothing without the setting. */
enum az_status audit_posts_run(struct op *op, int64_t *ret);

#endif
