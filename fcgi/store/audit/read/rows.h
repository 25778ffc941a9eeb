/* Audit rows as an administrator reads them: a page, all that match, or one by id. */
#ifndef AZ_STORE_AUDIT_READ_ROWS_H
#define AZ_STORE_AUDIT_READ_ROWS_H

#include "store/db/db.h"

/* Rows are counted this far if a filter names a subject, a flow or a request; totals by client,
 * endpoint, outcome and day are exact (counts.h). 10,000 rows are counted in about 10 ms. */
#define AUDIT_COUNT_MAX 10000

/* Rows that one step of a walk reads at most, and octets of their policy documents, as stored. A
 * short step leaves the processors to other requests soon.
 * With both limits the step stays below 8 MB. */
#define AUDIT_WALK_ROWS 100
#define AUDIT_WALK_OCTETS (1 << 20)

/* Rows that a step of a walk looks at when no index knows the filter: it takes some 30 ms then, and
 * a filter that matches nothing cannot keep the database silent for longer than its time limit. */
#define AUDIT_WALK_SPAN 20000

/* Ids that one step of a walk through a sample looks at, at most: it reads them in the index alone,
 * in some 10 ms. */
#define AUDIT_SAMPLE_SPAN 100000

/* A sample of rows: those whose id has a hash below a limit, so that no time of the day is
 * preferred and each reader finds the same rows. */
struct audit_sample {
    int64_t seed;              /* of the hash */
    int64_t limit;             /* hashes have 63 bits */
    int64_t from_id, until_id; /* rows with an id from the first one up to before the other */
};

/* Rows must match each of these values; NULL or 0 matches any. */
struct audit_filter {
    const char *endpoint;   /* the route's pattern */
    const char *client_id;  /* client of the request */
    const char *subject_id; /* subject */
    const char *outcome;    /* allowed, denied, rejected or error */
    const char *flow_id;    /* UUID */
    const char *request_id; /* X-Request-ID */
    /* The rest is for walks only; no index knows these. */
    const char *operation;       /* the route's operation */
    int64_t http_status;         /* status of the answer */
    const char *reason;          /* code of a denial */
    const char *resource, *tool; /* of a call through the gateway */
    const char *ip;              /* address of the caller, in a form that PostgreSQL reads */
    const char *object;          /* what a request to the admin API names */
    /* Any endpoint has these times. */
    int64_t from_ms;  /* created at this time or later, milliseconds since 1970; for a page the
                         begin of a day */
    int64_t until_ms; /* created before this time, the same */
    bool has_from, has_until;
    const struct audit_sample *sample; /* of a walk; NULL: all rows */
};

/* One row; texts live as long as the result it was read from. */
struct audit_row {
    int64_t id;
    const char *created_at; /* ISO 8601, UTC, with milliseconds */
    const char *request_id, *flow_id, *client_id, *subject_id;
    const char *endpoint, *operation, *method;
    int64_t http_status;
    const char *outcome, *ip, *user_agent;
    const char *summary;  /* JSON text, or NULL */
    const char *input;    /* policy's question as JSON text on op->mem, or NULL */
    const char *decision; /* policy's answer, the same */
};

/* Rows of a page, day by day, the newest first. */
struct audit_page {
    PGresult **result; /* one for each day */
    size_t results;
    int64_t total; /* matching rows on all pages */
};

/* Return the days of the filter that have a partition, the newest first, on op->mem. */
enum az_status audit_days_list(struct op *op, const struct audit_filter *filter, uint32_t **ret,
                               size_t *ret_count);

/* Find the smallest id of a day's rows, and the number after the largest id; both are 0 without
 * rows. One trip. */
enum az_status audit_day_bounds(struct op *op, uint32_t day, int64_t *ret_least,
                                int64_t *ret_below);

/* Read a page. Two trips, or one more for each eight days that the page reaches over. */
enum az_status audit_rows_page(struct op *op, const struct audit_filter *filter, int64_t offset,
                               int64_t limit, struct audit_page *ret);

/* Read the row with this id; *ret is empty if there is no such row. */
enum az_status audit_rows_fetch(struct op *op, int64_t id, PGresult **ret);

/* Return the id of a row of a result. */
int64_t audit_rows_id(const PGresult *result, int row);

/* Read a row of a result without its documents. */
void audit_rows_head(const PGresult *result, int row, struct audit_row *ret);

/* Read a row of a result, with its documents unpacked onto op->mem. */
enum az_status audit_rows_get(struct op *op, const PGresult *result, int row,
                              struct audit_row *ret);

/* False if a document of a row is the placeholder for one that cannot be read. */
bool audit_rows_is_readable(const char *document);

/* A walk through all matching rows, day by day, the newest first. Rows that are written during the
 * walk may or may not be part of it. No transaction is open between two steps, so a slow reader
 * keeps nothing from being cleaned up. */
struct audit_walk {
    const struct audit_filter *filter;
    uint32_t *day; /* days that are left, the newest last */
    size_t days;
    int64_t below; /* rows of the newest with a smaller id are left; 0: it was not begun */
    int64_t least; /* its smallest id */
    int64_t start; /* rows of the first day with a smaller id are left; 0: all of them */
};

/* The place of a row: a walk goes on with the rows after it, which are older. */
struct audit_walk_mark {
    int64_t day; /* number of its partition */
    int64_t id;
};

/* Continue after a position, which need not have a row. Called before the first step. */
void audit_walk_after(struct audit_walk *walk, const struct audit_walk_mark *place);

/* Return the place after which the walk goes on. */
struct audit_walk_mark audit_walk_place(const struct audit_walk *walk);

/* Begin the walk. */
enum az_status audit_walk_begin(struct op *op, const struct audit_filter *filter,
                                struct audit_walk *ret);

/* Read the next rows, perhaps none; *ret is NULL if a day had none at all. *ret_more is false if
 * nothing is left. */
enum az_status audit_walk_next(struct op *op, struct audit_walk *walk, PGresult **ret,
                               bool *ret_more);

#endif
