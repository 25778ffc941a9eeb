/* Limits at a save: what it would change is measured, and a save beyond a limit is refused
 * (policy.md G1 to G6). */
#ifndef AZ_POLICY_SAVE_STEPS_LIMITS_H
#define AZ_POLICY_SAVE_STEPS_LIMITS_H

#include "policy/impact/guards.h"
#include "policy/save/save.h"

/* Measurements of one save without the lock; the next one is made under it, in at most so many
 * seconds, as other saves wait then. */
#define LIMITS_FREE_TRIES 2
#define LIMITS_LOCKED_SECONDS 10
/* A rollback by who may pass the guards is measured for at most so many seconds: it is not refused,
 * and should not wait. */
#define LIMITS_ROLLBACK_SECONDS 10
/* A stored measurement of the same change is used for so many seconds: the time in which a person
 * reads a preview. Few decisions are recorded in between. */
#define LIMITS_STORED_SECONDS 600

/* The measurement for a save. */
struct measured {
    bool done;                    /* there is a measurement */
    const char *base, *candidate; /* revisions that it is about; NULL: any */
    const char *guards;           /* digest of the row with the guards by which it was judged */
    const char *counts;           /* JSON text for the history, or NULL */
    /* For a save that passes or changes guards: id of the key (or who saves) and the reason. */
    const char *override_by, *override_reason;
};

/* Find out if a save is measured: it asks for that, or there are guards. One trip unless it asks.
 * Shipped policy is not measured. */
enum az_status limits_wanted(struct op *op, const struct save_plan *plan, bool *ret);

/*
 * Measure a save, in at most so many seconds, and judge it. AZ_UNPROCESSABLE with
 * outcome->refusal: a limit was passed, or could not be measured. A rollback by who may pass the
 * guards is measured if that is possible, and not refused by them. Otherwise returns as
 * candidate_make(); AZ_BUSY: another measurement does not end.
 */
enum az_status limits_measure(struct op *op, const struct save_plan *plan, int64_t seconds,
                              struct measured *ret, struct save_outcome *outcome);

/* True if nothing need be measured, or what was measured is this change, judged by these guards. */
bool limits_fit(const struct save_plan *plan, const struct measured *measured,
                const struct guards *guards, const char *base, const char *candidate);

/*
 * Make sure that the change, which was made in this transaction, leaves the guards alone (`before`:
 * as they were), or may change them. AZ_UNPROCESSABLE with outcome->refusal: it needs an override.
 * AZ_PROTECTED: it takes the row out of the bundle, whose history keeps each change of it.
 */
enum az_status limits_keep_guards(struct op *op, const struct save_plan *plan,
                                  const struct guards *before, struct measured *measured,
                                  struct save_outcome *outcome);

/* True if the caller gives a reason, and may pass these guards: it is noted in `measured` that he
 * passes what would refuse the save. */
bool limits_override(const struct save_plan *plan, const struct guards *guards,
                     struct measured *measured);

/* Tell the log and the metrics of a save that passed guards. */
void limits_tell_override(const struct op *op, const struct save_plan *plan,
                          const struct measured *measured, const struct save_outcome *outcome);

#endif
