#include "config.h"

#include "policy/trial/by_opa.h"

#include <stdio.h>

#include "base/clock.h"
#include "policy/engine/engine.h"
#include "policy/impact/side.h"
#include "policy/trial/by_machine.h"
#include "policy/trial/own_opa.h"
#include "store/db/db.h"

static void
note_failure(struct trial_note *note, const char *why)
{
    note->state = TRIAL_FAILED;
    snprintf(note->why, sizeof(note->why), "%s", why);
}

/* Note the answer, or why there is none. */
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

enum az_status
trial_by_opa(struct op *op, const struct trial_policy *policy,
             const struct trial_questions *questions, struct trial_note *note,
             const char **ret_untried)
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
