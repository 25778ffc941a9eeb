/* The number of a pool's workers that may wait for other servers at a time: half of them, so that
 * slow and dead hosts never hold the rest. */
#ifndef AZ_HTTP_FETCH_FETCH_PLACES_H
#define AZ_HTTP_FETCH_FETCH_PLACES_H

#include <stdbool.h>

#include "http/fetch/fetch.h"

/* Places of a pool of unknown size, whose processes the web server spawns. */
#define FETCH_PLACES_SPAWNED 4

/* A place; the kernel frees it when the process ends, however it ends. */
struct fetch_place {
    int fd;        /* the pool's file with the locked octet; -1: no place is needed */
    struct az *az; /* the process that holds it */
};

/* FETCH_PLACE_AUTO name; declares a place that is given back when its scope is left. */
#define FETCH_PLACE_AUTO __attribute__((cleanup(fetch_place_drop))) struct fetch_place

/*
 * Return the places of a pool of so many workers; 0 workers: the web server's pool. FETCH_CIMD: the
 * share for client metadata, which is half again. Any client can name slow hosts there, and they
 * must not keep the operator's own providers waiting.
 */
int fetch_places(int workers, enum fetch_hosts hosts);

/*
 * Take a place. FETCH_FAULT_BUSY: all are taken. A process without pools (the CLI) needs none, and
 * a process that holds a place needs no other: a caller with several requests takes the place
 * before the first, and what it calls never waits or fails for want of one.
 */
enum fetch_fault fetch_place_take(struct op *op, enum fetch_hosts hosts, struct fetch_place *ret);

/* Give the place back. Does nothing if that was done already, or for {.fd = -1}. */
void fetch_place_drop(struct fetch_place *place);

/* Return the reason why no place was taken, for the operator. */
const char *fetch_place_why(enum fetch_fault fault);

/* Do the same as fetch() for a caller that already holds a place, and keeps it while it waits
 * before and after. */
enum az_status fetch_in_place(struct op *op, const struct fetch_request *request,
                              struct fetch_answer *ret);

#endif
