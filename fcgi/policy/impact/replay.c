#include "config.h"

#include "policy/impact/replay.h"

#include <string.h>

#include "base/clock.h"
#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "policy/decide/question.h"
#include "policy/decide/registry.h"
#include "policy/engine/archive_read.h"
#include "policy/engine/engine.h"
#include "policy/engine/engine_plan.h"
#include "policy/engine/entrypoints.h"
#include "policy/engine/policy_texts.h"
#include "policy/impact/hidden.h"
#include "store/policy/plans.h"

/* Nesting of data.json: that of a row, below the parts of its key. */
#define DATA_DEPTH_MAX 128

/* A policy that is ready to decide. */
struct side {
    struct engine_plan *plan;
    const json_t *registry; /* row of resource types; NULL: there is none */
};

struct replay {
    struct side base, candidate;
};

/* A row while it is decided. */
struct asked {
    const struct audit_row *row;
    const char *entrypoint; /* rule of the plan */
    json_t *input, *recorded;
    size_t count; /* decisions */
};

/* ---- the plans */

/* Return the row of the registry in data.json, on mem. */
static enum az_status
read_registry(struct op *op, TALLOC_CTX *mem, const char *data, const json_t **ret)
{
    json_t *root, *at;
    TALLOC_CTX *scratch = talloc_new(mem);
    char *path = talloc_strdup(scratch, REGISTRY_ROW), *left = path, *part;
    enum az_status st = path != NULL
                            ? jsonx_parse(scratch, data, strlen(data), DATA_DEPTH_MAX, &root, NULL)
                            : AZ_SERVER_ERROR;
    for (at = st == AZ_OK ? root : NULL; at != NULL && (part = strsep(&left, ".")) != NULL;)
        at = json_object_get(at, part);
    *ret = at != NULL ? jsonx_own(mem, json_incref(at)) : NULL;
    talloc_free(scratch);
    return st == AZ_OK ? st : op_fail(op, AZ_SERVER_ERROR, NULL, "the data cannot be read");
}

static enum az_status
read_side(struct op *op, TALLOC_CTX *mem, const struct impact_side *from,
          struct engine_plan *before, struct side *ret)
{
    TALLOC_CTX *scratch = talloc_new(op->mem);
    struct op step = op_beside(op, scratch);
    struct plan_stored stored;
    struct engine_plan_texts texts = {
        .name = from->modules, .data = from->data, .data_length = strlen(from->data)};
    const char *why = NULL;
    char *plan = NULL;
    enum az_status st = plan_fetch_named(&step, from->modules, &stored);
    if (st == AZ_OK && stored.plan == NULL)
        why = stored.note != NULL ? stored.note : "no plan is stored";
    else if (st == AZ_OK
             && archive_unpack(scratch, stored.plan, stored.plan_length, POLICY_PLAN_MAX, &plan,
                               &texts.plan_length)
                    != AZ_OK)
        why = "the stored plan is damaged";
    op->fault = step.fault;
    texts.plan = plan;
    if (st == AZ_OK && why == NULL)
        ret->plan = engine_plan_read(mem, &texts, before, &why);
    if (st == AZ_OK && why != NULL)
        st = op_fail(op, AZ_UNAVAILABLE, NULL, "policy impact: revision %s: %s", from->revision,
                     why);
    talloc_free(scratch);
    return st == AZ_OK ? read_registry(op, mem, from->data, &ret->registry) : st;
}

