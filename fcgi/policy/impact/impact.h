/* Measure what a candidate of the policy would have decided on recorded questions (policy.md 7).
 * Two plans decide, in a process that decides nothing else. */
#ifndef AZ_POLICY_IMPACT_IMPACT_H
#define AZ_POLICY_IMPACT_IMPACT_H

#include <jansson.h>

#include "store/audit/read/rows.h"

/* Examples of each class. */
#define IMPACT_EXAMPLES 10
#define IMPACT_EXAMPLES_MAX 100

/* One of the two policies that are compared. Texts outlive the run. */
struct impact_side {
    const char *revision; /* names the rows */
    const char *modules;  /* names the plan, which is stored (store/policy/plans.h) */
    const char *data;     /* data.json */
};

struct impact_pair {
    struct impact_side base, candidate;
};

/* The decisions that are looked at. */
struct impact_selection {
    struct audit_filter filter; /* with both times */
    const char *evaluation;     /* of the question; NULL: any */
    int64_t decisions;          /* looked at, at most */
    int64_t seconds;            /* that the run may take */
    int64_t examples;           /* of each class */
    const json_t *watches;      /* array (watch.h), or NULL */
};

/* Learns of the progress after each row, and ends the run by a status other than AZ_OK. */
typedef enum az_status impact_progress_fn(struct op *op, void *arg, int64_t done);

/*
 * Decide the recorded questions by both policies. *ret is the answer of the API (ImpactResult), on
 * op->mem. AZ_UNAVAILABLE: a plan is missing or cannot be run, with the reason; or the database.
 */
enum az_status impact_run(struct op *op, const struct impact_pair *pair,
                          const struct impact_selection *selection, impact_progress_fn *progress,
                          void *arg, json_t **ret);

#endif
