/* The walk through all audit rows that match. */
#include "config.h"

#include "store/audit/read/rows_private.h"

enum walk_bounds_column { BOUNDS_BELOW, BOUNDS_LEAST };
static const struct db_stmt walk_bounds_stmt = {
    "walk_bounds", "SELECT max(id) + 1 AS below, min(id) AS least FROM audit_log_p%D", 0};

enum az_status
audit_walk_begin(struct op *op, const struct audit_filter *filter, struct audit_walk *ret)
{
    *ret = (struct audit_walk){.filter = filter};
    enum az_status st = audit_days_list(op, filter, &ret->day, &ret->days);
    for (size_t i = 0; i < ret->days / 2; i++) { /* the newest last */
        uint32_t other = ret->day[ret->days - 1 - i];
        ret->day[ret->days - 1 - i] = ret->day[i];
        ret->day[i] = other;
    }
    return st;
}

void
audit_walk_after(struct audit_walk *walk, const struct audit_walk_mark *place)
{
    while (walk->days > 0 && walk->day[walk->days - 1] > place->day)
        walk->days--;
    if (walk->days > 0 && walk->day[walk->days - 1] == place->day)
        walk->start = place->id;
}

struct audit_walk_mark
audit_walk_place(const struct audit_walk *walk)
{
    bool begun = walk->below > 0;
    return (struct audit_walk_mark){.day = walk->days > 0 ? walk->day[walk->days - 1] : 0,
                                    .id = begun             ? walk->below
                                          : walk->start > 0 ? walk->start
                                                            : INT64_MAX};
}

/* Run a statement about the newest day that is left. A day that housekeeping has dropped since has
 * no rows: *ret is NULL. */
static enum az_status
run_on_day(struct op *op, struct db_batch *batch, const struct db_step *step, PGresult **ret)
{
    enum az_status st = db_run_or_retry(op, batch, true, SQLSTATE_UNDEFINED_TABLE);
    *ret = st == AZ_OK ? step->result : NULL;
    return st == AZ_RETRY ? AZ_OK : st;
}

/* Leave out ids that are outside of the sample. */
static void
keep_to_sample(struct audit_walk *walk)
{
    const struct audit_sample *sample = walk->filter->sample;
    if (sample == NULL || walk->below == 0)
        return;
    if (walk->least < sample->from_id)
        walk->least = sample->from_id;
    if (walk->below > sample->until_id)
        walk->below = sample->until_id;
    if (walk->below < walk->least)
        walk->below = walk->least; /* the day has none */
}

/* Return how many ids a step looks at: of a sample so many that it has about AUDIT_WALK_ROWS. */
static int64_t
step_span(const struct audit_sample *sample)
{
    if (sample == NULL)
        return AUDIT_WALK_SPAN;
    double span = AUDIT_WALK_ROWS * 0x1p63 / (double) sample->limit;
    return span < AUDIT_SAMPLE_SPAN ? (int64_t) span : AUDIT_SAMPLE_SPAN;
}

enum az_status
audit_day_bounds(struct op *op, uint32_t day, int64_t *ret_least, int64_t *ret_below)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, &walk_bounds_stmt, DB_NO_PARTITION, day);
    PGresult *result;
    enum az_status st = run_on_day(op, batch, step, &result);
    bool some = st == AZ_OK && result != NULL;
    *ret_least = some ? db_get_number(result, 0, BOUNDS_LEAST, 0) : 0;
    *ret_below = some ? db_get_number(result, 0, BOUNDS_BELOW, 0) : 0;
    return st;
}

static enum az_status
begin_day(struct op *op, struct audit_walk *walk)
{
    enum az_status st = audit_day_bounds(op, walk->day[walk->days - 1], &walk->least, &walk->below);
    if (walk->start > 0 && walk->start < walk->below)
        walk->below = walk->start;
    keep_to_sample(walk);
    walk->start = 0;
    return st;
}

/* Read the next rows of the day. */
static enum az_status
read_day(struct op *op, struct audit_walk *walk, PGresult **ret)
{
    struct db_batch *batch = db_batch_new(op);
    bool indexed;
    struct audit_slice slice = {.day = walk->day[walk->days - 1],
                                .below = walk->below,
                                .least = walk->least,
                                .limit = AUDIT_WALK_ROWS,
                                .octets = AUDIT_WALK_OCTETS};
    struct db_step *step = audit_slice_add(batch, walk->filter, &slice, &indexed);
    int64_t span = step_span(walk->filter->sample);
    if (!indexed && walk->below - span > walk->least) {
        batch = db_batch_new(op);
        slice.least = walk->below - span;
        step = audit_slice_add(batch, walk->filter, &slice, &indexed);
    }
    enum az_status st = run_on_day(op, batch, step, ret);
    int count = *ret != NULL ? PQntuples(*ret) : 0;
    walk->below = count > 0 ? audit_rows_id(*ret, count - 1) : *ret != NULL ? slice.least : 0;
    return st;
}

enum az_status
audit_walk_next(struct op *op, struct audit_walk *walk, PGresult **ret, bool *ret_more)
{
    enum az_status st = AZ_OK;
    *ret = NULL;
    *ret_more = walk->days > 0;
    if (walk->days > 0 && walk->below == 0)
        st = begin_day(op, walk);
    if (st == AZ_OK && walk->below > 0)
        st = read_day(op, walk, ret);
    if (st == AZ_OK && walk->days > 0 && walk->below <= walk->least) {
        walk->days--;
        walk->below = walk->least = 0;
    }
    return st;
}
