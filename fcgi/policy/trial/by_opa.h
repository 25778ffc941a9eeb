/* Questions put to an Open Policy Agent of the trial's own: those that the machine cannot decide.
 */
#ifndef AZ_POLICY_TRIAL_BY_OPA_H
#define AZ_POLICY_TRIAL_BY_OPA_H

#include "policy/trial/trial.h"

/* Ask those whose state is TRIAL_UNKNOWN. *ret_untried (on op->mem) is why they stay so, or NULL.
 */
enum az_status trial_by_opa(struct op *op, const struct trial_policy *policy,
                            const struct trial_questions *questions, struct trial_note *note,
                            const char **ret_untried);

#endif
