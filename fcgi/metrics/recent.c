/* The decisions of the last seconds, which readiness looks at: counters that only grow say nothing
 * of now. */
#include "config.h"

#include "base/clock.h"
#include "metrics/metrics_private.h"

/* One word per part of the time, so that a single compare-and-swap counts: number of the part 24
 * bits | questions that failed 20 bits | all 20 bits. */
#define PART_SHIFT 40
#define FAILED_SHIFT 20
#define COUNT_MASK 0xfffffULL
#define PART_MASK 0xffffffULL

static uint64_t
part_of_now(void)
{
    return (uint64_t) (clock_monotonic_ms() / (RECENT_SECONDS * 1000)) & PART_MASK;
}

void
metrics_count_recent(struct metrics *metrics, bool failed)
{
    uint64_t part = part_of_now(), next;
    _Atomic uint64_t *word = &metrics->recent[part % RECENT_WORDS];
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    do {
        next = seen >> PART_SHIFT == part ? seen : part << PART_SHIFT;
        if ((next & COUNT_MASK) == COUNT_MASK)
            return; /* a hundred thousand in a second: the share is known */
        next += 1 + ((uint64_t) failed << FAILED_SHIFT);
    } while (!atomic_compare_exchange_weak(word, &seen, next));
}

void
metrics_recent_decisions(const struct metrics *metrics, int64_t *ret_all, int64_t *ret_failed)
{
    uint64_t now = part_of_now(), all = 0, failed = 0;
    for (unsigned i = 0; metrics != NULL && i < RECENT_WORDS; i++) {
        uint64_t word = atomic_load_explicit(&metrics->recent[i], memory_order_relaxed);
        if (((now - (word >> PART_SHIFT)) & PART_MASK) < RECENT_WORDS) {
            all += word & COUNT_MASK;
            failed += word >> FAILED_SHIFT & COUNT_MASK;
        }
    }
    *ret_all = (int64_t) all;
    *ret_failed = (int64_t) failed;
}
