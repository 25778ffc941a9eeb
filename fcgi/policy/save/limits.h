/* Limits at a save: what it would change is measured, and a save beyond a limit is refused
 * (policy.md G1 to G6). */
#ifndef AZ_POLICY_SAVE_LIMITS_H
#define AZ_POLICY_SAVE_LIMITS_H

#include "policy/save/save.h"

/* The row with limits that hold for every save. */
#define LIMITS_ROW "svc.operator.controls.changes"

/* Measurements of one save without the lock; the next one is made under it, in at most so many
 * seconds, as other saves wait then. */
#define LIMITS_FREE_TRIES 2
#define LIMITS_LOCKED_SECONDS 10

/* What was measured for a save. */
struct measured {
    bool done;                    /* there is a measurement */
    const char *base, *candidate; /* revisions that it is about */
    const char *override;         /* reason and who, if guards were passed; for the history */
};

/* Find out if a save is measured: it asks for that, or there are guards. One trip unless it asks.
 * Shipped policy is not measured. */
enum az_status limits_wanted(struct op *op, const struct save_plan *plan, bool *ret);

/*
 * Measure a save, in at most so many seconds, and judge it. AZ_UNPROCESSABLE with
 * outcome->refusal: a limit was passed, or could not be measured. A rollback is measured and not
 * refused. Otherwise returns as candidate_make(); AZ_BUSY: another measurement does not end.
 */
enum az_status limits_measure(struct op *op, const struct save_plan *plan, int64_t seconds,
                              struct measured *ret, struct save_outcome *outcome);

/* True if the measurement, if there is one, is about this change. */
bool limits_fit(const struct measured *measured, const char *base, const char *candidate);

#endif
