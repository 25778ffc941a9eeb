#include "config.h"

#include "metrics/metrics.h"

#include <string.h>
#include <unistd.h>

#include "host/slot.h"
#include "metrics/metrics_private.h"

/* Changes when a number means something else under the same name and labels. */
#define MEANING 3
/* Processes whose state is counted; three pools of 256 workers, and as many that are being
 * replaced. */
#define PROCESSES 1024u

size_t
metric_bounds(const struct metric_row *row)
{
    size_t count = 0;
    while (row->kind == METRIC_HISTOGRAM && row->bounds[count] != 0)
        count++;
    return count;
}

size_t
metric_words(const struct metric_row *row)
{
    return row->kind == METRIC_HISTOGRAM ? metric_bounds(row) + 2 : 1;
}

static size_t
count_values(const struct metric_label *label)
{
    size_t count = 0;
    while (label->values[count] != NULL)
        count++;
    return count;
}

size_t
metric_combinations(const struct metric_row *row)
{
    size_t count = 1;
    for (size_t i = 0; i < METRIC_LABELS_MAX && row->label[i].name != NULL; i++)
        count *= count_values(&row->label[i]);
    return count;
}

size_t
metric_places(const struct metric_row *row, size_t places)
{
    return row->routes == ROUTES_NONE ? 1 : places;
}

/* Return the words of a metric, or NULL if the reader computes it. */
static size_t
count_words(const struct metric_row *row, size_t places)
{
    if (metric_is_read(row))
        return 0;
    return metric_places(row, places) * metric_combinations(row) * metric_words(row);
}

size_t
metrics_octets(size_t places)
{
    size_t words = PROCESSES + RECENT_WORDS;
    for (size_t i = 0; i < METRICS; i++)
        words += count_words(&metric_table[i], places);
    return words * sizeof(uint64_t);
}

/* ---- the layout */

uint64_t
metrics_mix(uint64_t number, const char *text)
{
    for (; *text != '\0'; text++)
        number = (number ^ (unsigned char) *text) * 0x100000001b3ULL;
    return number * 0x100000001b3ULL;
}

static uint64_t
mix_number(uint64_t number, uint64_t value)
{
    return (number ^ value) * 0x100000001b3ULL;
}

static uint64_t
mix_row(uint64_t number, const struct metric_row *row)
{
    number = mix_number(metrics_mix(number, row->name), row->kind * 16u + row->routes);
    for (size_t i = 0; i < metric_bounds(row); i++)
        number = mix_number(number, row->bounds[i]);
    for (size_t i = 0; i < METRIC_LABELS_MAX && row->label[i].name != NULL; i++) {
        number = metrics_mix(number, row->label[i].name);
        for (const char *const *value = row->label[i].values; value != NULL && *value != NULL;
             value++)
            number = metrics_mix(number, *value);
    }
    return number;
}

uint64_t
metrics_layout(uint64_t number, const struct metric_place *place, size_t places)
{
    number = mix_number(number, MEANING);
    for (size_t i = 0; i < METRICS; i++)
        number = mix_row(number, &metric_table[i]);
    for (size_t i = 0; i < places; i++)
        number = metrics_mix(metrics_mix(number, place[i].path), place[i].method);
    return number;
}

static int
metrics_destroy(struct metrics *metrics)
{
    if (metrics->own != NULL && metrics->pid == getpid())
        slot_drop(metrics->file, metrics->own - metrics->process);
    return 0;
}

struct metrics *
metrics_new(TALLOC_CTX *mem, struct host_file *file, void *at, const struct metric_place *place,
            size_t places)
{
    struct metrics *metrics = talloc_zero(mem, struct metrics);
    if (metrics == NULL)
        return NULL;
    metrics->file = file;
    metrics->place = place;
    metrics->places = places;
    metrics->process = at;
    metrics->recent = metrics->process + PROCESSES;
    metrics->cell = metrics->recent + RECENT_WORDS;
    for (size_t i = 1; i < METRICS; i++)
        metrics->first[i] = metrics->first[i - 1] + count_words(&metric_table[i - 1], places);
    talloc_set_destructor(metrics, metrics_destroy);
    return metrics;
}

