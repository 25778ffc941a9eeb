/* The types of the operator's hooks in a candidate, by the engine that has just activated it. */
#ifndef AZ_POLICY_SAVE_HOOK_CHECK_H
#define AZ_POLICY_SAVE_HOOK_CHECK_H

#include <stdbool.h>

#include "base/op.h"

/*
 * True if the engine beside this process answers, so that hook_check() can ask it. Ask before the
 * candidate is published: one that is stopped keeps the saver waiting, and with the candidate in
 * their hands the other engines would answer 503 meanwhile.
 */
bool hook_check_ready(struct op *op);

/*
 * Return the fault of the first hook whose type is wrong in the policy `revision`, on op->mem; NULL
 * if there is none, or if the engine beside this process cannot tell (it does not answer, or has
 * another revision), which is logged. A decision denies with such a hook in any case; this check
 * tells the author before. It costs two questions.
 */
const char *hook_check(struct op *op, const char *revision);

/* Return a message with which an engine refused a candidate, or, if it is about the use of a hook
 * in a shipped rule, the fault of that hook. On op->mem. */
const char *hook_check_refusal(struct op *op, const char *message);

#endif
