/* The questions that a candidate of the policy is asked before an engine gets it (policy.md 7.3):
 * the hooks of operators without an input, the samples, the hooks on each sample, and what was
 * asked last. */
#ifndef AZ_POLICY_TRIAL_QUESTIONS_H
#define AZ_POLICY_TRIAL_QUESTIONS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/* Recorded questions, the newest distinct ones: more say little more, and a save waits for them. */
#define TRIAL_RECORDED_MAX 200
/* Audit rows that are looked at for them. Most instances ask few distinct questions; those that ask
 * many find 200 in half of these. */
#define TRIAL_ROWS_MAX 400
struct trial_question {
    const char *name;       /* for people, to follow "of": "the sample question X" */
    const char *entrypoint; /* rule: svc/decision/issue/result, or svc/lib/trial/issue */
    const char *text;       /* as JSON; NULL: without an input */
    json_t *input;          /* the same as an object, or NULL */
    const json_t *hidden;   /* values that a recorded one lacks (impact/hidden.h), or NULL */
    bool decides;           /* the answer must be a decision, else any will do */
    bool recorded;          /* it may be left out if time is short */
};

struct trial_questions {
    struct trial_question *question; /* on op->mem, in this order */
    size_t count;
};

/* Collect the questions. `hooks`: the policy has the rules that show what hooks give. */
enum az_status trial_questions_read(struct op *op, bool hooks, struct trial_questions *ret);

#endif
