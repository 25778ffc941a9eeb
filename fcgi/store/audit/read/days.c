/* Numbers of matching audit rows by day. */
#include "config.h"

#include <stdlib.h>

#include "store/audit/read/rows_private.h"
#include "store/db/keep/partitions.h"

/*
 * Numbers of a filter by endpoint, client, outcome and day, of the rows that housekeeping has added
 * up, with the id up to which it did, in one snapshot. `begins` is the first day in which later
 * rows can lie: a request may be as old as the day before.
 */
enum days_counted_column { COUNTED_UP_TO, COUNTED_BEGINS, COUNTED_DAY, COUNTED_ROWS };
static const struct db_stmt days_counted_stmt = {
    "days_counted",
    "SELECT t.up_to, (t.cut_at AT TIME ZONE 'UTC')::date - date '2026-01-02' AS begins,"
    "  c.day, c.rows FROM audit_cut t LEFT JOIN"
    " (SELECT day - date '2026-01-01' AS day, sum(n)::bigint AS rows FROM audit_count"
    "  WHERE client_id = coalesce($2, '') AND ($1::text IS NULL OR endpoint = $1)"
    "   AND ($3::text IS NULL OR outcome = $3)"
    "   AND day >= (coalesce($4::timestamptz, '-infinity') AT TIME ZONE 'UTC')::date"
    "   AND day < (coalesce($5::timestamptz, 'infinity') AT TIME ZONE 'UTC')::date"
    "  GROUP BY 1) c ON true",
    5};
static const struct db_stmt days_uncounted_stmt = {
    "days_uncounted",
    "SELECT count(*) FROM audit_log_p%D a WHERE a.id > $11::bigint AND " AUDIT_MATCHES, 11};

/* Numbers of a filter that has an index of its own, over all days at once, the newest first. */
#define FINE                                                                                       \
    "SELECT day - date '2026-01-01' AS day, count(*) AS rows"                                      \
    " FROM (SELECT (created_at AT TIME ZONE 'UTC')::date AS day FROM audit_log a"                  \
    " WHERE " AUDIT_MATCHES
#define NEWEST " ORDER BY a.id DESC LIMIT $11) x GROUP BY 1"
static const struct db_stmt days_of_request_stmt = {"days_of_request",
                                                    FINE " AND a.request_id = $6" NEWEST, 11};
static const struct db_stmt days_of_flow_stmt = {"days_of_flow",
                                                 FINE " AND a.flow_id = $5::uuid" NEWEST, 11};
enum days_of_subject_column { DAYS_DAY, DAYS_ROWS };
static const struct db_stmt days_of_subject_stmt = {"days_of_subject",
                                                    FINE " AND a.subject_id = $3" NEWEST, 11};
/* A plan for all days takes 20 ms to make and does not depend on the values, so it is made once. */
const struct db_stmt audit_plan_once_stmt = {
    "audit_plan_once", "SELECT set_config('plan_cache_mode', 'force_generic_plan', true)", 0};

static int
compare_days(const void *one, const void *other)
{
    uint32_t left = *(const uint32_t *) one, right = *(const uint32_t *) other;
    return left < right ? 1 : left > right ? -1 : 0;
}

enum az_status
audit_days_list(struct op *op, const struct audit_filter *filter, uint32_t **ret, size_t *ret_count)
{
    size_t used = 0;
    enum az_status st = partition_days(op, ret, ret_count);
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; i < *ret_count; i++) {
        int64_t begins_ms = (PARTITION_EPOCH + (int64_t) (*ret)[i] * 86400) * 1000;
        bool before = filter->has_from && begins_ms + 86400000 <= filter->from_ms,
             after = filter->has_until && begins_ms >= filter->until_ms;
        if (!before && !after)
            (*ret)[used++] = (*ret)[i];
    }
    qsort(*ret, used, sizeof(**ret), compare_days);
    *ret_count = used;
    return AZ_OK;
}

/* ---- filters that the table of counts answers ---- */

