#include "config.h"

#include "policy/trial/trial.h"

#include <string.h>

#include "policy/trial/by_machine.h"
#include "policy/trial/by_opa.h"

const char *
trial_reason(TALLOC_CTX *mem, const char *file, unsigned row, const char *why)
{
    bool placed = strncmp(why, file, strlen(file)) == 0; /* true of no file too */
    return placed ? talloc_strdup(mem, why) : talloc_asprintf(mem, "%s:%u: %s", file, row, why);
}

/* Ask one policy: the machine first, and OPA what the machine cannot decide. */
static enum az_status
ask_policy(struct op *op, const struct trial_policy *policy,
           const struct trial_questions *questions, struct trial_note *note,
           const char **ret_untried)
{
    enum az_status st = trial_by_machine(op, policy, questions, note);
    return st == AZ_OK ? trial_by_opa(op, policy, questions, note, ret_untried) : st;
}

/* Ask the policy before those that failed. */
static enum az_status
ask_base(struct op *op, const struct trial_policy *base, const struct trial_questions *questions,
         const struct trial_note *candidate, struct trial_note *note)
{
    const char *untried;
    for (size_t i = 0; i < questions->count; i++)
        note[i].state = candidate[i].state == TRIAL_FAILED ? TRIAL_UNTRIED : TRIAL_HIDDEN;
    return ask_policy(op, base, questions, note, &untried);
}

/* Return the first question that failed and that the policy before does not fail too, or the number
 * of all. */
static size_t
first_blamed(const struct trial_questions *questions, const struct trial_note *candidate,
             const struct trial_note *base)
{
    size_t i = 0;
    while (i < questions->count
           && (candidate[i].state != TRIAL_FAILED || base[i].state == TRIAL_FAILED))
        i++;
    return i;
}

enum az_status
trial_run(struct op *op, const struct trial_policy *candidate, trial_base_fn *base, void *arg,
          const struct trial_questions *questions, struct trial_result *ret)
{
    struct trial_note *note =
        talloc_zero_array(op->mem, struct trial_note, (unsigned) questions->count);
    struct trial_note *before =
        talloc_zero_array(op->mem, struct trial_note, (unsigned) questions->count);
    struct trial_policy old;
    bool is = false;
    *ret = (struct trial_result){.question = NULL};
    if (note == NULL || before == NULL)
        return op_no_memory(op);
    enum az_status st = ask_policy(op, candidate, questions, note, &ret->untried);
    if (st != AZ_OK || first_blamed(questions, note, before) == questions->count)
        return st;
    st = base(op, arg, &old, &is);
    if (st == AZ_OK && is)
        st = ask_base(op, &old, questions, note, before);
    size_t blamed = first_blamed(questions, note, before);
    if (st == AZ_OK && blamed < questions->count) {
        ret->question = questions->question[blamed].name;
        ret->bare = questions->question[blamed].text == NULL;
        ret->file = note[blamed].file;
        ret->row = note[blamed].row;
        ret->why = note[blamed].why;
    }
    return st;
}
