/* One question to the active policy for a person who tries it (POST
 * /admin/api/policy-rules/evaluate): it may take a rule where no decision comes, so the engine that
 * decides is not asked. */
#ifndef AZ_POLICY_TRIAL_EVALUATE_H
#define AZ_POLICY_TRIAL_EVALUATE_H

#include "policy/engine/engine.h"

/*
 * Answer as engine_try() does, by an engine of the request's own with the bundle that may decide.
 * Without the program SVC_OPA_BINARY the engine that decides is asked, unless a rule calls a
 * builtin that it cannot cancel: AZ_UNAVAILABLE then, and the fault names the rule and the setting.
 */
enum az_status trial_evaluate(struct op *op, const char *path, const json_t *input,
                              enum engine_explain explain, struct engine_trial *ret);

/* Check that the engine that decides may be asked what a person tries. AZ_UNAVAILABLE: a rule calls
 * a builtin that this engine cannot cancel; `why` says why this engine would be asked. */
enum az_status trial_check_live(struct op *op, const char *why);

#endif
