#include "config.h"

#include "admin/policy/evaluate_beside.h"

#include <string.h>

#include "admin/policy/impact_candidate.h"
#include "base/json/jsonx.h"
#include "policy/impact/side.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"
#include "policy/save/deploy/deploy.h"
#include "policy/trial/by_machine.h"

/* clang-format off */
static const struct field changes_fields[] = {
    {"rules",       FIELD_ARRAY,     .max = DEPLOY_RULES_MAX,
     FIELD_INTO(struct impact_forms, rules), .help = "Rules: path, content, enabled"},
    {"data",        FIELD_ARRAY,     .max = DEPLOY_DATA_MAX, FIELD_INTO(struct impact_forms, data),
     .help = "Data rows: dataKey, payload"},
    {"deleteRules", FIELD_TEXT_LIST, .max = DEPLOY_RULES_MAX, .item_max = RULE_PATH_MAX,
     FIELD_INTO(struct impact_forms, delete_rules), .help = "Paths of rules that are deleted"},
    {"deleteData",  FIELD_TEXT_LIST, .max = DEPLOY_DATA_MAX, .item_max = POLICY_DATA_KEY_MAX,
     FIELD_INTO(struct impact_forms, delete_data), .help = "Keys of data rows that are deleted"},
};
/* clang-format on */
const struct field_table evaluate_changes_table = FIELD_TABLE("PolicyChanges", changes_fields, 0);

/* A member of the body that holds the faults of the changes. */
static void
changes_fault(void *arg, const char *name, const char *why)
{
    struct request *req = arg;
    request_field_fault(req, talloc_asprintf(req->op.mem, "changes.%s", name), why);
}

static enum az_status
read_forms(struct request *req, const struct evaluate_beside *beside, struct impact_forms *ret)
{
    ret->rollback = beside->revision;
    if (beside->changes == NULL)
        return AZ_OK;
    enum az_status st = fields_read(req->op.mem, &evaluate_changes_table, beside->changes,
                                    changes_fault, req, ret, NULL);
    return st == AZ_INVALID ? op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL)
           : st == AZ_OK    ? AZ_OK
                            : op_fail(&req->op, st, NULL, "out of memory for changes");
}

/* Let the plan answer, in a process that can be ended. */
static enum az_status
run_plan(struct op *op, const struct trial_policy *policy, const char *target, const json_t *input,
         struct engine_trial *ret)
{
    struct trial_note note;
    const struct trial_question question = {
        .entrypoint = target,
        .text = jsonx_dump(op->mem, input),
        .input = (json_t *) (uintptr_t) input,
    };
    if (question.text == NULL)
        return op_no_memory(op);
    enum az_status st = trial_by_machine_one(op, policy, &question, &note, &ret->result);
    if (st != AZ_OK || note.state == TRIAL_ANSWERED)
        return st;
    if (*note.why == '\0')
        return op_fail(op, AZ_UNAVAILABLE, NULL, "the process of a trial cannot begin");
    ret->error = "evaluation_failed";
    ret->message = trial_reason(op->mem, note.file, note.row, note.why);
    return AZ_UNPROCESSABLE;
}

enum az_status
evaluate_beside_ask(struct request *req, const struct evaluate_beside *beside, const char *target,
                    const json_t *input, struct engine_trial *ret)
{
    struct op *op = &req->op;
    struct impact_forms forms = {.rollback = 0};
    struct impact_pair pair;
    struct trial_policy policy = {.plan = NULL};
    enum az_status st = read_forms(req, beside, &forms);
    if (st == AZ_OK)
        st = impact_candidate_read(req, &forms, &pair);
    if (st == AZ_OK)
        st = side_read_plan(op, op->mem, &pair.candidate, &policy.plan, &policy.plan_length);
    if (st != AZ_OK)
        return st;
    policy.name = pair.candidate.modules;
    policy.data = pair.candidate.data;
    policy.data_length = strlen(pair.candidate.data);
    ret->revision = pair.candidate.revision;
    return run_plan(op, &policy, target, input, ret);
}
