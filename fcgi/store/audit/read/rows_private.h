/* Parts that the files of this folder share. */
#ifndef AZ_STORE_AUDIT_READ_ROWS_PRIVATE_H
#define AZ_STORE_AUDIT_READ_ROWS_PRIVATE_H

#include "store/audit/read/rows.h"

/* True for rows `a` that match the filter, $1 to $10. */
#define AUDIT_MATCHES                                                                              \
    "($1::text IS NULL OR a.endpoint = $1) AND ($2::text IS NULL OR a.client_id = $2)"             \
    " AND ($3::text IS NULL OR a.subject_id = $3) AND ($4::text IS NULL OR a.outcome = $4)"        \
    " AND ($5::uuid IS NULL OR a.flow_id = $5::uuid)"                                              \
    " AND ($6::text IS NULL OR a.request_id = $6)"                                                 \
    " AND ($7::text IS NULL OR a.operation = $7)"                                                  \
    " AND ($8::integer IS NULL OR a.http_status = $8::integer)"                                    \
    " AND a.created_at >= coalesce($9::timestamptz, '-infinity')"                                  \
    " AND a.created_at < coalesce($10::timestamptz, 'infinity')"

/* Before a statement about all days, in its transaction: its plan is made once in a session. */
extern const struct db_stmt audit_plan_once_stmt;

/* Add the parameters of AUDIT_MATCHES. */
void audit_filter_bind(struct db_params *params, const struct audit_filter *filter);

/* True if the filter has parts that the table of counts does not have. */
bool audit_filter_is_fine(const struct audit_filter *filter);

/* Rows of one day: from the largest id below `below` down to `least`. */
struct audit_slice {
    uint32_t day; /* number of the partition */
    int64_t below, least;
    int64_t limit, offset; /* rows */
    int64_t octets;        /* of their documents, at most; one row is always read */
};

/* Add the statement that reads a slice. *ret_indexed: few rows that do not match are looked at. */
struct db_step *audit_slice_add(struct db_batch *batch, const struct audit_filter *filter,
                                const struct audit_slice *slice, bool *ret_indexed);

/* Rows of a day that match a filter. */
struct audit_day {
    uint32_t day; /* number of the partition */
    int64_t rows;
};

/* Count the rows that match, by day, the newest day first; *ret is a talloc array on op->mem.
 * Days without rows may be missing. */
enum az_status audit_days_count(struct op *op, const struct audit_filter *filter,
                                struct audit_day **ret, size_t *ret_count);

#endif
