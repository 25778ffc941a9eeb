#include "config.h"

#include "policy/trial/questions.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/engine/engine.h"
#include "policy/engine/entrypoints.h"
#include "policy/impact/hidden.h"
#include "policy/impact/side.h"
#include "policy/trial/samples.h"
#include "store/audit/read/rows.h"

/* Recorded questions while they are collected. */
struct collecting {
    struct trial_questions *questions;
    json_t *seen; /* object: texts of questions without what differs in each request */
    size_t rows;  /* looked at */
    size_t taken; /* recorded questions */
};

/* Members that differ in questions which the policy answers in the same way, unless a rule reads
 * the time or an address: then the newest one stands for all. */
static const struct {
    const char *object, *member;
} passing[] = {
    {"request", "id"         },
    {"request", "flow_id"    },
    {"request", "now"        },
    {"request", "time"       },
    {"request", "time_ns"    },
    {"token",   "iat"        },
    {"token",   "exp"        },
    {"subject", "auth_time"  },
    {NULL,      "baseline"   },
    {NULL,      "environment"},
};

static void
add_question(struct trial_questions *questions, const struct trial_question *question)
{
    questions->question[questions->count++] = *question;
}

/* Add a sample, and what the hooks give for it. */
static enum az_status
add_sample(struct op *op, const struct trial_sample *sample, bool hooks,
           struct trial_questions *ret)
{
    struct trial_question question = {.text = sample->text, .decides = true};
    if (jsonx_parse(op->mem, sample->text, strlen(sample->text), ENGINE_ANSWER_DEPTH_MAX,
                    &question.input, NULL)
        != AZ_OK)
        return op_no_memory(op);
    question.name = talloc_asprintf(op->mem, "the sample question \"%s\"", sample->name);
    question.entrypoint = side_entrypoint(op->mem, question.input);
    add_question(ret, &question);
    if (!hooks)
        return question.name != NULL && question.entrypoint != NULL ? AZ_OK : op_no_memory(op);
    question.entrypoint = talloc_asprintf(op->mem, ENTRYPOINT_HOOKS_PACKAGE "%s", sample->hooks);
    question.name =
        talloc_asprintf(op->mem, "the hooks of custom.%s for the sample question \"%s\"",
                        sample->hooks, sample->name);
    question.decides = false;
    add_question(ret, &question);
    return question.name != NULL && question.entrypoint != NULL ? AZ_OK : op_no_memory(op);
}

/* Add what the hooks of each package give without an input: the engine is asked that next (types of
 * hooks, save/hook_check.h). */
static enum az_status
add_bare(struct op *op, struct trial_questions *ret)
{
    for (size_t i = 0; i < ENTRYPOINT_HOOKS; i++) {
        const struct trial_question question = {
            .name = talloc_asprintf(op->mem, "the hooks of custom.%s without an input",
                                    entrypoint_hooks[i] + strlen(ENTRYPOINT_HOOKS_PACKAGE)),
            .entrypoint = entrypoint_hooks[i]};
        if (question.name == NULL)
            return op_no_memory(op);
        add_question(ret, &question);
    }
    return AZ_OK;
}

/* True in *ret if a question like this was not seen before. */
static enum az_status
is_new(struct op *op, struct collecting *collecting, const json_t *input, bool *ret)
{
    json_t *same = jsonx_own(op->mem, jsonx_deep_copy(input));
    for (size_t i = 0; same != NULL && i < sizeof(passing) / sizeof(passing[0]); i++)
        json_object_del(passing[i].object != NULL ? json_object_get(same, passing[i].object) : same,
                        passing[i].member);
    const char *text = same != NULL ? jsonx_dump_sorted(op->mem, same) : NULL;
    if (text == NULL)
        return op_no_memory(op);
    *ret = json_object_get(collecting->seen, text) == NULL;
    return !*ret || json_object_set_new(collecting->seen, text, json_true()) == 0
               ? AZ_OK
               : op_no_memory(op);
}