enum az_status
replay_new(struct op *op, const struct impact_pair *pair, struct replay **ret)
{
    struct replay *replay = *ret = talloc_zero(op->mem, struct replay);
    if (replay == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for policy impact");
    enum az_status st = read_side(op, replay, &pair->base, NULL, &replay->base);
    return st == AZ_OK
               ? read_side(op, replay, &pair->candidate, replay->base.plan, &replay->candidate)
               : st;
}

/* ---- one row */

/* Return the rule that decides a question, on mem; NULL: none does. */
static const char *
entrypoint_of(TALLOC_CTX *mem, const json_t *input)
{
    const char *path = question_entrypoint(mem, input);
    for (size_t i = 0; path != NULL && i < ENTRYPOINTS; i++)
        if (strcmp(entrypoint_paths[i], path) == 0)
            return talloc_asprintf(mem, "%s" ENTRYPOINT_RULE, path);
    return NULL;
}

/* Let one side decide. *ret_give_up has the reason why the machine does not, or is NULL. What does
 * not end in time, or contradicts itself, is no decision. */
static enum az_status
decide(struct op *op, const struct side *side, const struct asked *asked, struct effect *ret,
       const char **ret_give_up)
{
    char why[REGO_WHY_SIZE] = "";
    json_t *answer = NULL;
    const struct engine_plan_question question = {
        .entrypoint = asked->entrypoint,
        .input = asked->row->input,
        .length = strlen(asked->row->input),
        .now_ns = json_integer_value(
            json_object_get(json_object_get(asked->input, "request"), "time_ns")),
        .deadline_us = clock_monotonic_us() + IMPACT_EVALUATION_US,
    };
    enum rego_outcome outcome = engine_plan_run(op->mem, side->plan, &question, &answer, why);
    *ret_give_up = outcome == REGO_GIVE_UP ? talloc_strdup(op->mem, why) : NULL;
    return outcome == REGO_GIVE_UP ? AZ_OK
                                   : effect_find(op, asked->input, side->registry, answer, ret);
}

/* Return a decision of the row, without its effects. */
static struct impact_decision
decision_of(const struct asked *asked)
{
    const struct audit_row *row = asked->row;
    struct impact_decision decision = {
        .audit_id = row->id,
        .created_at = row->created_at,
        .endpoint = row->endpoint,
        .client = row->client_id,
        .subject = row->subject_id,
        .input = json_is_object(asked->input) ? asked->input : NULL,
    };
    iso8601_parse(row->created_at, strlen(row->created_at), &decision.at_ms);
    return decision;
}

/* Count the decisions of a row that both sides made. */
static enum az_status
count_decisions(struct op *op, const struct replay *replay, const struct asked *asked,
                const struct effect *base, const struct effect *candidate, struct tally *tally)
{
    struct effect *recorded = talloc_zero_array(op->mem, struct effect, (unsigned) asked->count);
    if (recorded == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for policy impact");
    enum az_status st =
        effect_find(op, asked->input, replay->base.registry, asked->recorded, recorded);
    for (size_t i = 0; st == AZ_OK && i < asked->count; i++) {
        struct impact_decision decision = decision_of(asked);
        decision.index = i;
        decision.base = &base[i];
        decision.candidate = &candidate[i];
        tally_add(tally, &decision);
        if (impact_compare(&recorded[i], &base[i]).class != IMPACT_SAME)
            tally_drift(tally);
    }
    return st;
}

static enum az_status
decide_both(struct op *op, const struct replay *replay, const struct asked *asked,
            struct tally *tally)
{
    const char *give_up = NULL;
    struct effect *base = talloc_zero_array(op->mem, struct effect, (unsigned) asked->count),
                  *candidate = talloc_zero_array(op->mem, struct effect, (unsigned) asked->count);
    if (base == NULL || candidate == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for policy impact");
    enum az_status st = decide(op, &replay->base, asked, base, &give_up);
    if (st == AZ_OK && give_up == NULL)
        st = decide(op, &replay->candidate, asked, candidate, &give_up);
    if (st != AZ_OK)
        return st;
    if (give_up != NULL) {
        const struct impact_decision decision = decision_of(asked);
        tally_unknown(tally, &decision, IMPACT_GIVES_UP, give_up, asked->count);
        return AZ_OK;
    }
    return count_decisions(op, replay, asked, base, candidate, tally);
}

/* Read a stored document; *ret is NULL if it is damaged. */
static enum az_status
read_document(struct op *op, const char *text, json_t **ret)
{
    enum az_status st =
        text != NULL && audit_rows_is_readable(text)
            ? jsonx_parse(op->mem, text, strlen(text), ENGINE_ANSWER_DEPTH_MAX, ret, NULL)
            : AZ_INVALID;
    if (st == AZ_INVALID)
        *ret = NULL;
    return st == AZ_SERVER_ERROR
               ? op_fail(op, st, NULL, "out of memory for a document of an audit row")
               : AZ_OK;
}

enum az_status
replay_row(struct op *op, const struct replay *replay, const struct audit_row *row,
           const char *evaluation, struct tally *tally)
{
    struct asked asked = {.row = row};
    if (row->input == NULL || strcmp(row->endpoint, "(witness)") == 0)
        return AZ_OK;
    enum az_status st = read_document(op, row->input, &asked.input);
    if (st == AZ_OK)
        st = read_document(op, row->decision, &asked.recorded);
    if (st != AZ_OK)
        return st;
    const char *its = json_string_value(json_object_get(asked.input, "evaluation"));
    if (evaluation != NULL && (its == NULL || strcmp(its, evaluation) != 0))
        return AZ_OK;
    asked.count = effect_count(asked.input);
    asked.entrypoint = entrypoint_of(op->mem, asked.input);
    const struct impact_decision decision = decision_of(&asked);
    if (!json_is_object(asked.input))
        tally_unknown(tally, &decision, IMPACT_DAMAGED, NULL, 1);
    else if (asked.entrypoint == NULL)
        tally_unknown(tally, &decision, IMPACT_NO_ENTRYPOINT, NULL, 1);
    else if (impact_hides_values(asked.input, asked.recorded))
        tally_unknown(tally, &decision, IMPACT_HIDDEN, NULL, asked.count);
    else
        return decide_both(op, replay, &asked, tally);
    return AZ_OK;
}
