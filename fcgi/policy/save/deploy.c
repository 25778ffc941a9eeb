#include "config.h"

#include "policy/save/deploy.h"

#include <string.h>

#include "policy/rows/data_check.h"
#include "policy/rows/rule.h"
#include "policy/save/deploy_private.h"
#include "policy/save/issuers_check.h"
#include "policy/save/save_data.h"

/* One application: the rows that exist, and the changes to them. */
struct deploy_step {
    struct deploy_work *work;
    struct deploy_counts *counts;
    struct deploy_rows rows;
    struct deploy_deletes deletes;
    bool *shipped;       /* for each listed rule: it is a shipped one */
    bool *known;         /* for each listed row: it exists */
    const char **schema; /* for each listed row, or NULL */
};

static enum az_status
step_init(struct op *op, struct deploy_work *work, struct deploy_step *step)
{
    const struct deploy *deploy = work->deploy;
    *step = (struct deploy_step){.work = work, .counts = &work->result.counts};
    *step->counts = (struct deploy_counts){0};
    enum az_status st = deploy_rows_fetch(op, work->values, &step->rows);
    if (st != AZ_OK)
        return st;
    step->deletes.path = talloc_array(op->mem, const char *, (unsigned) step->rows.rules + 1);
    step->deletes.data_key =
        talloc_array(op->mem, const char *, (unsigned) step->rows.data_rows + 1);
    step->shipped = talloc_zero_array(op->mem, bool, (unsigned) deploy->rules + 1);
    step->known = talloc_zero_array(op->mem, bool, (unsigned) deploy->data_rows + 1);
    step->schema = talloc_zero_array(op->mem, const char *, (unsigned) deploy->data_rows + 1);
    return step->deletes.path != NULL && step->deletes.data_key != NULL && step->shipped != NULL
                   && step->known != NULL && step->schema != NULL
               ? AZ_OK
               : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for a deploy");
}

/* Judge an existing rule: a shipped one stays, one that is not listed may be deleted. */
static void
judge_rule(struct deploy_step *step, const struct deploy_rule_row *row)
{
    const struct deploy *deploy = step->work->deploy;
    int i = deploy_find(step->work->rule_index, row->path);
    if (i >= 0 && row->shipped) {
        step->shipped[i] = true;
        if (!deploy->rule[i].enabled || strcmp(row->digest, step->work->digest[i]) != 0)
            step->counts->rules_protected++;
    } else if (i < 0 && deploy->replace && (row->enabled || !deploy->bundle_only)) {
        if (row->shipped)
            step->counts->rules_protected++;
        else
            step->deletes.path[step->deletes.rules++] = row->path;
    }
}

static void
judge_row(struct deploy_step *step, const struct deploy_data_row *row)
{
    const struct deploy *deploy = step->work->deploy;
    int i = deploy_find(step->work->data_index, row->data_key);
    if (i >= 0) {
        step->known[i] = true;
    } else if (deploy->replace && (row->in_bundle || !deploy->bundle_only)) {
        if (row->shipped)
            step->counts->data_protected++;
        else
            step->deletes.data_key[step->deletes.data_rows++] = row->data_key;
    }
}

/* Judge a listed rule. A rollback leaves out rules below svc that are no longer shipped: they
 * belong to an earlier version of the program. */
static enum az_status
judge_listed_rule(struct op *op, struct deploy_step *step, size_t i)
{
    const struct deploy_rule *rule = &step->work->deploy->rule[i];
    if (step->shipped[i])
        return AZ_OK;
    if (!rule_path_is_ours(rule->path))
        step->counts->rules_upserted++;
    else if (step->work->deploy->bundle_only)
        step->counts->rules_protected++;
    else
        return op_fail(
            op, AZ_PROTECTED,
            talloc_asprintf(op->mem, "rules[%zu]: Paths below svc belong to the service", i), NULL);
    return AZ_OK;
}

/* Judge a listed row: operators may use its key, and its payload matches its schema. */
static enum az_status
judge_listed_row(struct op *op, struct deploy_step *step, size_t i)
{
    struct deploy_result *result = &step->work->result;
    const char *key = step->work->deploy->data[i].data_key;
    switch (save_key_owner(key, step->known[i] || step->schema[i] != NULL)) {
    case SAVE_OWNER_ENGINE:
        return op_fail(
            op, AZ_CONFLICT,
            talloc_asprintf(op->mem, "data[%zu]: The key system belongs to the policy engine", i),
            NULL);
    case SAVE_OWNER_SERVICE:
        return op_fail(
            op, AZ_PROTECTED,
            talloc_asprintf(op->mem, "data[%zu]: Keys below svc belong to the service", i), NULL);
    case SAVE_OWNER_NONE:
        break;
    }
    step->counts->data_upserted++;
    enum az_status st =
        data_check(op, key, step->schema[i], step->work->payload[i], &result->failures);
    if (st == AZ_UNPROCESSABLE)
        result->data_key = key;
    if (result->warning == NULL)
        result->warning = data_check_warning(step->schema[i]);
    return st;
}

static enum az_status
judge_deploy(struct op *op, struct deploy_step *step)
{
    const struct deploy *deploy = step->work->deploy;
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < step->rows.rules; i++)
        judge_rule(step, &step->rows.rule[i]);
    for (size_t i = 0; i < step->rows.data_rows; i++)
        judge_row(step, &step->rows.data[i]);
    for (size_t i = 0; i < step->rows.schemas; i++) {
        const struct deploy_schema_row *row = &step->rows.schema[i];
        int listed = deploy_find(step->work->data_index, row->data_key);
        if (listed >= 0)
            step->schema[listed] = row->schema;
    }
    for (size_t i = 0; st == AZ_OK && i < deploy->rules; i++)
        st = judge_listed_rule(op, step, i);
    for (size_t i = 0; st == AZ_OK && i < deploy->data_rows; i++)
        st = judge_listed_row(op, step, i);
    step->counts->rules_deleted = (int) step->deletes.rules;
    step->counts->data_deleted = (int) step->deletes.data_rows;
    return st;
}

/* Check the written rows against each other, so that the order of the entries does not matter. */
static enum az_status
check_written(struct op *op, struct deploy_work *work)
{
    enum az_status st = AZ_OK;
    for (size_t i = 0; st == AZ_OK && i < work->deploy->data_rows; i++) {
        const char *key = work->deploy->data[i].data_key;
        st = issuers_check(op, key, &work->result.failures);
        if (st == AZ_UNPROCESSABLE)
            work->result.data_key = key;
    }
    return st;
}

static enum az_status
apply_deploy(struct op *op, void *arg)
{
    struct deploy_step step;
    enum az_status st = step_init(op, arg, &step);
    if (st == AZ_OK)
        st = judge_deploy(op, &step);
    if (st == AZ_OK)
        st = deploy_rows_write(op, step.work->values, &step.deletes);
    return st == AZ_OK ? check_written(op, step.work) : st;
}

enum az_status
deploy_run(struct op *op, const struct deploy *deploy, struct deploy_result *ret)
{
    struct deploy_work work = {.deploy = deploy};
    const struct save_plan plan = {
        .apply = apply_deploy,
        .arg = &work,
        .mode = deploy->dry_run ? SAVE_DRY_RUN : SAVE_STRICT,
        .source = deploy->source,
        .who = deploy->who,
    };
    enum az_status st = deploy_check(op, &work);
    if (st == AZ_OK)
        st = save_policy(op, &plan, &work.result.save);
    if (work.refusal.error != NULL)
        work.result.save.refusal = work.refusal;
    *ret = work.result;
    return st;
}
