/*
 * The workers of the gateway's pool that may wait for upstreams at a time: all but one. The last
 * one answers at once that the others are busy, so that a request does not wait as long as the
 * slowest upstream needs, and goes on to serve requests that need no upstream, such as lists of
 * tools.
 */
#ifndef AZ_GATEWAY_UPSTREAM_ROOM_H
#define AZ_GATEWAY_UPSTREAM_ROOM_H

#include <stdbool.h>

#include "base/op.h"

struct upstream_caller;

/* Longest wait for another worker, in milliseconds. Healthy upstreams answer in a fraction of it,
 * so that a short burst of requests is not refused. */
#define UPSTREAM_ROOM_WAIT_MS 1000

/* Return the workers of a pool of so many that may wait for upstreams. */
int upstream_room(int workers);

/* Return the most of them that may wait for one client, one person or one resource: half, at least
 * one, so that a caller with slow requests never stops the calls of all others. */
int upstream_room_share(int workers);

/*
 * Keep room for the requests of an operation to upstreams, until its memory is freed. `caller` is
 * the one that the shares are counted for; NULL stands for the service itself, for which the
 * resource alone counts. AZ_BUSY: no place, or none of the share, became free within
 * UPSTREAM_ROOM_WAIT_MS; at once if shortly before another request got none for the same reason. A
 * process outside the gateway's pool needs no room.
 */
enum az_status upstream_room_keep(struct op *op, const char *resource,
                                  const struct upstream_caller *caller);

#endif
