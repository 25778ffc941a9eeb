/*
 * Counters in fixed windows, and pauses, of numbers (keyed hashes of whoever is counted) in tables
 * of memory that processes share. Exact across processes and safe against kill -9: one
 * compare-and-swap of one word, no locks.
 */
#ifndef AZ_HOST_RATE_H
#define AZ_HOST_RATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A table of counters whose windows have one length. Numbers that find no slot among live ones
 * share `overflow`: memory is bounded and no limit fails open. All are 0 in a new table. */
struct rate_table {
    _Atomic uint64_t *slot, *overflow;
    unsigned slots;
};

/*
 * Count one of a number in the window of `window` seconds that has `now`. True if it is within
 * `limit`; what is refused is not counted, so it does not extend the window. *ret_retry_after:
 * seconds until the window ends.
 */
bool rate_count(const struct rate_table *table, uint64_t number, int64_t now, long window,
                long limit, long *ret_retry_after);

/* Take one of a number back that was counted in the same window. */
void rate_uncount(const struct rate_table *table, uint64_t number, int64_t now, long window);

/* Make a number pause for so many milliseconds from `now_ms` (since 1970). If the table is full,
 * another pause may end early. */
void rate_pause(_Atomic uint64_t *table, unsigned slots, uint64_t number, int64_t now_ms, long ms);

/* True if a number has to pause. An entry that ends more than `longest` milliseconds from now was
 * made before the clock was set back, and does not count. */
bool rate_is_paused(_Atomic uint64_t *table, unsigned slots, uint64_t number, int64_t now_ms,
                    long longest);

#endif
