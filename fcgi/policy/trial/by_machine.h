/* Questions put to the machine of this program (rego/machine.h), in a process that can be ended. */
#ifndef AZ_POLICY_TRIAL_BY_MACHINE_H
#define AZ_POLICY_TRIAL_BY_MACHINE_H

#include "policy/trial/trial.h"

/* Ask those that are untried, in their order; recorded ones until TRIAL_MS are over. Notes are
 * those of the questions. A policy without a plan answers none: all are unknown. */
enum az_status trial_by_machine(struct op *op, const struct trial_policy *policy,
                                const struct trial_questions *questions, struct trial_note *note);

/* Ask one question and return the answer, on op->mem; NULL: the answer is undefined, or there is no
 * answer and the note says why. */
enum az_status trial_by_machine_one(struct op *op, const struct trial_policy *policy,
                                    const struct trial_question *question, struct trial_note *note,
                                    json_t **ret);

/* Judge the answer to a question: is it a decision? On mem, which may be freed then. */
bool trial_is_answer(struct op *op, const struct trial_question *question, const json_t *registry,
                     json_t *answer);

#endif
