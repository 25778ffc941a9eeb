/* A run in a process of its own, which outlives the request that starts it (policy.md I3). */
#ifndef AZ_POLICY_IMPACT_JOB_H
#define AZ_POLICY_IMPACT_JOB_H

#include "policy/impact/impact.h"

/* Data and stack of the process, in octets: two of the largest plans take half of it
 * (ENGINE_PLAN_OCTETS_MAX). */
#define IMPACT_MEMORY ((size_t) 1 << 30)

/* The label that is stored with a run. */
struct impact_label {
    const char *who;       /* label of the admin key, or authzctl */
    const char *selection; /* as JSON text, for those who read the run */
};

/*
 * Start a run; *ret_id names its row. The process holds LOCK_IMPACT, so only one runs on all hosts:
 * AZ_BUSY if another is under way. The process closes all descriptors, opens its own connection,
 * limits its memory and processor time, and runs with low priority. AZ_UNAVAILABLE: it cannot be
 * started, or cannot connect.
 */
enum az_status impact_start(struct op *op, const struct impact_pair *pair,
                            const struct impact_selection *selection,
                            const struct impact_label *label, int64_t *ret_id);

/* Wait until the run is over, for at most `ms`; *ret is its row as impact_fetch() shows it, and
 * *ret_running is true if it is not over. */
enum az_status impact_wait(struct op *op, int64_t id, int64_t ms, const char **ret,
                           bool *ret_running);

#endif
