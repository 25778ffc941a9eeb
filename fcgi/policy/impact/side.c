#include "config.h"

#include "policy/impact/side.h"

#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "policy/decide/default_scopes.h"
#include "policy/decide/question.h"
#include "policy/decide/registry.h"
#include "policy/decide/trust.h"
#include "policy/engine/archive_read.h"
#include "policy/engine/entrypoints.h"
#include "policy/engine/policy_texts.h"
#include "store/policy/plans.h"

/* Nesting of data.json: the nesting of a row, below the parts of its key. */
#define DATA_DEPTH_MAX 128

static const char *const row_keys[SIDE_ROWS] = {
    [SIDE_REGISTRY] = REGISTRY_ROW,
    [SIDE_TRUST] = TRUST_ROW,
    [SIDE_DEFAULT_SCOPES] = DEFAULT_SCOPES_ROW,
};

/* Return the row of a key in data.json, or NULL. */
static json_t *
row_at(json_t *root, const char *key)
{
    json_t *at = root;
    for (bool more = true; more && at != NULL;) {
        size_t length = strcspn(key, ".");
        at = json_object_getn(at, key, length);
        more = key[length] == '.';
        key += length + 1;
    }
    return at;
}

enum az_status
side_read_rows(struct op *op, TALLOC_CTX *mem, const char *data, struct side_rows *ret)
{
    json_t *root;
    TALLOC_CTX *scratch = talloc_new(mem);
    enum az_status st = scratch != NULL
                            ? jsonx_parse(scratch, data, strlen(data), DATA_DEPTH_MAX, &root, NULL)
                            : AZ_SERVER_ERROR;
    for (int i = 0; i < SIDE_ROWS && st == AZ_OK; i++) {
        json_t *row = row_at(root, row_keys[i]);
        ret->row[i] = row != NULL ? jsonx_own(mem, json_incref(row)) : NULL;
    }
    talloc_free(scratch);
    return st == AZ_OK ? st : op_fail(op, AZ_SERVER_ERROR, NULL, "the data cannot be read");
}

/* Fail: there is no plan that can be run. */
static enum az_status
no_plan(struct op *op, const struct impact_side *from, const char *why)
{
    return op_fail(op, AZ_UNAVAILABLE, NULL, "policy impact: revision %s: %s", from->revision, why);
}

enum az_status
side_read_plan(struct op *op, TALLOC_CTX *mem, const struct impact_side *from, const char **ret,
               size_t *ret_length)
{
    TALLOC_CTX *scratch = talloc_new(mem);
    struct op step = op_beside(op, scratch);
    struct plan_stored stored;
    char *plan = NULL;
    enum az_status st = plan_fetch_named(&step, from->modules, &stored);
    op->fault = step.fault;
    if (st == AZ_OK && stored.plan == NULL)
        st = no_plan(op, from, stored.note != NULL ? stored.note : "no plan is stored");
    else if (st == AZ_OK
             && archive_unpack(mem, stored.plan, stored.plan_length, POLICY_PLAN_MAX, &plan,
                               ret_length)
                    != AZ_OK)
        st = no_plan(op, from, "the stored plan is damaged");
    *ret = plan;
    talloc_free(scratch);
    return st;
}

enum az_status
side_read(struct op *op, TALLOC_CTX *mem, const struct impact_side *from,
          struct engine_plan *before, struct side *ret)
{
    TALLOC_CTX *scratch = talloc_new(op->mem);
    struct engine_plan_texts texts = {
        .name = from->modules, .data = from->data, .data_length = strlen(from->data)};
    const char *why = NULL;
    enum az_status st = side_read_plan(op, scratch, from, &texts.plan, &texts.plan_length);
    if (st == AZ_OK && (ret->plan = engine_plan_read(mem, &texts, before, &why)) == NULL)
        st = no_plan(op, from, why);
    talloc_free(scratch);
    return st == AZ_OK ? side_read_rows(op, mem, from->data, &ret->rows) : st;
}

const char *
side_entrypoint(TALLOC_CTX *mem, const json_t *input)
{
    const char *path = question_entrypoint(mem, input);
    for (size_t i = 0; path != NULL && i < ENTRYPOINTS; i++)
        if (strcmp(entrypoint_paths[i], path) == 0)
            return talloc_asprintf(mem, "%s" ENTRYPOINT_RULE, path);
    return NULL;
}

bool
side_is_unreached(TALLOC_CTX *mem, const struct side *one, const struct side *other,
                  const char *entrypoint)
{
    const json_t *types = one->rows.row[SIDE_REGISTRY], *others = other->rows.row[SIDE_REGISTRY];
    bool same_types = types == NULL || others == NULL ? types == others : json_equal(types, others);
    return same_types && engine_plan_is_unreached(mem, one->plan, other->plan, entrypoint);
}

enum az_status
side_decide(struct op *op, const struct side *side, const struct side_question *asked,
            struct effect *ret, struct side_known *ret_known)
{
    char why[REGO_WHY_SIZE] = "";
    json_t *answer = NULL;
    const struct engine_plan_question question = {
        .entrypoint = asked->entrypoint,
        .input = asked->text,
        .length = strlen(asked->text),
        .now_ns = json_integer_value(
            json_object_get(json_object_get(asked->input, "request"), "time_ns")),
        .deadline_us = clock_monotonic_us() + IMPACT_EVALUATION_US,
        .statements = IMPACT_EVALUATION_STATEMENTS,
        .steps = IMPACT_EVALUATION_STEPS,
        .hidden = asked->hidden,
    };
    enum rego_outcome outcome = engine_plan_run(op->mem, side->plan, &question, &answer, why);
    *ret_known = (struct side_known){.is = true};
    if (outcome == REGO_TOUCHED)
        *ret_known = (struct side_known){.why = IMPACT_HIDDEN};
    else if (outcome == REGO_GIVE_UP)
        *ret_known =
            (struct side_known){.why = IMPACT_GIVES_UP, .builtin = talloc_strdup(op->mem, why)};
    const struct effect_facts facts = {side->rows.row[SIDE_REGISTRY], asked->route};
    return ret_known->is ? effect_find(op, asked->input, &facts, answer, ret) : AZ_OK;
}
