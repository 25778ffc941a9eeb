/* Pages of audit rows: the numbers of rows by day tell which days a page is of. */
#include "config.h"

#include "store/audit/read/rows_private.h"

/* Rows of a page that lie in one day. */
struct part {
    uint32_t day;
    int64_t offset, limit;
};

/* Find the days of the page. Return how many there are; *ret is on op->mem. */
static size_t
find_parts(struct op *op, const struct audit_day *days, size_t count, int64_t offset, int64_t limit,
           struct part **ret)
{
    size_t used = 0;
    *ret = talloc_array(op->mem, struct part, (unsigned) count + 1);
    for (size_t i = 0; i < count && limit > 0 && *ret != NULL; i++) {
        int64_t here = days[i].rows - offset;
        if (here > 0) {
            int64_t rows = here < limit ? here : limit;
            (*ret)[used++] = (struct part){days[i].day, offset, rows};
            limit -= rows;
            offset = 0;
        } else {
            offset -= days[i].rows;
        }
    }
    return used;
}

/* Read as many days as fit into one trip; *ret_done is how many. */
static enum az_status
read_parts(struct op *op, const struct audit_filter *filter, const struct part *parts, size_t count,
           PGresult **results, size_t *ret_done)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step[DB_BATCH_MAX];
    bool ignored;
    size_t used = count < DB_BATCH_MAX ? count : DB_BATCH_MAX;
    for (size_t i = 0; i < used; i++) {
        const struct audit_slice slice = {.day = parts[i].day,
                                          .below = INT64_MAX,
                                          .limit = parts[i].limit,
                                          .offset = parts[i].offset,
                                          .octets = INT64_MAX};
        step[i] = audit_slice_add(batch, filter, &slice, &ignored);
    }
    enum az_status st = db_run(op, batch, true);
    for (size_t i = 0; i < used && st == AZ_OK; i++)
        results[i] = step[i]->result;
    *ret_done = used;
    return st;
}

enum az_status
audit_rows_page(struct op *op, const struct audit_filter *filter, int64_t offset, int64_t limit,
                struct audit_page *ret)
{
    struct audit_day *days = NULL;
    struct part *parts;
    size_t count = 0, done;
    enum az_status st = audit_days_count(op, filter, &days, &count);
    if (st != AZ_OK)
        return st;
    *ret = (struct audit_page){.total = 0};
    for (size_t i = 0; i < count; i++)
        ret->total += days[i].rows;
    ret->results = find_parts(op, days, count, offset, limit, &parts);
    ret->result = talloc_array(op->mem, PGresult *, (unsigned) ret->results + 1);
    if (parts == NULL || ret->result == NULL)
        return op_no_memory(op);
    for (size_t at = 0; at < ret->results && st == AZ_OK; at += done)
        st = read_parts(op, filter, parts + at, ret->results - at, ret->result + at, &done);
    return st;
}