/* Name a recorded question for people. */
static const char *
name_of(TALLOC_CTX *mem, const struct audit_row *row)
{
    return talloc_asprintf(mem, "the recorded question of audit row %lld (%s%s%s, %s)",
                           (long long) row->id, row->endpoint,
                           row->client_id != NULL ? ", client " : "",
                           row->client_id != NULL ? row->client_id : "", row->created_at);
}

/* Add the question of an audit row, if it has one that is whole, new and was answered. */
static enum az_status
add_recorded(struct op *op, struct collecting *collecting, const struct audit_row *row)
{
    struct trial_question question = {.decides = true, .recorded = true};
    json_t *recorded = NULL, *hidden = NULL;
    bool new = false;
    if (row->input == NULL || row->decision == NULL || !audit_rows_is_readable(row->input)
        || !audit_rows_is_readable(row->decision) || strcmp(row->endpoint, "(witness)") == 0
        || jsonx_parse(op->mem, row->input, strlen(row->input), ENGINE_ANSWER_DEPTH_MAX,
                       &question.input, NULL)
               != AZ_OK
        || jsonx_parse(op->mem, row->decision, strlen(row->decision), ENGINE_ANSWER_DEPTH_MAX,
                       &recorded, NULL)
               != AZ_OK
        || json_object_get(recorded, "error") != NULL)
        return AZ_OK;
    enum az_status st = is_new(op, collecting, question.input, &new);
    if (st != AZ_OK || !new || !impact_find_hidden(op->mem, question.input, recorded, &hidden))
        return st;
    question.hidden = hidden;
    question.text = talloc_strdup(op->mem, row->input);
    question.name = name_of(op->mem, row);
    question.entrypoint = side_entrypoint(op->mem, question.input);
    if (question.text == NULL || question.name == NULL)
        return op_no_memory(op);
    if (question.entrypoint == NULL)
        return AZ_OK;
    collecting->taken++;
    add_question(collecting->questions, &question);
    return AZ_OK;
}

static enum az_status
add_rows(struct op *op, struct collecting *collecting, const PGresult *result)
{
    enum az_status st = AZ_OK;
    for (int i = 0; i < PQntuples(result) && st == AZ_OK && collecting->taken < TRIAL_RECORDED_MAX
                    && collecting->rows < TRIAL_ROWS_MAX;
         i++) {
        struct audit_row row;
        st = audit_rows_get(op, result, i, &row);
        if (st == AZ_OK)
            st = add_recorded(op, collecting, &row);
        collecting->rows++;
    }
    return st;
}

/* Walk back from the newest audit row. */
static enum az_status
read_recorded(struct op *op, struct trial_questions *ret)
{
    static const struct audit_filter all = {.endpoint = NULL};
    struct collecting collecting = {.questions = ret, .seen = jsonx_own(op->mem, json_object())};
    struct audit_walk walk;
    bool more = true;
    enum az_status st =
        collecting.seen != NULL ? audit_walk_begin(op, &all, &walk) : op_no_memory(op);
    while (st == AZ_OK && more && collecting.taken < TRIAL_RECORDED_MAX
           && collecting.rows < TRIAL_ROWS_MAX) {
        PGresult *result;
        st = audit_walk_next(op, &walk, &result, &more);
        if (st == AZ_OK && result != NULL)
            st = add_rows(op, &collecting, result);
    }
    return st;
}

enum az_status
trial_questions_read(struct op *op, bool hooks, struct trial_questions *ret)
{
    enum az_status st = AZ_OK;
    *ret = (struct trial_questions){
        talloc_zero_array(
            op->mem, struct trial_question,
            (unsigned) (2 * trial_samples_count + ENTRYPOINT_HOOKS + TRIAL_RECORDED_MAX)),
        0};
    if (ret->question == NULL)
        return op_no_memory(op);
    if (hooks)
        st = add_bare(op, ret);
    for (size_t i = 0; i < trial_samples_count && st == AZ_OK; i++)
        st = add_sample(op, &trial_samples[i], hooks, ret);
    return st == AZ_OK ? read_recorded(op, ret) : st;
}
