/* Data that the processes of one host share in one mapped file: rate limit counters and the places
 * for long polls. */
#ifndef AZ_HTTP_SHARED_H
#define AZ_HTTP_SHARED_H

#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

struct shared;

/* Map DIR/shared, creating it if absent (http/mapped.h). */
enum az_status shared_open(TALLOC_CTX *mem, const char *dir, struct shared **ret,
                           const char **ret_why);

/*
 * Count one request of an address in the current fixed window. True if it is within `limit`.
 * Refused requests are not counted, so they do not extend the window. Exact across processes and
 * safe against kill -9: one compare-and-swap of one word, no locks. IPv6 is counted by /64.
 * *ret_retry_after: seconds until the window ends. When the table is full of live addresses, new
 * ones share one overflow counter: memory is bounded and the limit never fails open.
 */
bool shared_rate_admit(struct shared *shared, const char *address, int64_t now, long window,
                       long limit, long *ret_retry_after);

/*
 * Take one of `limit` places for holding a long poll; false if all are taken. A place stores the
 * holder's process id: it is free again when that process has died.
 */
bool shared_hold_take(struct shared *shared, int limit);

/* Give back the place of this process, if it has one. */
void shared_hold_drop(struct shared *shared);

#endif
