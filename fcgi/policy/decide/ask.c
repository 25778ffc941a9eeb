#include "config.h"

#include "policy/decide/ask.h"

#include <time.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/pack.h"
#include "metrics/metrics.h"
#include "policy/decide/outcome.h"
#include "policy/engine/engine.h"
#include "policy/engine/entrypoints.h"

/* Pause between two questions while a save is being confirmed, in milliseconds; OPA needs 10 to 50
 * ms to activate a bundle. */
#define PAUSE_MS 20

/* Count the question by its outcome; `decision` is NULL if there is none that counts. The caller of
 * this room may still refuse the decision, so it is held until then, or the answer to the request.
 */
static void
count_question(struct op *op, const char *evaluation, const struct decision *decision)
{
    const char *const values[] = {
        evaluation != NULL ? evaluation : "other",
        decision == NULL   ? "error"
        : !decision->allow ? "denied"
                           : "allowed",
        decision == NULL   ? "system"
        : !decision->allow ? decision_category(decision)
                           : "none",
    };
    metrics_hold(op->az->metrics, METRIC_DECISIONS, values);
}

bool
ask_again(struct op *op, int64_t started_ms, const struct verdict *verdict)
{
    /* A worker that has loaded the new revision asks again in any case: on a busy machine, reading
     * its plan may have taken the time. It loads each revision once, so this ends with the saves.
     */
    bool renewed = engine_renew(op);
    if (!renewed && clock_monotonic_ms() - started_ms >= ASK_REVISION_WAIT_MS) {
        count_question(op, verdict->evaluation, NULL);
        op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine uses revision %s, which is not acceptable",
                verdict->decision.revision);
        return false;
    }
    metrics_hold(op->az->metrics, METRIC_DECISIONS, NULL); /* the next answer counts */
    if (renewed)
        return true;
    struct timespec pause = {0, PAUSE_MS * 1000000L};
    nanosleep(&pause, NULL);
    return true;
}

/* Add the engine, its revision and its duration to the output (policy.md 6.6). False: no memory. */
static bool
describe_answer(json_t *output, const struct engine_answer *answer)
{
    struct jsonx_build build = {output, false};
    if (answer->revision != NULL)
        jsonx_set(&build, "revision", json_string_nocheck(answer->revision));
    if (answer->engine != NULL)
        jsonx_set(&build, "engine", json_string_nocheck(answer->engine));
    jsonx_set(&build, "eval_us", json_integer(answer->us));
    return !build.lost;
}

static enum az_status
refuse_length(struct op *op, size_t length)
{
    return op_fail(op, AZ_SERVER_ERROR, NULL, "policy input of %zu octets cannot be packed",
                   length);
}

static enum az_status
pack_input(struct op *op, struct verdict *ret)
{
    unsigned char *packed;
    if (!question_write(op->mem, &ret->asked))
        return op_fail(op, AZ_SERVER_ERROR, NULL, "policy input cannot be written");
    if (pack_text(op->mem, ret->asked.text, ret->asked.length, &packed, &ret->input_length)
        != AZ_OK)
        return refuse_length(op, ret->asked.length);
    ret->input = packed;
    return AZ_OK;
}

static enum az_status
pack_output(struct op *op, struct verdict *ret)
{
    unsigned char *packed;
    size_t length;
    char *text = jsonx_dump_around(op->mem, "", ret->decision.output, "", &length);
    if (text == NULL || pack_text(op->mem, text, length, &packed, &ret->output_length) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "policy answer cannot be packed");
    ret->output = packed;
    return AZ_OK;
}

/* Add a reason of the control `system`, which is last in the order of reasons. A failure of the
 * service itself, such as lack of memory, has none. */
static void
add_reason(const struct op *op, struct decision *decision, enum no_decision lack,
           struct jsonx_build *output)
{
    if (op->fault.status != AZ_UNAVAILABLE)
        return;
    struct jsonx_build reasons = {decision->reasons, false};
    if (reasons.value == NULL)
        reasons.value = jsonx_own(op->mem, json_array());
    jsonx_append(&reasons, no_decision_reason(lack));
    decision->reasons = jsonx_built(&reasons);
    jsonx_set(output, "deny_reasons", json_incref(decision->reasons));
}

/* Put the reason and the operation's fault into the packed output. */
static void
note_lack(struct op *op, struct verdict *verdict, enum no_decision lack)
{
    json_t *why = json_string(op->fault.detail);
    struct jsonx_build output = {verdict->decision.output, false};
    add_reason(op, &verdict->decision, lack, &output);
    jsonx_set(&output, "error", why != NULL ? why : json_string_nocheck("no decision"));
    if (!output.lost)
        pack_output(op, verdict); /* on failure the row is written without the error */
}

void
ask_note_error(struct op *op, struct verdict *verdict)
{
    note_lack(op, verdict, NO_DECISION_INVALID);
}

/*
 * Note the question and the error for the audit of a request without a decision. A refused answer
 * is not kept, so that no reader of the row takes it for a decision.
 */
