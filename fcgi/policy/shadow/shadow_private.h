/* Parts of shadows that serve.c uses (policy.md S2, S4). */
#ifndef AZ_POLICY_SHADOW_SHADOW_PRIVATE_H
#define AZ_POLICY_SHADOW_SHADOW_PRIVATE_H

#include "policy/engine/shadow_tap.h"
#include "policy/impact/impact_routes.h"
#include "policy/impact/side.h"
#include "policy/impact/tally.h"

/* ---- build the shadow that decides (S2) ---- */

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

/* ---- compare one live decision with that of the shadow (S4) ---- */

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

/* ---- add what a host has counted to the result (S4) ---- */

/* Add counts, and how many decisions were dropped, to the stored result. *ret_octets is its length
 * then. AZ_NOT_FOUND: the shadow is not active. */
enum az_status shadow_report(struct op *op, int64_t id, const struct shadow_counts *counts,
                             int64_t dropped, size_t *ret_octets);

#endif
