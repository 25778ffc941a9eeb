/* A change that is not made: the policy with it, ready to be measured (policy.md I2). */
#ifndef AZ_POLICY_SAVE_PLAN_CANDIDATE_H
#define AZ_POLICY_SAVE_PLAN_CANDIDATE_H

#include "policy/impact/impact.h"
#include "policy/save/save.h"

/*
 * Make the change in a transaction that is rolled back, without the save lock, and plan the policy
 * before and after it. What refuses a save refuses this: the status of apply(), or
 * AZ_UNPROCESSABLE with ret_outcome->refusal and *ret_errors ([{path, row, message}], on op->mem).
 * AZ_UNAVAILABLE: there is no plan, with the reason in the public text; the pair is set then.
 */
enum az_status candidate_make(struct op *op, const struct save_plan *plan,
                              struct save_outcome *ret_outcome, struct impact_pair *ret,
                              json_t **ret_errors);

#endif
