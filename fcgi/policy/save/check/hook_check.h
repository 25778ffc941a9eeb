/* The types of the operator's hooks in a candidate, by the engine that has just activated it. */
#ifndef AZ_POLICY_SAVE_CHECK_HOOK_CHECK_H
#define AZ_POLICY_SAVE_CHECK_HOOK_CHECK_H

#include <stdbool.h>

#include "policy/save/bundle/bundle.h"

/* The types of all hooks take milliseconds, on a very busy machine a second. A rule that takes
 * longer without an input stops decisions: OPA cannot cancel every builtin. Milliseconds. */
#define HOOK_TRIAL_MS 5000

/*
 * True if the engine beside this process answers, so that hook_check() can ask it. Ask before the
 * candidate is published: one that is stopped keeps the saver waiting, and with the candidate in
 * their hands the other engines would answer 503 meanwhile.
 */
bool hook_check_ready(struct op *op);

/*
 * Return the fault of the first hook whose type is wrong in the candidate, on op->mem, or that of
 * the changed rules if the engine beside this process accepted the question and gave no answer in
 * time: it would give none to decisions. NULL if there is none, or if that engine cannot tell (it
 * is not reachable, or has another revision), which is logged. A decision denies with a hook of a
 * wrong type in any case; this check tells the author before. It costs two questions.
 */
const char *hook_check(struct op *op, const struct bundle_build *build);

/*
 * Return a message with which an engine refused a candidate of these rows; if it is about the use
 * of a hook in a shipped rule, the fault of that hook, and if it is about rules that exclude each
 * other, one that names those of the save (rule_conflict.h). On op->mem. The candidate is not
 * stored yet.
 */
const char *hook_check_refusal(struct op *op, const struct bundle_rows *rows, const char *message);

#endif
