#include "config.h"

#include "policy/save/deploy/deploy.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/impact/guards.h"
#include "policy/rows/data_check.h"
#include "policy/rows/rule.h"
#include "policy/save/bundle/bundle_conflicts.h"
#include "policy/save/check/issuers_check.h"
#include "policy/save/check/jwt_resources_check.h"
#include "policy/save/deploy/deploy_private.h"
#include "policy/save/deploy/save_data.h"
#include "policy/save/plan/candidate.h"
#include "store/db/rows/object_owners.h"
#include "store/policy/shadow.h"

/* State of a listed rule or row before the deploy. */
enum row_state { ROW_NEW, ROW_DIFFERS, ROW_SAME };

/* One application: the rows that exist, and the changes to them. */
struct deploy_step {
    struct deploy_work *work;
    struct deploy_counts *counts;
    struct deploy_rows rows;
    struct deploy_deletes deletes;
    bool *shipped;                           /* for each listed rule: it is a shipped one */
    enum row_state *rule_state, *data_state; /* of each listed rule and row */
    const char **schema;                     /* for each listed row, or NULL */
    bool *found_rule, *found_data;           /* for each name to delete: there is such a row */
};

static enum az_status
step_init(struct op *op, struct deploy_work *work, struct deploy_step *step)
{
    const struct deploy *deploy = work->deploy;
    *step = (struct deploy_step){.work = work, .counts = &work->result.counts};
    *step->counts = (struct deploy_counts){0};
    work->result.replaced = jsonx_own(op->mem, json_pack("{s:{},s:{}}", "rules", "data"));
    if (work->result.replaced == NULL)
        return op_no_memory(op);
    enum az_status st = deploy_rows_fetch(op, work->values, &step->rows);
    if (st != AZ_OK)
        return st;
    step->deletes.path = talloc_array(op->mem, const char *, (unsigned) step->rows.rules + 1);
    step->deletes.data_key =
        talloc_array(op->mem, const char *, (unsigned) step->rows.data_rows + 1);
    step->shipped = talloc_zero_array(op->mem, bool, (unsigned) deploy->rules + 1);
    step->rule_state = talloc_zero_array(op->mem, enum row_state, (unsigned) deploy->rules + 1);
    step->data_state = talloc_zero_array(op->mem, enum row_state, (unsigned) deploy->data_rows + 1);
    step->schema = talloc_zero_array(op->mem, const char *, (unsigned) deploy->data_rows + 1);
    step->found_rule =
        talloc_zero_array(op->mem, bool, (unsigned) json_array_size(deploy->delete_rules) + 1);
    step->found_data =
        talloc_zero_array(op->mem, bool, (unsigned) json_array_size(deploy->delete_data) + 1);
    return step->deletes.path != NULL && step->deletes.data_key != NULL && step->shipped != NULL
                   && step->found_rule != NULL && step->found_data != NULL
                   && step->rule_state != NULL && step->data_state != NULL && step->schema != NULL
               ? AZ_OK
               : op_no_memory(op);
}

/* Return the state of a stored row; a deploy without a version keeps the stored one. */
static enum row_state
row_state(bool same, const char *stored, const char *version)
{
    return same && (version == NULL || strcmp(stored, version) == 0) ? ROW_SAME : ROW_DIFFERS;
}

/* Note the state before of a row that is changed or deleted; digest NULL: there is none. */
static void
note_replaced(struct deploy_step *step, const char *list, const char *name, const char *digest,
              const char *suffix)
{
    json_t *names = json_object_get(step->work->result.replaced, list);
    json_t *state = digest != NULL ? json_sprintf("%s%s", digest, suffix) : json_null();
    if (json_object_set_new(names, name, state) != 0)
        step->work->lost = true;
}

/* Count a listed row that will be written. */
static void
count_row(struct deploy_count *count, enum row_state state)
{
    count->added += state == ROW_NEW;
    count->changed += state == ROW_DIFFERS;
    count->unchanged += state == ROW_SAME;
}

/* True if a list of names to delete has this one; the place is noted as found. */
static bool
is_to_delete(const json_t *names, bool *found, const char *name)
{
    size_t index;
    const json_t *item;
    json_array_foreach (names, index, item)
        if (strcmp(json_string_value(item), name) == 0)
            return found[index] = true;
    return false;
}

