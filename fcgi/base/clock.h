/* The monotonic clock, for waiting and measuring; its values are not stored or shown. The time
 * of day, for comparison with the times of other hosts. */
#ifndef AZ_BASE_CLOCK_H
#define AZ_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Return the monotonic time in microseconds. */
static inline int64_t
clock_monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Return the monotonic time in milliseconds. */
static inline int64_t
clock_monotonic_ms(void)
{
    return clock_monotonic_us() / 1000;
}

/* Return milliseconds since 1970. */
static inline int64_t
clock_realtime_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
