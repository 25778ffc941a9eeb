#include "config.h"

#include "policy/trial/by_machine.h"

#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/json/jsonx.h"
#include "host/file.h"
#include "policy/decide/effect.h"
#include "policy/engine/engine_plan.h"
#include "policy/impact/side.h"
#include "store/db/db.h"

/* The work of the process, which has a copy of all but the notes, and shares those. */
struct work {
    const struct op *op;
    const struct trial_policy *policy;
    const struct trial_questions *questions;
    struct trial_note *note;
    struct side side; /* the policy, read */
};

bool
trial_is_answer(struct op *op, const struct trial_question *question, const json_t *registry,
                json_t *answer)
{
    if (!question->decides)
        return true;
    size_t count = effect_count(question->input);
    struct effect *effect = talloc_zero_array(op->mem, struct effect, (unsigned) count);
    const struct effect_facts facts = {
        registry, {NULL, NULL}
    };
    if (answer == NULL || effect == NULL
        || effect_find(op, question->input, &facts, answer, effect) != AZ_OK)
        return false;
    for (size_t i = 0; i < count; i++)
        if (effect[i].outcome == EFFECT_NONE)
            return false;
    return true;
}

/* ---- the process */

/* Ask one question. */
static void
ask(struct work *work, const struct trial_question *question, struct trial_note *note)
{
    static const enum trial_state states[] = {
        [REGO_DONE] = TRIAL_ANSWERED,   [REGO_GIVE_UP] = TRIAL_UNKNOWN,
        [REGO_CONFLICT] = TRIAL_FAILED, [REGO_EXCEEDED] = TRIAL_FAILED,
        [REGO_TOUCHED] = TRIAL_HIDDEN,
    };
    struct op op = op_beside(work->op, talloc_new(NULL));
    struct rego_place place = {.file = NULL};
    json_t *answer = NULL;
    const json_t *request = json_object_get(question->input, "request");
    const struct engine_plan_question asked = {
        .entrypoint = question->entrypoint,
        .input = question->text,
        .length = question->text != NULL ? strlen(question->text) : 0,
        .now_ns = question->input != NULL ? json_integer_value(json_object_get(request, "time_ns"))
                                          : op.now_ms * 1000000,
        .deadline_us = clock_monotonic_us() + TRIAL_QUESTION_MS * INT64_C(1000),
        .statements = IMPACT_EVALUATION_STATEMENTS,
        .steps = IMPACT_EVALUATION_STEPS,
        .hidden = question->hidden,
        .bare = question->text == NULL,
        .stopped = &place,
    };
    note->state = TRIAL_RUNNING;
    enum rego_outcome outcome =
        engine_plan_run(op.mem, work->side.plan, &asked, &answer, note->why);
    /* A rule that fails without an input says nothing of questions; one that does not end does. */
    enum trial_state state =
        outcome == REGO_CONFLICT && asked.bare ? TRIAL_ANSWERED : states[outcome];
    if (place.file != NULL)
        snprintf(note->file, sizeof(note->file), "%s", place.file);
    note->row = place.row;
    if (state == TRIAL_ANSWERED
        && !trial_is_answer(&op, question, work->side.rows.row[SIDE_REGISTRY], answer)) {
        state = TRIAL_FAILED;
        snprintf(note->why, sizeof(note->why), "%s",
                 answer == NULL ? "the policy gives no decision (undefined)"
                                : "the answer is no valid decision");
    }
    note->state = state;
    talloc_free(op.mem);
}

/* Read the policy. False: the machine cannot run it, and OPA must be asked everything. */
static bool
read_policy(struct work *work)
{
    const struct trial_policy *policy = work->policy;
    const struct engine_plan_texts texts = {.name = policy->name,
                                            .plan = policy->plan,
                                            .data = policy->data,
                                            .plan_length = policy->plan_length,
                                            .data_length = policy->data_length};
    const char *why;
    struct op op = op_beside(work->op, talloc_new(NULL));
    work->side.plan = engine_plan_read(op.mem, &texts, NULL, &why);
    return work->side.plan != NULL
           && side_read_rows(&op, op.mem, policy->data, &work->side.rows) == AZ_OK;
}

static void
run(void *arg)
{
    struct work *work = arg;
    bool readable = read_policy(work);
    int64_t until = clock_monotonic_ms() + TRIAL_MS;
    for (size_t i = 0; i < work->questions->count; i++) {
        const struct trial_question *question = &work->questions->question[i];
        if (work->note[i].state != TRIAL_UNTRIED)
            continue;
        if (question->recorded && clock_monotonic_ms() >= until)
            return;
        if (readable)
            ask(work, question, &work->note[i]);
        else
            work->note[i].state = TRIAL_UNKNOWN;
    }
}

/* ---- the worker */

/* Note why the question that the process was at has no answer. A process that ended at no question
 * has not read the policy, or could not begin: the machine cannot tell, and OPA must be asked. */
static void
note_end(const struct trial_questions *questions, struct trial_note *note, enum child_end end)
{
    bool asked = end == CHILD_DONE;
    for (size_t i = 0; i < questions->count; i++)
        if (note[i].state == TRIAL_RUNNING) {
            asked = true;
            note[i].state = TRIAL_FAILED;
            snprintf(note[i].why, sizeof(note[i].why), "%s",
                     end == CHILD_RUNS ? "the evaluation does not end"
                                       : "the evaluation takes too much time or memory");
        }
    for (size_t i = 0; i < questions->count && !asked; i++)
        if (note[i].state == TRIAL_UNTRIED)
            note[i].state = TRIAL_UNKNOWN;
}

/* Wait for the process; each question has its own bounds, so that this one is the last. */
static enum child_end
await(struct op *op, struct child *child)
{
    int64_t until = clock_monotonic_ms() + TRIAL_MS + 2 * TRIAL_QUESTION_MS;
    for (;;) {
        int64_t next = clock_monotonic_ms() + TRIAL_SPEAK_MS;
        bool last = next >= until;
        enum child_end end = child_wait(child, last ? until : next);
        if (last || end != CHILD_RUNS)
            return end;
        db_break_silence(op);
    }
}

enum az_status
trial_by_machine(struct op *op, const struct trial_policy *policy,
                 const struct trial_questions *questions, struct trial_note *note)
{
    static const struct child_limits limits = {TRIAL_CPU_SECONDS, TRIAL_MEMORY, 0};
    const size_t octets = questions->count * sizeof(*note);
    if (policy->plan == NULL) {
        for (size_t i = 0; i < questions->count; i++)
            if (note[i].state == TRIAL_UNTRIED)
                note[i].state = TRIAL_UNKNOWN;
        return AZ_OK;
    }
    struct host_file *shared = host_file_memory(op->mem, NULL, octets);
    if (shared == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for a trial");
    memcpy(shared->at, note, octets);
    struct work work = {.op = op,
                        .policy = policy,
                        .questions = questions,
                        .note = shared->at,
                        .side = {.plan = NULL}};
    struct child *child = child_fork(op->mem, &limits, run, &work);
    enum child_end end = child != NULL ? await(op, child) : CHILD_FAILED;
    talloc_free(child);
    memcpy(note, shared->at, octets);
    talloc_free(shared);
    if (child == NULL)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "no process can be made for a trial");
    note_end(questions, note, end);
    return AZ_OK;
}
