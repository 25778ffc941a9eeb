/*
 * The number of a pool's workers that may wait for other servers at a time: half of them, so that
 * slow and dead hosts never hold the rest; and half of those for one client address, so that one
 * caller never stops the sign-ins of all others. Within an address browsers take turns.
 */
#ifndef AZ_HTTP_FETCH_FETCH_PLACES_H
#define AZ_HTTP_FETCH_FETCH_PLACES_H

#include <stdbool.h>

#include "http/fetch/fetch.h"

/* Places of a pool of unknown size, whose processes the web server spawns. */
#define FETCH_PLACES_SPAWNED 4
/* Workers of such a pool that may wait for a place. */
#define FETCH_WAITS_SPAWNED 1

/* Longest wait for a place, in milliseconds. A provider that is well answers in a third of that, so
 * a place that is not free by then is probably held by a slow host. */
#define FETCH_WAIT_MS 100

/*
 * After a failed redemption its browser gets no place for as long as this one was held. In
 * milliseconds. At least: against a provider that is well, so that a failure costs more than the 30
 * ms that it took; a user who begins again needs longer than that. At most: the longest that
 * several requests within SVC_SAFE_HTTP_TIMEOUT_SECONDS usually take.
 */
#define FETCH_PAUSE_LEAST_MS 1000
#define FETCH_PAUSE_MOST_MS 60000

/*
 * A redemption that fails after this time, in milliseconds, makes its provider a slow one for its
 * address: ten times what a provider needs that is well. For as long as given here, the sign-ins of
 * the address at that provider have one place of their own, and their common share is that of hosts
 * that clients name, so that they do not keep those at other providers waiting.
 */
#define FETCH_SLOW_MS 300
#define FETCH_SLOW_FOR_MS 60000

/* Whose turn it is: a browser that comes back from a provider with the state of its sign-in. One
 * browser holds one place. */
struct fetch_turn {
    const unsigned char *browser; /* SHA256_OCTETS of its cookie */
    const char *provider;         /* idpId */
};

/* A place; the kernel frees it when the process ends, however it ends. */
struct places_hold;
struct fetch_place {
    struct places_hold *hold; /* NULL: no place is needed */
    struct az *az;            /* the process that holds it */
    int64_t since;            /* clock_monotonic_ms() when it was taken */
    struct fetch_turn turn;   /* whose it is; without a browser: of the address alone */
};

/* FETCH_PLACE_AUTO name; declares a place that is given back when its scope is left. */
#define FETCH_PLACE_AUTO __attribute__((cleanup(fetch_place_drop))) struct fetch_place

/*
 * Return the places of a pool of so many workers; 0 workers: the web server's pool.
 * FETCH_CLIENT_KEYS and FETCH_CIMD: their common share, which is half again. Any client can name
 * slow hosts there, and they must not keep the operator's own providers waiting.
 */
int fetch_places(int workers, enum fetch_hosts hosts);

/* Return the number of places that one client address may hold: half, or one. For hosts that
 * clients one: each caller chooses the host that is asked, and can wait for the answer. */
int fetch_places_of_address(int workers, enum fetch_hosts hosts);

/* Return the number of workers that may wait for a place: half of those that have none, so that the
 * other half serves what needs no other server. For hosts that clients name half of that, or none.
 */
int fetch_waits(int workers, enum fetch_hosts hosts);

/*
 * Take a place for the client address of the operation, the second one for a browser's turn. If
 * none is free, wait for one, at most FETCH_WAIT_MS. FETCH_FAULT_BUSY: none became free, too many
 * wait already, or the browser holds one or has to pause. A process without a runtime directory
 * (the CLI) needs no place, and a process that holds one needs no other: a caller with several
 * requests takes the place before the first, and what it calls never waits or fails for want of
 * one.
 */
enum fetch_fault fetch_place_take(struct op *op, enum fetch_hosts hosts, struct fetch_place *ret);
enum fetch_fault fetch_place_take_turn(struct op *op, const struct fetch_turn *turn,
                                       struct fetch_place *ret);

/* Give the place back. Does nothing if that was done already, or for {.hold = NULL}. */
void fetch_place_drop(struct fetch_place *place);

/* Keep the next place from the browser for a while, because the redemption for which it took this
 * one has failed; remember a provider that was slow. Does nothing for {.hold = NULL}. */
void fetch_place_pause(const struct op *op, const struct fetch_place *place);

/* Return the reason why no place was taken, for the operator. */
const char *fetch_place_why(enum fetch_fault fault);

/* Return the value of a Refresh header, in seconds, for a browser that got no place; on op->mem;
 * NULL: no memory or no randomness. */
const char *fetch_place_refresh(struct op *op);

/* Do the same as fetch() for a caller that already holds a place, and keeps it while it waits
 * before and after. */
enum az_status fetch_in_place(struct op *op, const struct fetch_request *request,
                              struct fetch_answer *ret);

#endif
