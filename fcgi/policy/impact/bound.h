/* Estimates and bounds of all recorded decisions from a sample (policy.md I13). Pure. */
#ifndef AZ_POLICY_IMPACT_BOUND_H
#define AZ_POLICY_IMPACT_BOUND_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The share of samples whose bound is not below the truth, at least. */
#define BOUND_CONFIDENCE 0.95

/* A sample of audit rows: each was taken with the same probability. */
struct impact_sample {
    int64_t rows;   /* that it was taken of */
    int64_t taken;  /* that were taken */
    int64_t widest; /* decisions of one row, at most: a batch is taken as a whole */
};

/* Return the upper bound of a share of which `seen` of `of` were seen at random: the one-sided
 * bound of Clopper and Pearson (Biometrika 26, 1934). */
double bound_share(int64_t seen, int64_t of);

/* Return how many of all decisions are like those `seen` in the sample, as an estimate. */
int64_t bound_estimate(const struct impact_sample *sample, int64_t seen);

/* Return how many of all decisions are like those `seen` in the sample, at most. */
int64_t bound_most(const struct impact_sample *sample, int64_t seen);

/* Return the share of `of` decisions that those `seen` are, at most. Both were counted in the
 * sample. */
double bound_sample_share(const struct impact_sample *sample, int64_t seen, int64_t of);

/* Return {estimate, upper}, a new reference. */
json_t *bound_json(const struct impact_sample *sample, int64_t seen);

/* Read the sample of a result (PolicyImpact). False: the result has no sample, or no bounds. */
bool bound_sample_read(const json_t *result, struct impact_sample *ret);

#endif
