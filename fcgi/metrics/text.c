#include "config.h"

#include <inttypes.h>

#include "base/buf.h"
#include "metrics/metrics_private.h"

/* Longest text, in octets. With every number at its largest it has half of that
 * (t/metrics/metrics-t.c). */
#define TEXT_MAX (2 << 20)

static const char *
name_kind(enum metric_kind kind)
{
    static const char *const names[] = {
        [METRIC_COUNTER] = "counter",
        [METRIC_HISTOGRAM] = "histogram",
        [METRIC_GAUGE] = "gauge",
        [METRIC_STORED] = "counter",
    };
    return names[kind];
}

/* Return the labels of a series without braces, on mem; NULL: out of memory. */
static char *
make_labels(TALLOC_CTX *mem, const struct metric_row *row, const struct metric_place *place,
            size_t combination)
{
    char *text = row->routes == ROUTES_BY_ROW ? talloc_asprintf(mem, "route=\"%s\",method=\"%s\"",
                                                                place->path, place->method)
                 : row->routes == ROUTES_BY_PATH ? talloc_asprintf(mem, "path=\"%s\"", place->path)
                                                 : talloc_strdup(mem, "");
    size_t rest = metric_combinations(row);
    for (size_t i = 0; text != NULL && i < METRIC_LABELS_MAX && row->label[i].name != NULL; i++) {
        size_t values = 0;
        while (row->label[i].values[values] != NULL)
            values++;
        rest /= values;
        text = talloc_asprintf_append(text, "%s%s=\"%s\"", *text != '\0' ? "," : "",
                                      row->label[i].name,
                                      row->label[i].values[combination / rest % values]);
    }
    return text;
}

static void
metrics_put_number(struct buf *out, const char *name, const char *labels, uint64_t number)
{
    buf_append_format(out, *labels != '\0' ? "%s{%s} %" PRIu64 "\n" : "%s%s %" PRIu64 "\n", name,
                      labels, number);
}

/* Put a histogram. The words are read once each, so that the lines agree with each other. */
static void
put_histogram(struct buf *out, const struct metric_row *row, const char *labels,
              const _Atomic uint64_t *word)
{
    const char *comma = *labels != '\0' ? "," : "";
    size_t bounds = metric_bounds(row);
    uint64_t count = 0;
    for (size_t i = 0; i < bounds; i++) {
        count += atomic_load(&word[i]);
        buf_append_format(out, "%s_bucket{%s%sle=\"%g\"} %" PRIu64 "\n", row->name, labels, comma,
                          row->bounds[i] / 1e6, count);
    }
    count += atomic_load(&word[bounds]);
    buf_append_format(out, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", row->name, labels, comma,
                      count);
    uint64_t sum = atomic_load(&word[bounds + 1]);
    const char *open = *labels != '\0' ? "{" : "", *close = *labels != '\0' ? "}" : "";
    buf_append_format(out, "%s_sum%s%s%s %" PRIu64 ".%06" PRIu64 "\n%s_count%s%s%s %" PRIu64 "\n",
                      row->name, open, labels, close, sum / 1000000, sum % 1000000, row->name, open,
                      labels, close, count);
}

/* True if a series counted something. */
static bool
has_counted(const struct metric_row *row, const _Atomic uint64_t *word)
{
    size_t counts = row->kind == METRIC_HISTOGRAM ? metric_bounds(row) + 1 : 1;
    for (size_t i = 0; i < counts; i++)
        if (atomic_load_explicit(&word[i], memory_order_relaxed) != 0)
            return true;
    return false;
}

static void
put_place(struct buf *out, TALLOC_CTX *mem, const struct metrics *metrics, enum metric metric,
          size_t place)
{
    const struct metric_row *row = &metric_table[metric];
    size_t combinations = metric_combinations(row), words = metric_words(row);
    const _Atomic uint64_t *word =
        &metrics->cell[metrics->first[metric] + place * combinations * words];
    for (size_t i = 0; i < combinations; i++, word += words) {
        if (!row->from_zero && !has_counted(row, word))
            continue;
        char *labels = make_labels(mem, row, &metrics->place[place], i);
        if (labels == NULL)
            out->status = AZ_SERVER_ERROR;
        else if (row->kind == METRIC_HISTOGRAM)
            put_histogram(out, row, labels, word);
        else
            metrics_put_number(out, row->name, labels, atomic_load(word));
        talloc_free(labels);
    }
}

static void
put_stored(struct buf *out, TALLOC_CTX *mem, const struct metrics *metrics, enum metric metric)
{
    const struct metric_row *row = &metric_table[metric];
    for (size_t i = 0; i < metric_places(row, metrics->places); i++)
        if (row->routes == ROUTES_NONE || row->of == NULL || row->of(&metrics->place[i]))
            put_place(out, mem, metrics, metric, i);
}

/* Put the value of a label, with what the format asks to escape. */
static void
metrics_put_value(struct buf *out, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '\\' || *value == '"')
            buf_append(out, "\\", 1);
        buf_append(out, *value == '\n' ? "\\n" : value, *value == '\n' ? 2 : 1);
    }
}

static void
put_sample(struct buf *out, const struct metric_sample *sample)
{
    const struct metric_row *row = &metric_table[sample->metric];
    buf_append_text(out, row->name);
    for (size_t i = 0; i < METRIC_LABELS_MAX && row->label[i].name != NULL; i++) {
        buf_append_format(out, "%s%s=\"", i == 0 ? "{" : ",", row->label[i].name);
        metrics_put_value(out, sample->value[i]);
        buf_append(out, "\"", 1);
    }
    buf_append_format(out, "%s %" PRId64 "\n", row->label[0].name != NULL ? "}" : "",
                      sample->number);
}

const char *
metrics_text(TALLOC_CTX *mem, const struct metrics *metrics, const struct metric_sample *samples,
             size_t count)
{
    BUF_AUTO out;
    buf_init(&out, mem, TEXT_MAX);
    for (int i = 0; i < METRICS; i++) {
        const struct metric_row *row = &metric_table[i];
        buf_append_format(&out, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name,
                          name_kind(row->kind));
        if (!metric_is_read(row))
            put_stored(&out, mem, metrics, (enum metric) i);
        for (size_t j = 0; j < count; j++)
            if (samples[j].metric == (enum metric) i)
                put_sample(&out, &samples[j]);
    }
    size_t length;
    return buf_take(&out, &length);
}