/* ---- counting */

static size_t
find_value(const struct metric_label *label, const char *value)
{
    size_t i = 0;
    while (label->values[i + 1] != NULL && strcmp(label->values[i], value) != 0)
        i++;
    return i;
}

/* Return the first word of a series, or NULL if there is no such place. */
static _Atomic uint64_t *
find_series(const struct metrics *metrics, enum metric metric, size_t place,
            const char *const *values)
{
    const struct metric_row *row = &metric_table[metric];
    bool labels = row->label[0].name != NULL;
    if (metric_is_read(row) || place >= metric_places(row, metrics->places)
        || labels != (values != NULL))
        return NULL;
    size_t index = place;
    for (size_t i = 0; values != NULL && i < METRIC_LABELS_MAX && row->label[i].name != NULL; i++)
        index = index * count_values(&row->label[i]) + find_value(&row->label[i], values[i]);
    return &metrics->cell[metrics->first[metric] + index * metric_words(row)];
}

void
metrics_add(struct metrics *metrics, enum metric metric, size_t place, const char *const *values)
{
    _Atomic uint64_t *word = metrics != NULL ? find_series(metrics, metric, place, values) : NULL;
    if (word != NULL)
        atomic_fetch_add_explicit(word, 1, memory_order_relaxed);
}

void
metrics_hold(struct metrics *metrics, enum metric metric, const char *const *values)
{
    if (metrics == NULL)
        return;
    metrics->held = values != NULL ? find_series(metrics, metric, 0, values) : NULL;
    metrics->held_failed = values != NULL && strcmp(values[1], "error") == 0;
}

void
metrics_settle(struct metrics *metrics)
{
    if (metrics == NULL || metrics->held == NULL)
        return;
    atomic_fetch_add_explicit(metrics->held, 1, memory_order_relaxed);
    metrics_count_recent(metrics, metrics->held_failed);
    metrics->held = NULL;
}

/* The number of observations is the sum of the bounds' words, so it cannot disagree with them; a
 * process that is killed between the two additions leaves out its time alone. */
void
metrics_observe(struct metrics *metrics, enum metric metric, size_t place, int64_t us)
{
    _Atomic uint64_t *word = metrics != NULL ? find_series(metrics, metric, place, NULL) : NULL;
    const uint32_t *bounds = metric_table[metric].bounds;
    size_t i = 0;
    if (word == NULL)
        return;
    while (bounds[i] != 0 && us > bounds[i])
        i++;
    atomic_fetch_add_explicit(&word[i], 1, memory_order_relaxed);
    if (us > 0)
        atomic_fetch_add_explicit(&word[metric_bounds(&metric_table[metric]) + 1], (uint64_t) us,
                                  memory_order_relaxed);
}

/* ---- processes */

void
metrics_note_process(struct metrics *metrics, enum metrics_process state)
{
    if (metrics == NULL)
        return;
    if (metrics->pid == 0) {
        int64_t number = slot_take_one(metrics->file, 0, PROCESSES, 0);
        metrics->own = number >= 0 ? &metrics->process[number] : NULL;
        metrics->pid = getpid();
    }
    if (metrics->own != NULL)
        atomic_store_explicit(metrics->own, state + 1, memory_order_relaxed);
}

void
metrics_count_processes(const struct metrics *metrics, uint64_t ret[PROCESS_STATES])
{
    memset(ret, 0, PROCESS_STATES * sizeof(ret[0]));
    for (size_t i = 0; i < PROCESSES; i++) {
        uint64_t word = atomic_load(&metrics->process[i]);
        if (word > 0 && word <= PROCESS_STATES && slot_lives(metrics->file, (int64_t) i))
            ret[word - 1]++;
    }
}
