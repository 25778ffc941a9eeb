/* The shared memory of the metrics, for the files of this room. */
#ifndef AZ_METRICS_METRICS_PRIVATE_H
#define AZ_METRICS_METRICS_PRIVATE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "metrics/metrics.h"

struct metrics {
    struct host_file *file; /* a slot of it for each process that serves requests */
    const struct metric_place *place;
    size_t places;
    size_t first[METRICS];     /* index of a metric's first word */
    _Atomic uint64_t *cell;    /* words of all metrics */
    _Atomic uint64_t *process; /* of a slot: 1 + the state of its process */
    _Atomic uint64_t *own;     /* that of this process, or NULL */
    _Atomic uint64_t *recent;  /* decisions of the last seconds, a word for each part */
    _Atomic uint64_t *held;    /* series that metrics_settle() adds one to, or NULL */
    bool held_failed;          /* what is held is a question without a decision */
    pid_t pid;                 /* of this process, once it has looked for a word */
};

/* Words of the decisions of the last seconds, in parts of so many, with the present one. */
#define RECENT_SECONDS 5
#define RECENT_WORDS (METRICS_RECENT_SECONDS / RECENT_SECONDS + 1)

/* Count a decision, or a question that failed, in the present part. */
void metrics_count_recent(struct metrics *metrics, bool failed);

/* Return the number of bounds of a histogram, 0 for other metrics. */
size_t metric_bounds(const struct metric_row *row);

/* Return the words of one series: one, or for a histogram a word per bound, one for longer times,
 * and the sum in microseconds. */
size_t metric_words(const struct metric_row *row);

/* Return the number of combinations of a row's label values. */
size_t metric_combinations(const struct metric_row *row);

/* True for a metric that the reader finds out, and that has no words. */
static inline bool
metric_is_read(const struct metric_row *row)
{
    return row->kind == METRIC_GAUGE || row->kind == METRIC_STORED;
}

/* Return the number of places that a metric tells apart. */
size_t metric_places(const struct metric_row *row, size_t places);

#endif
