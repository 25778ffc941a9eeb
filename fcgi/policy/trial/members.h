/* Rules that read a member which no input has (policy.md 7.3): such a rule is undefined, and what
 * it should deny goes through. Found in the plan of the policy, without a process. */
#ifndef AZ_POLICY_TRIAL_MEMBERS_H
#define AZ_POLICY_TRIAL_MEMBERS_H

#include <jansson.h>

#include "rego/plan.h"
#include "store/policy/bundles.h"

/* Most faults that are reported: a person reads a few at a time. */
#define MEMBERS_FAULTS_MAX 20

/*
 * Find what the marked rules (`marked[i]` of rows->rule_path[i]) in Rego of package custom and
 * below read of the input, and what no schema of policy/inputs has: custom.issue sees the input of
 * issue, another package below custom that of any question. *ret: an array of {path, row, message}
 * on op->mem; NULL: there is no fault. What follows from a value that is not known is no fault: a
 * function's argument, a key that is computed, and what comes after `with input`. AZ_SERVER_ERROR:
 * no memory, or a schema cannot be read.
 */
enum az_status members_find(struct op *op, const struct bundle_rows *rows, const bool *marked,
                            const struct rego_plan *plan, json_t **ret);

/* Return the words for a member that is not there: `whole` is a.b and `parent` a, whose members are
 * `names` (ended by NULL). NULL: no memory. */
char *members_text(TALLOC_CTX *mem, const char *whole, const char *parent,
                   const char *const *names);

#endif
