/* A sample of the audit rows that a measurement would look at, if there are more of them than it
 * may (policy.md I13). */
#ifndef AZ_STORE_POLICY_SAMPLE_H
#define AZ_STORE_POLICY_SAMPLE_H

#include "store/audit/read/rows.h"

struct sample {
    struct audit_sample audit; /* for a walk */
    bool partial;              /* there are more rows than may be looked at */
    bool over;           /* the time was over before all rows were counted, so no row is chosen */
    double p;            /* probability of each row to be taken */
    int64_t rows, taken; /* in the period, and in the sample */
};

/* Is called after each step of counting. True in *ret_over: the time is over. A status other than
 * AZ_OK ends the choice. */
typedef enum az_status sample_pause_fn(struct op *op, void *arg, bool *ret_over);

/* The way in which rows are chosen. */
struct sample_choice {
    int64_t last; /* largest id */
    int64_t most; /* rows, at most */
    int64_t seed; /* of the hash */
    sample_pause_fn *pause;
    void *arg; /* of pause */
};

/*
 * Count the rows of the period up to the id `last`, whatever else the filter says; if there are
 * more than `most`, choose about so many by the hash of their ids with this seed. Two trips for
 * each day and each million of its ids, which read the index of ids alone, and one for the first
 * and the last day.
 */
enum az_status sample_choose(struct op *op, const struct audit_filter *filter,
                             const struct sample_choice *choice, struct sample *ret);

#endif