static void
note_no_decision(struct op *op, const struct engine_answer *answer, struct verdict *ret)
{
    struct verdict verdict = {.asked = answer->asked};
    verdict.decision.output = jsonx_own(op->mem, json_object());
    if (!question_was_asked(&answer->asked) || verdict.decision.output == NULL
        || pack_input(op, &verdict) != AZ_OK)
        return;
    if (!describe_answer(verdict.decision.output, answer))
        return;
    note_lack(op, &verdict, answer->lack);
    *ret = verdict;
}

/* Like note_no_decision, keep nothing of the answer that a reader could take for a decision. The
 * next question is by the revision that may decide. */
enum az_status
ask_refuse(struct op *op, const char *member, const char *why, struct verdict *verdict)
{
    static const char *const kept[] = {"revision", "engine", "eval_us"};
    struct jsonx_build shown = {jsonx_own(op->mem, json_object()), false};
    count_question(op, verdict->evaluation, NULL);
    op_fail(op, AZ_UNAVAILABLE, NULL, "policy answer refused: %s %s", member, why);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        json_t *value = json_object_get(verdict->decision.output, kept[i]);
        if (value != NULL)
            jsonx_set(&shown, kept[i], json_incref(value));
    }
    if (jsonx_built(&shown) == NULL)
        return AZ_UNAVAILABLE;
    verdict->decision = (struct decision){.output = shown.value};
    ask_note_error(op, verdict);
    engine_renew(op);
    return AZ_UNAVAILABLE;
}

/* Ask, and read the answer. */
static enum az_status
ask_once(struct op *op, const char *entrypoint, const json_t *input,
         const struct decision_bounds *bounds, struct engine_answer *answer, struct verdict *ret)
{
    *answer = (struct engine_answer){.result = NULL};
    enum az_status st = engine_evaluate(op, entrypoint, input, answer);
    *ret = (struct verdict){.evaluation = json_string_value(json_object_get(input, "evaluation")),
                            .decision = {.revision = answer->revision},
                            .asked = answer->asked};
    return st == AZ_OK ? decision_read(op, answer->result, bounds, &ret->decision) : st;
}

enum az_status
ask_pack(struct op *op, struct verdict *verdict)
{
    enum az_status st = verdict->input == NULL && question_was_asked(&verdict->asked)
                            ? pack_input(op, verdict)
                            : AZ_OK;
    return st == AZ_OK && verdict->output == NULL && verdict->decision.output != NULL
               ? pack_output(op, verdict)
               : st;
}

enum az_status
ask_entrypoint(struct op *op, const char *entrypoint, json_t *input,
               const struct decision_bounds *bounds, struct verdict *ret)
{
    struct verdict verdict = {.input = NULL};
    enum az_status st = ask_unpacked(op, entrypoint, input, bounds, &verdict);
    if (st == AZ_OK)
        st = ask_pack(op, &verdict);
    if (st == AZ_OK || verdict.input != NULL)
        *ret = verdict;
    return st;
}

enum az_status
ask_unpacked(struct op *op, const char *entrypoint, json_t *input,
             const struct decision_bounds *bounds, struct verdict *ret)
{
    struct engine_answer answer;
    struct verdict verdict;
    if (input == NULL)
        return op_no_memory(op);
    metrics_settle(op->az->metrics); /* the request's question before this one */
    enum az_status st = ask_once(op, entrypoint, input, bounds, &answer, &verdict);
    /* A failure has no revision for the caller to compare: it may be by one that decides no
     * longer. A worker loads each revision once, so this ends with the saves. */
    while (st == AZ_UNAVAILABLE && engine_renew(op)) {
        az_fault_clear(&op->fault);
        st = ask_once(op, entrypoint, input, bounds, &answer, &verdict);
    }
    count_question(op, verdict.evaluation, st == AZ_OK ? &verdict.decision : NULL);
    if (st != AZ_OK) {
        note_no_decision(op, &answer, ret);
        return st;
    }
    if (answer.asked.length > PACK_TEXT_MAX)
        return refuse_length(op, answer.asked.length);
    if (!describe_answer(verdict.decision.output, &answer))
        return op_no_memory(op);
    *ret = verdict;
    return AZ_OK;
}

enum az_status
ask_issue(struct op *op, const struct issue_question *question, struct verdict *ret)
{
    const struct decision_bounds bounds = outcome_issue_bounds(question);
    return ask_entrypoint(op, entrypoint_paths[ENTRYPOINT_ISSUE], question_issue(op, question),
                          &bounds, ret);
}

enum az_status
ask_introspect(struct op *op, const struct introspect_question *question, struct verdict *ret)
{
    const struct decision_bounds bounds = outcome_introspect_bounds(question->baseline);
    return (question->unpacked ? ask_unpacked
                               : ask_entrypoint)(op, entrypoint_paths[ENTRYPOINT_INTROSPECT],
                                                 question_introspect(op, question), &bounds, ret);
}
