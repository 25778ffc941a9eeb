/* One live decision and what the shadow would have decided (policy.md S4). */
#ifndef AZ_POLICY_SHADOW_SHADOW_COMPARE_H
#define AZ_POLICY_SHADOW_SHADOW_COMPARE_H

#include "policy/engine/shadow_tap.h"
#include "policy/impact/impact_routes.h"
#include "policy/impact/tally.h"
#include "policy/shadow/build.h"

/* The counts since the last report. */
struct shadow_counts {
    struct tally *tally;
    int64_t moved; /* decided by another revision than the shadow is made of */
};

/* Let the shadow decide the question of a live decision, and count the difference. Memory of
 * op->mem is used; `routes` are those of now. */
enum az_status shadow_compare(struct op *op, const struct shadow_policy *policy,
                              struct impact_routes *routes, const struct shadow_question *question,
                              struct shadow_counts *counts);

#endif
