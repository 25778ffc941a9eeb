/* Data that the processes of one host share in one mapped file: rate limit counters, the places for
 * long polls, and who has to pause. Of IPv6 the /64 counts as one address. */
#ifndef AZ_HTTP_SHARED_H
#define AZ_HTTP_SHARED_H

#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

struct shared;

/* Map DIR/shared, creating it if absent (host/file.h). */
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

/* Count a question of a web server about a request of an address, in the same way and apart from
 * the address's own requests. */
bool shared_check_admit(struct shared *shared, const char *address, int64_t now, long window,
                        long limit, long *ret_retry_after);

/* Failed sign-ins to the console of one address in SHARED_SIGN_IN_WINDOW seconds: more than a
 * person needs who mistypes, and too few to guess. */
#define SHARED_SIGN_INS_MAX 10
#define SHARED_SIGN_IN_WINDOW 60

/*
 * Count a sign-in of an address before its key is looked at. False: as many failed in this minute;
 * *ret_retry_after: seconds until it ends. One that did not fail is not counted, once it is known:
 * sign-ins that are made at once never let more than the limit fail.
 */
bool shared_sign_in_begin(struct shared *shared, const char *address, int64_t now,
                          long *ret_retry_after);
void shared_sign_in_good(struct shared *shared, const char *address, int64_t now);

/* Return the number under which the locks of an address stand (http/fetch/fetch_places.c). It is a
 * keyed hash, so an attacker cannot choose an address that shares the number of another. */
uint64_t shared_address_number(const struct shared *shared, const char *address);

/* Return a number for a name of at most a few hundred octets, by the key of the file, so that none
 * can be made that has the number of another. */
uint64_t shared_name_number(const struct shared *shared, const char *name);

/* Make whoever has the number pause for so many milliseconds from `now_ms` (since 1970). If the
 * table is full, another pause may end early. */
void shared_pause(struct shared *shared, uint64_t number, int64_t now_ms, long ms);

/* True if whoever has the number has to pause. An entry that ends more than `longest` milliseconds
 * from now was made before the clock was set back, and does not count. */
bool shared_is_paused(const struct shared *shared, uint64_t number, int64_t now_ms, long longest);

/* Record that a place for fetches was taken or given back, and tell if one was within the last `ms`
 * milliseconds. */
void shared_places_moved(struct shared *shared);
bool shared_places_have_moved(const struct shared *shared, int64_t ms);

/* Kinds of places: work that only some of the processes may do at a time. */
enum shared_place {
    SHARED_LONG_POLL, /* holding a long poll */
    SHARED_TRIAL      /* a trial of policy that a person asks for */
};

/* Take one of `limit` places of a kind, a slot each, unless this process has one; false if all are
 * taken. */
bool shared_place_take(struct shared *shared, enum shared_place kind, int limit);

/* Give back the place of this process, if it has one. */
void shared_place_drop(struct shared *shared, enum shared_place kind);

#endif
