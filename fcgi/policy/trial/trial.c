#include "config.h"

#include "policy/trial/trial.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "policy/engine/engine.h"
#include "policy/impact/side.h"
#include "policy/trial/by_machine.h"
#include "policy/trial/own_opa.h"
#include "store/db/db.h"

const char *
trial_reason(TALLOC_CTX *mem, const char *file, unsigned row, const char *why)
{
    bool placed = strncmp(why, file, strlen(file)) == 0; /* true of no file too */
    return placed ? talloc_strdup(mem, why) : talloc_asprintf(mem, "%s:%u: %s", file, row, why);
}

static void
note_failure(struct trial_note *note, const char *why)
{
    note->state = TRIAL_FAILED;
    snprintf(note->why, sizeof(note->why), "%s", why);
}

/* Note the answer, or why there is no answer. */
static void
note_answer(struct op *op, const struct trial_question *question, const json_t *registry,
            enum az_status st, struct engine_trial *trial, struct trial_note *note)
{
    if (st == AZ_UNPROCESSABLE && question->text == NULL)
        note->state = TRIAL_ANSWERED; /* it says nothing of questions with an input */
    else if (st == AZ_UNPROCESSABLE)
        note_failure(note, trial->message);
    else if (st != AZ_OK)
        note_failure(note, "Open Policy Agent gives no answer: the evaluation does not end, or "
                           "takes too much time or memory");
    else if (!trial_is_answer(op, question, registry, trial->result))
        note_failure(note, trial->result == NULL ? "the policy gives no decision (undefined)"
                                                 : "the answer is no valid decision");
    else
        note->state = TRIAL_ANSWERED;
}

/* Ask one question. False: the engine is of no use any more. */
static bool
ask(struct op *op, struct own_opa *own, const struct trial_question *question,
    const json_t *registry, struct trial_note *note)
{
    struct engine_trial trial;
    struct op look = own_opa_op(op, talloc_new(op->mem), own);
    enum az_status st = look.mem != NULL
                            ? engine_try_for(&look, question->entrypoint, question->input,
                                             ENGINE_EXPLAIN_OFF, TRIAL_QUESTION_MS, &trial)
                            : AZ_SERVER_ERROR;
    if (st != AZ_SERVER_ERROR)
        note_answer(&look, question, registry, st, &trial, note);
    talloc_free(look.mem);
    db_break_silence(op);
    return st == AZ_OK || st == AZ_UNPROCESSABLE;
}

static void
ask_all(struct op *op, struct own_opa *own, const struct trial_questions *questions,
        const json_t *registry, struct trial_note *note)
{
    int64_t until = clock_monotonic_ms() + TRIAL_MS;
    bool usable = true;
    for (size_t i = 0; i < questions->count && usable; i++) {
        const struct trial_question *question = &questions->question[i];
        if (note[i].state != TRIAL_UNKNOWN)
            continue;
        if (question->hidden != NULL)
            note[i].state = TRIAL_HIDDEN; /* OPA does not know what was not recorded */
        else if (!question->recorded || clock_monotonic_ms() < until)
            usable = ask(op, own, question, registry, &note[i]);
    }
}

/* Return the first question that must be asked, or the number of all. */
static size_t
first_unknown(const struct trial_questions *questions, const struct trial_note *note)
{
    size_t i = 0;
    while (i < questions->count && note[i].state != TRIAL_UNKNOWN)
        i++;
    return i;
}

/* Ask those whose state is TRIAL_UNKNOWN. *ret_untried (on op->mem) is why they stay so, or NULL.
 */
static enum az_status
ask_opa(struct op *op, const struct trial_policy *policy, const struct trial_questions *questions,
        struct trial_note *note, const char **ret_untried)
{
    size_t first = first_unknown(questions, note);
    struct own_opa *own = NULL;
    struct side_rows rows = {.row = {NULL}};
    *ret_untried = NULL;
    if (first == questions->count)
        return AZ_OK;
    enum az_status st = side_read_rows(op, op->mem, policy->data, &rows);
    if (st != AZ_OK)
        return st;
    switch (own_opa_start(op, policy->body, policy->body_length, &own, ret_untried)) {
    case OWN_OPA_READY:
        ask_all(op, own, questions, rows.row[SIDE_REGISTRY], note);
        break;
    case OWN_OPA_REFUSED:
        note_failure(&note[first], *ret_untried); /* and the others are not asked */
        break;
    case OWN_OPA_NONE:
        break;
    }
    talloc_free(own);
    return AZ_OK;
}

/* Ask one policy: the machine first, and OPA what the machine cannot decide. */
static enum az_status
ask_policy(struct op *op, const struct trial_policy *policy,
           const struct trial_questions *questions, struct trial_note *note,
           const char **ret_untried)
{
    enum az_status st = trial_by_machine(op, policy, questions, note);
    return st == AZ_OK ? ask_opa(op, policy, questions, note, ret_untried) : st;
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
