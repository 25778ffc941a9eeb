/*
 * Metrics of all processes of a host, in memory that they share. A number is one 64-bit word that
 * changes by one atomic addition, so there are no locks, and a process that is killed leaves
 * nothing half-written.
 */
#ifndef AZ_METRICS_METRICS_H
#define AZ_METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

/* Most labels of a metric besides those of a route. */
#define METRIC_LABELS_MAX 3

/* Rows of metric_table. */
enum metric {
    METRIC_HTTP_REQUESTS,
    METRIC_HTTP_SECONDS,
    METRIC_UNAUDITED,
    METRIC_RATE_LIMITED,
    METRIC_LINES_LEFT_OUT,
    METRIC_DECISIONS,
    METRIC_ENGINES,
    METRIC_ENGINE_SECONDS,
    METRIC_EMBEDDED_SECONDS,
    METRIC_GIVE_UPS,
    METRIC_WITNESS,
    METRIC_SHADOW,
    METRIC_IMPACT_RUNS,
    METRIC_IMPACT_SECONDS,
    METRIC_IMPACT_REFUSED,
    METRIC_IMPACT_OVERRIDDEN,
    METRIC_TOKENS_ISSUED,
    METRIC_FAMILY_ENDS,
    METRIC_INTROSPECTIONS,
    METRIC_UPSTREAM_CALLS,
    METRIC_UPSTREAM_SECONDS,
    METRIC_PROVIDER_FAULTS,
    METRIC_LINKS,
    METRIC_TOOL_CALLS,
    METRIC_DB_POOL,
    METRIC_BUNDLE_REVISION,
    METRIC_KEY_AGE,
    METRIC_UNSEALED,
    METRIC_STREAM_LAG,
    METRIC_STREAM_SKIPPED,
    METRIC_STREAM_HELD,
    METRIC_TRACES,
    METRIC_BUILD,
    METRICS
};

enum metric_kind {
    METRIC_COUNTER,   /* grows */
    METRIC_HISTOGRAM, /* counts times by their length */
    METRIC_GAUGE,     /* a present value, which the reader of the metrics finds out */
    METRIC_STORED,    /* a counter of the database, which the reader finds out too */
};

/* Labels that come from the routing table. */
enum metric_routes {
    ROUTES_NONE,    /* no labels */
    ROUTES_BY_ROW,  /* route and method */
    ROUTES_BY_PATH, /* path: all methods of a path together */
};

/* A label and its possible values, which end with NULL. A value that is not listed counts as the
 * last one. Gauges have any value, so they list none. */
struct metric_label {
    const char *name;
    const char *const *values;
};

/* A row of the routing table as labels. */
struct metric_place {
    const char *path;   /* pattern, never a raw path */
    const char *method; /* "other": one that the path does not have */
    bool audited;       /* the row is audited */
    bool rate_limited;  /* the row, or one of the path, is counted by the rate limit */
    bool whole_path;    /* the one place of the path that stands for it in ROUTES_BY_PATH */
};

struct metric_row {
    const char *name;
    const char *help; /* one sentence without a backslash or line feed */
    enum metric_kind kind;
    enum metric_routes routes;
    bool (*of)(const struct metric_place *place); /* places that can be counted; NULL: all */
    const uint32_t *bounds; /* histograms: upper bounds in microseconds, end with 0 */
    bool from_zero;         /* shown before the first count, so that its increase is not missed */
    struct metric_label label[METRIC_LABELS_MAX]; /* end with a name that is NULL */
};

/* THE table of metrics. */
extern const struct metric_row metric_table[METRICS];

/* State of a process that serves requests. */
enum metrics_process {
    PROCESS_CLOSED, /* waits, without a database connection */
    PROCESS_IDLE,   /* waits, with a database connection */
    PROCESS_BUSY,   /* serves a request */
    PROCESS_STATES
};

/* Names of the states. */
extern const char *const metrics_process_states[PROCESS_STATES + 1];

struct metrics;
struct host_file;

/* Return the octets of shared memory for so many places. */
size_t metrics_octets(size_t places);

/* Mix everything that decides what a word of the memory means into a number: another version with
 * other metrics, labels, bounds or places gives another number. */
uint64_t metrics_layout(uint64_t number, const struct metric_place *place, size_t places);

/* Mix a text into a number (FNV-1a). */
uint64_t metrics_mix(uint64_t number, const char *text);

/* Use metrics_octets() of a file at `at`, which is aligned to 8 octets and was zero when it was
 * made, and the first slots of the file. The file and the places must live as long as the result.
 * NULL: out of memory. */
struct metrics *metrics_new(TALLOC_CTX *mem, struct host_file *file, void *at,
                            const struct metric_place *place, size_t places);

/*
 * Add one. `place` is an index of the places, or 0 for a metric without them; `values` are the
 * values of the row's labels in order, or NULL if it has none. Here and below, nothing is done
 * without metrics (NULL).
 */
void metrics_add(struct metrics *metrics, enum metric metric, size_t place,
                 const char *const *values);

/*
 * Hold one for metrics_settle() to add, in place of what is held: an event whose labels are final
 * only when its reader has accepted it, a decision (METRIC_DECISIONS). `values` NULL: hold nothing.
 * A process serves one request at a time, so it holds one event.
 */
void metrics_hold(struct metrics *metrics, enum metric metric, const char *const *values);

/* Add what is held. */
void metrics_settle(struct metrics *metrics);

/* Seconds that count as recent: long enough for a share, and short enough that an instance which a
 * balancer left is back soon after what kept it from deciding. */
#define METRICS_RECENT_SECONDS 15

/* Return how many questions to policy were held and settled in the last METRICS_RECENT_SECONDS (up
 * to 5 more), and how many of them failed: outcome error. */
void metrics_recent_decisions(const struct metrics *metrics, int64_t *ret_all, int64_t *ret_failed);

/* Count a time in a histogram that has no labels but those of a place. */
void metrics_observe(struct metrics *metrics, enum metric metric, size_t place, int64_t us);

/* Note the state of this process. It counts until it changes or the process ends, however that
 * happens. */
void metrics_note_process(struct metrics *metrics, enum metrics_process state);

/* Count the living processes by state. */
void metrics_count_processes(const struct metrics *metrics, uint64_t ret[PROCESS_STATES]);

/* One value of a gauge. */
struct metric_sample {
    enum metric metric;
    const char *value[METRIC_LABELS_MAX]; /* of the row's labels */
    int64_t number;
};

/* Return all metrics in the text format of Prometheus 0.0.4, on mem. NULL: out of memory. */
const char *metrics_text(TALLOC_CTX *mem, const struct metrics *metrics,
                         const struct metric_sample *samples, size_t count);

#endif