/* Bind the begin of a day, or NULL. */
static void
bind_day(struct db_params *params, bool given, int64_t ms)
{
    if (given)
        db_time(params, ms);
    else
        db_text(params, NULL);
}

/* Add the rows that are not added up yet to the days from `begins` on. */
static enum az_status
add_uncounted(struct op *op, const struct audit_filter *filter, int64_t up_to, int64_t begins,
              struct audit_day *days, size_t count)
{
    enum az_status st = AZ_OK;
    for (size_t at = 0; at < count && days[at].day >= begins && st == AZ_OK; at += DB_BATCH_MAX) {
        struct db_batch *batch = db_batch_new(op);
        struct db_step *step[DB_BATCH_MAX];
        size_t used = 0;
        for (; used < DB_BATCH_MAX && at + used < count && days[at + used].day >= begins; used++) {
            step[used] =
                db_batch_add_in(batch, &days_uncounted_stmt, DB_NO_PARTITION, days[at + used].day);
            audit_filter_bind(&step[used]->params, filter);
            db_number(&step[used]->params, up_to);
        }
        st = db_run(op, batch, true);
        for (size_t i = 0; i < used && st == AZ_OK; i++)
            days[at + i].rows += db_get_number(step[i]->result, 0, 0, 0);
    }
    return st;
}

/* Set the number of a day that has a partition. */
static void
set_rows(struct audit_day *days, size_t count, int64_t day, int64_t rows)
{
    for (size_t i = 0; i < count; i++)
        if (days[i].day == day)
            days[i].rows = rows;
}

static enum az_status
count_coarse(struct op *op, const struct audit_filter *filter, struct audit_day *days, size_t count)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, filter->endpoint);
    db_text(&params, filter->client_id);
    db_text(&params, filter->outcome);
    bind_day(&params, filter->has_from, filter->from_ms);
    bind_day(&params, filter->has_until, filter->until_ms);
    enum az_status st = db_exec(op, &days_counted_stmt, &params, true, &result);
    if (st != AZ_OK)
        return st;
    for (int row = 0; row < PQntuples(result); row++)
        set_rows(days, count, db_get_number(result, row, COUNTED_DAY, -1),
                 db_get_number(result, row, COUNTED_ROWS, 0));
    return add_uncounted(op, filter, db_get_number(result, 0, COUNTED_UP_TO, 0),
                         db_get_number(result, 0, COUNTED_BEGINS, 0), days, count);
}

/* ---- filters with an index ---- */

static enum az_status
count_fine(struct op *op, const struct audit_filter *filter, struct audit_day *days, size_t count)
{
    const struct db_stmt *stmt = filter->request_id != NULL ? &days_of_request_stmt
                                 : filter->flow_id != NULL  ? &days_of_flow_stmt
                                                            : &days_of_subject_stmt;
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    db_batch_add(batch, &audit_plan_once_stmt);
    struct db_step *step = db_batch_add(batch, stmt);
    db_batch_commit(batch);
    audit_filter_bind(&step->params, filter);
    db_number(&step->params, AUDIT_COUNT_MAX);
    enum az_status st = db_run(op, batch, true);
    for (int row = 0; st == AZ_OK && row < PQntuples(step->result); row++)
        set_rows(days, count, db_get_number(step->result, row, DAYS_DAY, -1),
                 db_get_number(step->result, row, DAYS_ROWS, 0));
    return st;
}

enum az_status
audit_days_count(struct op *op, const struct audit_filter *filter, struct audit_day **ret,
                 size_t *ret_count)
{
    uint32_t *day;
    enum az_status st = audit_days_list(op, filter, &day, ret_count);
    if (st != AZ_OK)
        return st;
    *ret = talloc_zero_array(op->mem, struct audit_day, (unsigned) *ret_count + 1);
    if (*ret == NULL)
        return op_no_memory(op);
    for (size_t i = 0; i < *ret_count; i++)
        (*ret)[i].day = day[i];
    return audit_filter_is_fine(filter) ? count_fine(op, filter, *ret, *ret_count)
                                        : count_coarse(op, filter, *ret, *ret_count);
}
