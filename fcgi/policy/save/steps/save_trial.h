/* The trial of a save: its bundle is evaluated in processes that can be ended, before an engine
 * that decides gets it (policy.md 7.3). */
#ifndef AZ_POLICY_SAVE_STEPS_SAVE_TRIAL_H
#define AZ_POLICY_SAVE_STEPS_SAVE_TRIAL_H

#include "policy/save/bundle/bundle.h"
#include "policy/save/plan/bundle_plan.h"
#include "policy/save/steps/limits.h"

/*
 * Try the bundle of a save whose rows are still those of `before` (revision, or NULL if nothing is
 * served), while `planning` makes its plan. AZ_UNPROCESSABLE with outcome->refusal: the policy does
 * not compile, a changed rule reads a member which no input has, or a question has no answer by it,
 * though one by the policy before; unless the caller overrides as guards allow, which is noted in
 * `measured`. Without the program SVC_OPA_BINARY little can be tried: a rule that calls a builtin
 * which no engine can cancel is refused then, whoever asks. outcome->trial_warning tells what was
 * not tried, and why.
 */
enum az_status save_trial(struct op *op, const struct save_plan *plan,
                          const struct bundle_build *build, struct planning *planning,
                          const char *before, struct measured *measured,
                          struct save_outcome *outcome);

#endif
