/* Build the shadow that decides: its change, applied to the current policy (policy.md S2). */
#ifndef AZ_POLICY_SHADOW_BUILD_H
#define AZ_POLICY_SHADOW_BUILD_H

#include "policy/impact/side.h"

/* A shadow that is ready to decide. */
struct shadow_policy {
    const char *base, *candidate; /* revisions */
    struct side side;             /* the candidate */
    struct side_rows base_rows;
};

/*
 * Make a change (change.h) of the policy of now in a transaction that is rolled back, and plan it.
 * *ret is on mem. Otherwise *ret_why is the reason, on op->mem; AZ_UNAVAILABLE: it may be possible
 * later, other statuses: not before the policy is another.
 */
enum az_status shadow_build(struct op *op, TALLOC_CTX *mem, const char *change,
                            struct shadow_policy **ret, const char **ret_why);

#endif
