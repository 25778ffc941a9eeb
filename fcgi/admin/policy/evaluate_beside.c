#include "config.h"

#include "admin/policy/evaluate_beside.h"

#include <string.h>

#include "admin/policy/impact_candidate.h"
#include "base/clock.h"
#include "base/json/jsonx.h"
#include "policy/engine/engine_plan.h"
#include "policy/impact/side.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"
#include "policy/save/deploy.h"

/* clang-format off */
static const struct field changes_fields[] = {
    {"rules",       FIELD_ARRAY,     .max = DEPLOY_RULES_MAX, FIELD_INTO(struct impact_forms, rules), .help = "Rules: path, content, enabled"},
    {"data",        FIELD_ARRAY,     .max = DEPLOY_DATA_MAX, FIELD_INTO(struct impact_forms, data), .help = "Data rows: dataKey, payload"},
    {"deleteRules", FIELD_TEXT_LIST, .max = DEPLOY_RULES_MAX, .item_max = RULE_PATH_MAX, FIELD_INTO(struct impact_forms, delete_rules), .help = "Paths of rules that are deleted"},
    {"deleteData",  FIELD_TEXT_LIST, .max = DEPLOY_DATA_MAX, .item_max = POLICY_DATA_KEY_MAX, FIELD_INTO(struct impact_forms, delete_data), .help = "Keys of data rows that are deleted"},
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

/* Run the plan of a policy. */
static enum az_status
run_side(struct op *op, const struct side *side, const char *target, const json_t *input,
         struct engine_trial *ret)
{
    char why[REGO_WHY_SIZE] = "";
    const char *text = jsonx_dump(op->mem, input);
    if (text == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for a question");
    const struct engine_plan_question question = {
        .entrypoint = target,
        .input = text,
        .length = strlen(text),
        .now_ns = json_integer_value(json_object_get(json_object_get(input, "request"), "time_ns")),
        .deadline_us = clock_monotonic_us() + IMPACT_EVALUATION_US,
    };
    enum rego_outcome outcome = engine_plan_run(op->mem, side->plan, &question, &ret->result, why);
    if (outcome == REGO_DONE)
        return AZ_OK;
    ret->error = "evaluation_failed";
    ret->message = talloc_strdup(op->mem, why);
    return AZ_UNPROCESSABLE;
}

enum az_status
evaluate_beside_ask(struct request *req, const struct evaluate_beside *beside, const char *target,
                    const json_t *input, struct engine_trial *ret)
{
    struct op *op = &req->op;
    struct impact_forms forms = {.rollback = 0};
    struct impact_pair pair;
    struct side side = {.plan = NULL};
    enum az_status st = read_forms(req, beside, &forms);
    if (st == AZ_OK)
        st = impact_candidate_read(req, &forms, &pair);
    if (st == AZ_OK)
        st = side_read(op, op->mem, &pair.candidate, NULL, &side);
    if (st != AZ_OK)
        return st;
    ret->revision = pair.candidate.revision;
    return run_side(op, &side, target, input, ret);
}
