/*
 * Places of processes that wait for something: a number of slots (slot.h) for all, and shares of
 * them by key, so that no one caller has all. Each is needed in turn, the place last, so who lacks
 * a share takes no place. A process may wait for what it lacks, and after a refusal those that lack
 * the same are refused at once for a while: otherwise each would wait for those before it.
 */
#ifndef AZ_HOST_PLACES_H
#define AZ_HOST_PLACES_H

#include "host/file.h"

/* The places of one file, as this process sees them. */
struct places;
/* Slots that this process has until this is freed. */
struct places_hold;

/* One of so many slots from the first; the last free one is taken. */
struct places_need {
    int64_t first;
    int count;
};

#define PLACES_NEEDS_MAX 4

struct places_ask {
    struct places_need need[PLACES_NEEDS_MAX]; /* in this order; the last one is the place */
    size_t needs;
    struct places_need wait[2]; /* so a process needs that waits; those are given back after it */
    size_t waits;
    int wait_ms; /* longest wait, or 0 */
    int look_ms; /* time between two tries of a process that waits */
    int full_ms; /* after a refusal this process waits for nothing more of the kind; 0: it does */
    int skip;    /* the search begins so many slots behind the last: spreads those that look */
    bool keeps;  /* the process needs no other place meanwhile */
    const volatile int *stopping; /* ends a wait */
};

/* PLACES_FULL: other processes have all. PLACES_FAULT: they cannot be counted. */
enum places_end { PLACES_TAKEN, PLACES_FULL, PLACES_FAULT };

/* Open the file of that name in a directory (host_file_open()). NULL: it cannot be used. */
struct places *places_open(TALLOC_CTX *mem, const char *dir, const char *name);

/* True if this process holds something that it `keeps`. */
bool places_are_kept(const struct places *places);

/* Take what is asked for, or wait for it. *ret is on mem; of PLACES_FULL, *ret_lacks is the index
 * of the need that is missing. */
enum places_end places_take(TALLOC_CTX *mem, struct places *places, const struct places_ask *ask,
                            struct places_hold **ret, size_t *ret_lacks);

#endif
