#include "config.h"

#include "host/rate.h"

/* Slots that are tried for one number. */
#define PROBES 16u
/* One word per number that is counted, so that a single compare-and-swap decides: print 24 bits |
 * window 20 bits | count 20 bits. */
#define PRINT_SHIFT 40
#define WINDOW_SHIFT 20
#define FIELD_MASK 0xfffffULL
/* One word per number that pauses: print 20 bits | end of the pause in milliseconds 44 bits. */
#define PAUSE_SHIFT 44
#define UNTIL_MASK ((1ULL << PAUSE_SHIFT) - 1)

static uint64_t
word_make(uint64_t print, uint64_t window, uint64_t count)
{
    return print << PRINT_SHIFT | window << WINDOW_SHIFT | count;
}

/*
 * True if a counter of window `its` counts now. The next window counts too, because another process
 * may have read the clock a moment later. Any other window is old, even one that seems to be ahead:
 * the window's length or the clock was changed.
 */
static bool
window_counts(uint64_t its, uint64_t now)
{
    return its == now || its == ((now + 1) & FIELD_MASK);
}

enum verdict { ADMITTED, REFUSED, TAKEN };

/* Count in the slot if it is ours, or claim it if it is free or of an older window. */
static enum verdict
count_in_slot(_Atomic uint64_t *slot, uint64_t print, uint64_t window, uint64_t limit, bool claim)
{
    uint64_t word = atomic_load_explicit(slot, memory_order_relaxed);
    for (;;) {
        uint64_t its_window = word >> WINDOW_SHIFT & FIELD_MASK, count = word & FIELD_MASK, next;
        bool ours = word >> PRINT_SHIFT == print && word != 0;
        if (ours && window_counts(its_window, window)) {
            if (count >= limit)
                return REFUSED;
            next = word + 1;
        } else if (claim && (word == 0 || !window_counts(its_window, window))) {
            next = word_make(print, window, 1);
        } else {
            return TAKEN;
        }
        if (atomic_compare_exchange_weak(slot, &word, next))
            return ADMITTED;
    }
}

/* Count in the slot of a hash. */
static bool
count_hash(const struct rate_table *table, uint64_t hash, uint64_t window, uint64_t limit)
{
    uint64_t print = hash >> PRINT_SHIFT | 1;
    for (int pass = 0; pass < 2; pass++) /* first look for our counter, then for a free slot */
        for (unsigned i = 0; i < PROBES; i++) {
            enum verdict verdict = count_in_slot(&table->slot[(hash + i) % table->slots], print,
                                                 window, limit, pass == 1);
            if (verdict != TAKEN)
                return verdict == ADMITTED;
        }
    return count_in_slot(table->overflow, 1, window, limit, true) == ADMITTED;
}

/* Return the number of a window, as a counter keeps it. */
static uint64_t
window_of(int64_t now, long window)
{
    return (uint64_t) (now / window) & FIELD_MASK;
}

bool
rate_count(const struct rate_table *table, uint64_t number, int64_t now, long window, long limit,
           long *ret_retry_after)
{
    uint64_t most = (uint64_t) limit < FIELD_MASK ? (uint64_t) limit : FIELD_MASK;
    *ret_retry_after = window - (long) (now % window);
    return count_hash(table, number, window_of(now, window), most);
}

/* A counter of another window, or one that became free, is left alone. */
void
rate_uncount(const struct rate_table *table, uint64_t number, int64_t now, long window)
{
    uint64_t head = (number >> PRINT_SHIFT | 1) << WINDOW_SHIFT | window_of(now, window);
    for (unsigned i = 0; i < PROBES; i++) {
        _Atomic uint64_t *slot = &table->slot[(number + i) % table->slots];
        uint64_t word = atomic_load(slot);
        while (word >> WINDOW_SHIFT == head && (word & FIELD_MASK) > 0)
            if (atomic_compare_exchange_weak(slot, &word, word - 1))
                return;
    }
}

void
rate_pause(_Atomic uint64_t *table, unsigned slots, uint64_t number, int64_t now_ms, long ms)
{
    uint64_t print = number >> PAUSE_SHIFT | 1;
    uint64_t next = print << PAUSE_SHIFT | ((uint64_t) (now_ms + ms) & UNTIL_MASK);
    for (unsigned i = 0; i < PROBES; i++) {
        _Atomic uint64_t *slot = &table[(number + i) % slots];
        uint64_t word = atomic_load(slot);
        bool free = word >> PAUSE_SHIFT == print || (int64_t) (word & UNTIL_MASK) <= now_ms;
        if (free && atomic_compare_exchange_strong(slot, &word, next))
            return;
    }
    atomic_store(&table[number % slots], next);
}

bool
rate_is_paused(_Atomic uint64_t *table, unsigned slots, uint64_t number, int64_t now_ms,
               long longest)
{
    uint64_t print = number >> PAUSE_SHIFT | 1;
    for (unsigned i = 0; i < PROBES; i++) {
        uint64_t word = atomic_load(&table[(number + i) % slots]);
        int64_t until = (int64_t) (word & UNTIL_MASK);
        if (word >> PAUSE_SHIFT == print && until > now_ms && until <= now_ms + longest)
            return true;
    }
    return false;
}
