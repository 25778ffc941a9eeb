#include "config.h"

#include "store/policy/sample.h"

/* Ids that one step of counting looks at: it reads them in the index alone, in some 200 ms. */
#define COUNT_SPAN 1000000

/*
 * The first id of a day that was created at a time or later. Ids are given out when a request ends,
 * so they follow the times but for requests that overlap: a search by halves finds the place.
 */
enum sample_first_column { FIRST_ID };
static const struct db_stmt sample_first_stmt = {
    "sample_first",
    "WITH RECURSIVE search (low, high) AS (SELECT min(id), max(id) + 1 FROM audit_log_p%D"
    " UNION ALL SELECT CASE WHEN m.before THEN m.middle + 1 ELSE s.low END,"
    "  CASE WHEN m.before THEN s.high ELSE m.middle END"
    "  FROM search s, LATERAL (SELECT (s.low + s.high) / 2 AS middle, (SELECT a.created_at < "
    "$1::timestamptz"
    "   FROM audit_log_p%D a WHERE a.id >= (s.low + s.high) / 2 ORDER BY a.id LIMIT 1) AS before) m"
    "  WHERE s.low < s.high) SELECT max(low) AS id FROM search",
    1};
enum sample_count_column { COUNT_ROWS, COUNT_TAKEN };
static const struct db_stmt sample_count_stmt = {
    "sample_count",
    "SELECT count(*) AS rows, count(*) FILTER (WHERE (hashint8extended(id, $3::bigint)"
    " & 9223372036854775807) < $4::bigint) AS taken FROM audit_log_p%D"
    " WHERE id >= $1::bigint AND id < $2::bigint",
    4};

/* Run a statement about a day. A day that housekeeping has dropped since has no rows: *ret is NULL.
 */
static enum az_status
run_on_day(struct op *op, struct db_batch *batch, const struct db_step *step, PGresult **ret)
{
    enum az_status st = db_run_or_retry(op, batch, true, SQLSTATE_UNDEFINED_TABLE);
    *ret = st == AZ_OK ? step->result : NULL;
    return st == AZ_RETRY ? AZ_OK : st;
}

/* Find the first id of a time in a day; *ret stays if the day has no rows. */
static enum az_status
find_first(struct op *op, uint32_t day, int64_t ms, int64_t *ret)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, &sample_first_stmt, DB_NO_PARTITION, day);
    PGresult *result;
    db_time(&step->params, ms);
    enum az_status st = run_on_day(op, batch, step, &result);
    if (st == AZ_OK && result != NULL)
        *ret = db_get_number(result, 0, FIRST_ID, *ret);
    return st;
}

/* Count the rows with an id from the first up to before the second, and the sampled rows among
 * them. */
static enum az_status
count_part(struct op *op, uint32_t day, int64_t from, int64_t until, struct sample *sample)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, &sample_count_stmt, DB_NO_PARTITION, day);
    PGresult *result;
    db_number(&step->params, from);
    db_number(&step->params, until);
    db_number(&step->params, sample->audit.seed);
    db_number(&step->params, sample->audit.limit);
    enum az_status st = run_on_day(op, batch, step, &result);
    if (st == AZ_OK && result != NULL) {
        sample->rows += db_get_number(result, 0, COUNT_ROWS, 0);
        sample->taken += db_get_number(result, 0, COUNT_TAKEN, 0);
    }
    return st;
}

/* Count the rows of a day, part by part. */
static enum az_status
count_day(struct op *op, uint32_t day, const struct sample_choice *choice, struct sample *sample)
{
    int64_t from, until;
    enum az_status st = audit_day_bounds(op, day, &from, &until);
    if (from < sample->audit.from_id)
        from = sample->audit.from_id;
    if (until > sample->audit.until_id)
        until = sample->audit.until_id;
    while (st == AZ_OK && !sample->over && from < until) {
        int64_t end = until - from > COUNT_SPAN ? from + COUNT_SPAN : until;
        st = count_part(op, day, from, end, sample);
        if (st == AZ_OK)
            st = choice->pause(op, choice->arg, &sample->over);
        from = end;
    }
    return st;
}

/* Count the rows of the days, and the sampled rows among them. */
static enum az_status
count_days(struct op *op, const uint32_t *day, size_t days, const struct sample_choice *choice,
           struct sample *sample)
{
    enum az_status st = AZ_OK;
    sample->rows = sample->taken = 0;
    for (size_t i = 0; i < days && st == AZ_OK && !sample->over; i++)
        st = count_day(op, day[i], choice, sample);
    return st;
}

/* Find the ids of the period. The days are the newest first. */
static enum az_status
find_ids(struct op *op, const struct audit_filter *filter, const uint32_t *day, size_t days,
         struct audit_sample *ret)
{
    int64_t until = ret->until_id;
    enum az_status st = AZ_OK;
    if (days > 0 && filter->has_from)
        st = find_first(op, day[days - 1], filter->from_ms, &ret->from_id);
    if (st == AZ_OK && days > 0 && filter->has_until)
        st = find_first(op, day[0], filter->until_ms, &until);
    if (until < ret->until_id)
        ret->until_id = until;
    return st;
}

enum az_status
sample_choose(struct op *op, const struct audit_filter *filter, const struct sample_choice *choice,
              struct sample *ret)
{
    uint32_t *day;
    size_t days;
    *ret = (struct sample){
        .audit = {.seed = choice->seed, .until_id = choice->last + 1},
          .p = 1
    };
    enum az_status st = audit_days_list(op, filter, &day, &days);
    if (st == AZ_OK)
        st = find_ids(op, filter, day, days, &ret->audit);
    if (st == AZ_OK)
        st = count_days(op, day, days, choice, ret);
    if (st != AZ_OK || ret->over || ret->rows <= choice->most)
        return st;
    ret->p = (double) choice->most / (double) ret->rows;
    ret->audit.limit = (int64_t) (ret->p * 0x1p63);
    st = count_days(op, day, days, choice, ret);
    ret->partial = !ret->over;
    return st;
}
