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

/* True if this process may wait for a person: its pool has at least three workers. */
bool upstream_room_may_hold(const struct az *az);

/*
 * Keep a slot among the workers that wait for people, half of those that may wait for upstreams,
 * until `mem` is freed. One client, one person and one resource have at most half of the slots, at
 * least one. AZ_RESOURCE_UNAVAILABLE: no slot is free now.
 */
enum az_status upstream_room_hold(struct op *op, TALLOC_CTX *mem, const char *resource,
                                  const struct upstream_caller *caller);

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
