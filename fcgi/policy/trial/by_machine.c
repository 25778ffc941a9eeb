#include "config.h"

#include "policy/trial/by_machine.h"

#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/json/jsonx.h"
#include "host/file.h"
#include "policy/decide/effect.h"
#include "policy/engine/engine.h"
#include "policy/engine/engine_plan.h"
#include "policy/impact/side.h"
#include "store/db/db.h"

/* The text of an answer, which the process writes. */
struct answer {
    size_t length; /* 0: there is none, or it is undefined */
    char text[ENGINE_DECISION_MAX];
};

/* The work of the process, which has a copy of all but the notes and the answer, and shares those.
 */
struct work {
    const struct op *op;
    const struct trial_policy *policy;
    const struct trial_questions *questions;
    struct trial_note *note;
    struct answer *answer; /* to the last question that was answered, or NULL if not needed */
    struct side side;      /* the policy, read */
    const char *unread;    /* why the machine cannot run it, or NULL */
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

/* Write the answer for the worker. False: it is too long. */
static bool
keep_answer(struct op *op, const json_t *answer, struct answer *ret)
{
    if (answer == NULL)
        return true;
    const char *text = jsonx_dump(op->mem, answer);
    size_t length = text != NULL ? strlen(text) : 0;
    if (length == 0 || length > sizeof(ret->text))
        return false;
    memcpy(ret->text, text, length);
    ret->length = length;
    return true;
}

/* Return what is wrong with an answer, or NULL; keep it if the worker wants it. */
static const char *
answer_fault(struct op *op, struct work *work, const struct trial_question *question,
             json_t *answer)
{
    if (!trial_is_answer(op, question, work->side.rows.row[SIDE_REGISTRY], answer))
        return answer == NULL ? "the policy gives no decision (undefined)"
                              : "the answer is no valid decision";
    if (work->answer != NULL && !keep_answer(op, answer, work->answer))
        return "the answer is too long";
    return NULL;
}

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
    const char *fault = state == TRIAL_ANSWERED ? answer_fault(&op, work, question, answer) : NULL;
    if (fault != NULL)
        snprintf(note->why, sizeof(note->why), "%s", fault);
    note->state = fault != NULL ? TRIAL_FAILED : state;
    talloc_free(op.mem);
}

/* Read the policy. False: the machine cannot run it, and OPA must be asked everything. */
static bool
read_policy(struct work *work)
{
    const struct trial_policy *policy = work->policy;
    const struct engine_plan_texts texts = {.name = policy->name,
                                            .plan = policy->plan,
                                            .code = policy->code,
                                            .data = policy->data,
                                            .plan_length = policy->plan_length,
                                            .data_length = policy->data_length};
    struct op op = op_beside(work->op, talloc_new(NULL));
    work->side.plan = engine_plan_read(op.mem, &texts, NULL, &work->unread);
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
        if (readable) {
            ask(work, question, &work->note[i]);
            continue;
        }
        work->note[i].state = TRIAL_UNKNOWN;
        snprintf(work->note[i].why, sizeof(work->note[i].why), "%s",
                 work->unread != NULL ? work->unread : "the data cannot be read");
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

/* Wait for the process. The questions have limits of their own, so this wait ends soon after the
 * last one. */
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

/* Ask in a process. `answer` (or NULL) gets the text of the answer. */
static enum az_status
ask_process(struct op *op, const struct trial_policy *policy,
            const struct trial_questions *questions, struct trial_note *note, struct answer *answer)
{
    static const struct child_limits limits = {TRIAL_CPU_SECONDS, TRIAL_MEMORY, 0};
    const size_t octets = questions->count * sizeof(*note);
    struct host_file *shared =
        host_file_memory(op->mem, NULL, octets + (answer != NULL ? sizeof(*answer) : 0));
    if (shared == NULL)
        return op_no_memory(op);
    struct answer *written =
        answer != NULL ? (struct answer *) (void *) ((char *) shared->at + octets) : NULL;
    memcpy(shared->at, note, octets);
    struct work work = {
        .op = op, .policy = policy, .questions = questions, .note = shared->at, .answer = written};
    struct child *child = child_fork(op->mem, &limits, run, &work);
    enum child_end end = child != NULL ? await(op, child) : CHILD_FAILED;
    talloc_free(child);
    memcpy(note, shared->at, octets);
    if (answer != NULL)
        *answer = *written;
    talloc_free(shared);
    if (child == NULL)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "no process can be made for a trial");
    note_end(questions, note, end);
    return AZ_OK;
}

enum az_status
trial_by_machine(struct op *op, const struct trial_policy *policy,
                 const struct trial_questions *questions, struct trial_note *note)
{
    if (policy->plan != NULL)
        return ask_process(op, policy, questions, note, NULL);
    for (size_t i = 0; i < questions->count; i++)
        if (note[i].state == TRIAL_UNTRIED)
            note[i].state = TRIAL_UNKNOWN;
    return AZ_OK;
}

enum az_status
trial_by_machine_one(struct op *op, const struct trial_policy *policy,
                     const struct trial_question *question, struct trial_note *note, json_t **ret)
{
    struct trial_question copy = *question;
    const struct trial_questions questions = {&copy, 1};
    struct answer *answer = talloc_zero(op->mem, struct answer);
    *ret = NULL;
    *note = (struct trial_note){.state = TRIAL_UNTRIED};
    if (answer == NULL)
        return op_no_memory(op);
    enum az_status st = ask_process(op, policy, &questions, note, answer);
    if (st == AZ_OK && note->state == TRIAL_ANSWERED && answer->length > 0
        && jsonx_parse(op->mem, answer->text, answer->length, ENGINE_ANSWER_DEPTH_MAX, ret, NULL)
               != AZ_OK)
        st = op_no_memory(op);
    talloc_free(answer);
    return st;
}
