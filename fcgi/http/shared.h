/* What the processes of one host share: rate limit counters and the count of held long polls, in
 * one mapped file. */
#ifndef AZ_HTTP_SHARED_H
#define AZ_HTTP_SHARED_H

#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

struct shared;

/*
 * Maps DIR/shared, made if absent. The directory must be ours and closed to others (0700): on a
 * shared host anybody could make a global shared-memory name first. *ret_why says what is wrong,
 * naming the directory.
 */
enum az_status shared_open(TALLOC_CTX *mem, const char *dir, struct shared **ret,
                           const char **ret_why);

/*
 * Counts one request of an address in the current fixed window. True when it is within `limit`.
 * Refused requests are not counted, so they do not extend the window. Exact across processes and
 * safe against kill -9: one compare-and-swap of one word, no locks. IPv6 counts by /64.
 * *ret_retry_after: seconds until the window ends. When the table is full of live addresses,
 * newcomers share one overflow counter: memory is bounded and the limit never fails open.
 */
bool shared_rate_admit(struct shared *shared, const char *address, int64_t now, long window,
                       long limit, long *ret_retry_after);

/*
 * Takes one of `limit` places for holding a long poll; false when all are taken. A place carries
 * the holder's process id: one whose process died is free again.
 */
bool shared_hold_take(struct shared *shared, int limit);
void shared_hold_drop(struct shared *shared);

#endif