/* Judge an existing rule: a shipped one stays, one that is not listed may be deleted. */
static void
judge_rule(struct deploy_step *step, const struct deploy_rule_row *row)
{
    const struct deploy *deploy = step->work->deploy;
    int i = deploy_find(step->work->rule_index, row->path);
    if (i >= 0) {
        const struct deploy_rule *rule = &deploy->rule[i];
        bool same = strcmp(row->digest, step->work->digest[i]) == 0;
        step->shipped[i] = row->shipped;
        step->rule_state[i] =
            row_state(same && row->enabled == rule->enabled, row->version, rule->version);
        if (step->rule_state[i] == ROW_DIFFERS)
            note_replaced(step, "rules", row->path, row->digest, row->enabled ? " on" : " off");
        if (row->shipped && (!same || !rule->enabled))
            step->counts->rules.kept++;
    } else if (is_to_delete(deploy->delete_rules, step->found_rule, row->path)
               || (deploy->replace && (row->enabled || !deploy->bundle_only))) {
        if (row->shipped)
            step->counts->rules.kept++;
        else {
            step->deletes.path[step->deletes.rules++] = row->path;
            note_replaced(step, "rules", row->path, row->digest, row->enabled ? " on" : " off");
        }
    }
}

static void
judge_row(struct deploy_step *step, const struct deploy_data_row *row)
{
    /* A rollback does not count the guards among what it restores or leaves out. */
    if (step->work->deploy->bundle_only && strcmp(row->data_key, GUARDS_ROW) == 0)
        return;
    const struct deploy *deploy = step->work->deploy;
    int i = deploy_find(step->work->data_index, row->data_key);
    if (i >= 0) {
        bool same = strcmp(row->digest, step->work->data_digest[i]) == 0
                    && (row->in_bundle || !deploy->bundle_only);
        step->data_state[i] = row_state(same, row->version, deploy->data[i].version);
        if (step->data_state[i] == ROW_DIFFERS)
            note_replaced(step, "data", row->data_key, row->digest, "");
    } else if (is_to_delete(deploy->delete_data, step->found_data, row->data_key)
               || (deploy->replace && (row->in_bundle || !deploy->bundle_only))) {
        if (row->shipped)
            step->counts->data.kept++;
        else {
            step->deletes.data_key[step->deletes.data_rows++] = row->data_key;
            note_replaced(step, "data", row->data_key, row->digest, "");
        }
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
    if (step->rule_state[i] == ROW_NEW)
        note_replaced(step, "rules", rule->path, NULL, "");
    if (!rule_path_is_ours(rule->path))
        count_row(&step->counts->rules, step->rule_state[i]);
    else if (step->work->deploy->bundle_only)
        step->counts->rules.kept++;
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
    switch (save_key_owner(key, step->data_state[i] != ROW_NEW || step->schema[i] != NULL)) {
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
    count_row(&step->counts->data, step->data_state[i]);
    if (step->data_state[i] == ROW_NEW)
        note_replaced(step, "data", key, NULL, "");
    enum az_status st =
        data_check(op, key, step->schema[i], step->work->payload[i], &result->failures);
    if (st == AZ_UNPROCESSABLE)
        result->data_key = key;
    if (result->warning == NULL)
        result->warning = data_check_warning(step->schema[i]);
    return st;
}

/* Tell the names to delete that no row has. */
static bool
tell_missing(struct op *op, json_t *faults, const char *list, const json_t *names,
             const bool *found)
{
    size_t index;
    const json_t *item;
    bool missing = false;
    json_array_foreach (names, index, item)
        if (!found[index]) {
            char *place = talloc_asprintf(op->mem, "%s[%zu]", list, index);
            missing = true;
            if (place != NULL)
                json_object_set_new(faults, place, json_string("names nothing that is stored"));
        }
    return missing;
}

static enum az_status
check_deletes(struct op *op, const struct deploy_step *step)
{
    const struct deploy *deploy = step->work->deploy;
    json_t *faults = step->work->result.faults;
    bool rules = tell_missing(op, faults, "deleteRules", deploy->delete_rules, step->found_rule);
    bool data = tell_missing(op, faults, "deleteData", deploy->delete_data, step->found_data);
    return rules || data ? op_fail(op, AZ_INVALID_FIELDS, NULL, "a row to delete is not stored")
                         : AZ_OK;
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
    st = check_deletes(op, step);
    for (size_t i = 0; st == AZ_OK && i < deploy->rules; i++)
        st = judge_listed_rule(op, step, i);
    for (size_t i = 0; st == AZ_OK && i < deploy->data_rows; i++)
        st = judge_listed_row(op, step, i);
    step->counts->rules.deleted = (int) step->deletes.rules;
    step->counts->data.deleted = (int) step->deletes.data_rows;
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
        if (st == AZ_OK)
            st = jwt_resources_check(op, key, &work->result.failures);
        if (st == AZ_OK)
            st = cedar_data_check(op, key, &work->result.failures);
        if (st == AZ_UNPROCESSABLE)
            work->result.data_key = key;
    }
    return st;
}

/* Return for each listed rule or row if it is stored as it is listed; NULL: no memory. */
static const bool *
same_of(TALLOC_CTX *mem, const enum row_state *state, size_t count)
{
    bool *same = talloc_zero_array(mem, bool, (unsigned) count + 1);
    for (size_t i = 0; same != NULL && i < count; i++)
        same[i] = state[i] == ROW_SAME;
    return same;
}

/* End the shadow that is promoted. A save applies its change more than once, and rolls back all but
 * the last time. */
static enum az_status
end_shadow(struct op *op, const struct deploy *deploy)
{
    bool found = true;
    enum az_status st =
        deploy->shadow != 0
            ? shadow_promote(op, deploy->shadow, deploy->if_revision, deploy->who, &found)
            : AZ_OK;
    return st != AZ_OK || found
               ? st
               : op_fail(op, AZ_CONFLICT,
                         "The shadow was dropped, replaced or made of another revision meanwhile; "
                         "look at it again",
                         NULL);
}

static enum az_status
apply_deploy(struct op *op, void *arg)
{
    struct deploy_step step;
    enum az_status st = step_init(op, arg, &step);
    if (st == AZ_OK)
        st = judge_deploy(op, &step);
    if (st == AZ_OK)
        st = deploy_check_replaced(op, step.work);
    if (st == AZ_OK) {
        struct deploy_result *result = &step.work->result;
        result->same_rule = same_of(op->mem, step.rule_state, step.work->deploy->rules);
        result->same_data = same_of(op->mem, step.data_state, step.work->deploy->data_rows);
    }
    if (st == AZ_OK)
        st = deploy_rows_write(op, step.work->values, &step.deletes);
    if (st == AZ_OK)
        st = check_written(op, step.work);
    const struct deploy *deploy = step.work->deploy;
    if (st == AZ_OK && deploy->owner != NULL)
        st = object_owners_put(op, deploy->owner, deploy->marks);
    return st == AZ_OK ? end_shadow(op, deploy) : st;
}

static struct save_plan
plan_of(struct deploy_work *work)
{
    const struct deploy *deploy = work->deploy;
    return (struct save_plan){
        .apply = apply_deploy,
        .arg = work,
        .mode = deploy->dry_run ? SAVE_DRY_RUN : SAVE_STRICT,
        .source = deploy->source,
        .who = deploy->who,
        .message = deploy->message,
        .if_revision = deploy->if_revision,
        .limits = deploy->limits,
    };
}

enum az_status
deploy_run(struct op *op, const struct deploy *deploy, struct deploy_result *ret)
{
    struct deploy_work work = {.deploy = deploy};
    const struct save_plan plan = plan_of(&work);
    enum az_status st = deploy_check(op, &work);
    if (st == AZ_OK)
        st = save_policy(op, &plan, &work.result.save);
    if (work.refusal.error != NULL)
        work.result.save.refusal = work.refusal;
    *ret = work.result;
    return st;
}

enum az_status
deploy_measure(struct op *op, const struct deploy *deploy, struct deploy_result *ret,
               struct impact_pair *ret_pair, json_t **ret_errors)
{
    struct deploy_work work = {.deploy = deploy};
    const struct save_plan plan = plan_of(&work);
    enum az_status st = deploy_check(op, &work);
    if (st == AZ_OK)
        st = candidate_make(op, &plan, &work.result.save, ret_pair, ret_errors);
    if (work.refusal.error != NULL)
        work.result.save.refusal = work.refusal;
    *ret = work.result;
    return st;
}

/* Add the counts of rules or data rows; upserted are all that are listed and not protected. */
static void
add_counts(TALLOC_CTX *mem, struct jsonx_build *ret, const char *list,
           const struct deploy_count *count)
{
    const struct {
        const char *what;
        int number;
    } members[] = {
        {"Upserted",  count->added + count->changed + count->unchanged},
        {"Added",     count->added                                    },
        {"Changed",   count->changed                                  },
        {"Unchanged", count->unchanged                                },
        {"Deleted",   count->deleted                                  },
        {"Protected", count->kept                                     },
    };
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        jsonx_set(ret, talloc_asprintf(mem, "%s%s", list, members[i].what),
                  json_integer(members[i].number));
}

json_t *
deploy_result_json(TALLOC_CTX *mem, const struct deploy_result *result, const char *mode)
{
    const struct save_outcome *save = &result->save;
    json_t *object = json_pack("{s:s,s:s,s:s,s:s,s:s}", "mode", mode, "activation",
                               save_activation_word(save->activation), "revision", save->revision,
                               "previousEtag", save->previous_etag, "newEtag", save->etag);
    struct jsonx_build build = {jsonx_own(mem, object), false};
    add_counts(mem, &build, "rules", &result->counts.rules);
    add_counts(mem, &build, "data", &result->counts.data);
    if (json_array_size(save->warnings) > 0)
        jsonx_set(&build, "warnings", json_incref(save->warnings));
    return jsonx_built(&build);
}
