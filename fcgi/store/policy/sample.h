/* A sample of the audit rows that a measurement would look at, if there are more of them than it
 * may (policy.md I13). */
#ifndef AZ_STORE_POLICY_SAMPLE_H
#define AZ_STORE_POLICY_SAMPLE_H

#include "store/audit/rows.h"

struct sample {
    struct audit_sample audit; /* for a walk */
    bool partial;              /* there are more rows than may be looked at */
    double p;                  /* probability of each row to be taken */
    int64_t rows, taken;       /* in the period, and in the sample */
};

/*
 * Count the rows of the period up to the id `last`, whatever else the filter says; if there are
 * more than `most`, choose about so many by the hash of their ids with this seed. Two trips for
 * each day, which read the index of ids alone, and one for its first and its last day.
 */
enum az_status sample_choose(struct op *op, const struct audit_filter *filter, int64_t last,
                             int64_t most, int64_t seed, struct sample *ret);

#endif
