/* How many workers of a pool may wait for servers of others at a time: half of them, so that slow
 * and dead hosts never hold the rest (decisions.md "Readings", CIMD). */
#ifndef AZ_HTTP_FETCH_FETCH_PLACES_H
#define AZ_HTTP_FETCH_FETCH_PLACES_H

#include <stdbool.h>

#include "http/fetch/fetch.h"

/* Places of a pool whose size nobody tells us: the web server spawns its processes. */
#define FETCH_PLACES_SPAWNED 4

/* One place; the kernel gives it back when the process dies, however it dies. */
struct fetch_place {
    int fd;        /* of the pool's file with the locked octet; -1: none is needed */
    struct az *az; /* whose it is */
};

/* FETCH_PLACE_AUTO name; declares a place that is given back when the scope is left. */
#define FETCH_PLACE_AUTO __attribute__((cleanup(fetch_place_drop))) struct fetch_place

/*
 * Places of a pool of so many workers; 0 workers: a pool of the web server's. FETCH_CIMD: those of
 * them that fetches for client metadata may take, half again: anybody can name slow hosts there,
 * and they must not keep the operator's own providers waiting.
 */
int fetch_places(int workers, enum fetch_hosts hosts);

/*
 * Takes a place. FETCH_FAULT_BUSY: all are taken. A process without pools (the CLI) needs none, and
 * one that holds a place needs no other: who has several things to ask takes the place before the
 * first, and what it calls never waits or fails for want of one.
 */
enum fetch_fault fetch_place_take(struct op *op, enum fetch_hosts hosts, struct fetch_place *ret);

/* Gives it back; may be called for one that was given back, or was
 * {.fd = -1}. */
void fetch_place_drop(struct fetch_place *place);

/* Why there was none, for the operator. */
const char *fetch_place_why(enum fetch_fault fault);

/* As fetch(), for one who holds a place already: what is waited for before and after counts too. */
enum az_status fetch_in_place(struct op *op, const struct fetch_request *request,
                              struct fetch_answer *ret);

#endif
