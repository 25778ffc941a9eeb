/*
 * The workers of the gateway's pool that may wait for upstreams at a time: all but one. The last
 * one says at once that the others are busy, where a request would otherwise wait for as long as
 * the slowest upstream needs, and it goes on to serve what needs no upstream, such as lists of
 * tools.
 */
#ifndef AZ_GATEWAY_UPSTREAM_ROOM_H
#define AZ_GATEWAY_UPSTREAM_ROOM_H

#include <stdbool.h>

#include "base/op.h"

/* Longest wait for another worker, in milliseconds. Upstreams that are well answer in a fraction of
 * it, so that a short rush is no reason to refuse. */
#define UPSTREAM_ROOM_WAIT_MS 1000

/* Return the workers of a pool of so many that may wait for upstreams. */
int upstream_room(int workers);

/* Keep room for the requests of an operation to upstreams, until its memory is freed. AZ_BUSY: all
 * other workers wait for upstreams, and none came back within UPSTREAM_ROOM_WAIT_MS, or shortly
 * before for another request. A process outside the gateway's pool needs no room. */
enum az_status upstream_room_keep(struct op *op);

#endif
