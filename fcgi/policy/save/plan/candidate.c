#include "config.h"

#include "policy/save/plan/candidate.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "policy/save/bundle/bundle.h"
#include "policy/save/check/changed_rules.h"
#include "policy/save/check/rule_warnings.h"
#include "policy/save/plan/bundle_plan.h"
#include "store/db/db.h"
#include "store/policy/plans.h"

/* A candidate waits no longer for a row that a save is writing: less than the deadlock_timeout of
 * PostgreSQL, 1 s, so that of the two the candidate gives way and not the save. Milliseconds. */
#define LOCK_WAIT_MS 500

/* A candidate while it is made. */
struct making {
    const struct save_plan *plan;
    struct bundle_build before, after;
    const char *before_name, *after_name; /* of the plans */
};

/* Make sure that the rows are those of the revision that decides. */
static enum az_status
check_base(struct op *op, const struct making *making)
{
    const struct plan_known known = {.revision = making->before.bundle.revision, .compare = true};
    const char *expected = making->plan->if_revision, *rows = known.revision;
    struct plan_current now;
    enum az_status st = plan_current(op, &known, &now);
    if (st != AZ_OK)
        return st;
    const char *active = now.revision != NULL ? now.revision : "none";
    if (expected != NULL && strcmp(expected, active) != 0)
        return op_fail(
            op, AZ_PRECONDITION_FAILED,
            talloc_asprintf(op->mem, "The active revision is %s, not %s", active, expected),
            "the active revision is %s, not %s", active, expected);
    if (strcmp(active, rows) == 0)
        return AZ_OK;
    return op_fail(
        op, AZ_UNAVAILABLE,
        talloc_asprintf(op->mem, "Revision %s decides, but the stored rows are %s", active, rows),
        "policy impact: revision %s decides, but the stored rows are %s", active, rows);
}

/* Read the rows, make the change, and read them again. */
static enum az_status
change_rows(struct op *op, struct making *making)
{
    enum az_status st = bundle_read(op, &making->before);
    if (st == AZ_OK)
        making->before_name = bundle_modules_name(op->mem, &making->before.modules);
    if (st == AZ_OK)
        st = check_base(op, making);
    if (st == AZ_OK)
        st = making->plan->apply(op, making->plan->arg);
    if (st == AZ_OK)
        st = bundle_read(op, &making->after);
    if (st == AZ_OK)
        making->after_name = bundle_modules_name(op->mem, &making->after.modules);
    return st != AZ_OK || (making->before_name != NULL && making->after_name != NULL)
               ? st
               : op_no_memory(op);
}

/* Return a line of OPA's errors as {path, row, message}, a new reference. It is FILE:ROW: message,
 * or has no place. */
static json_t *
error_json(TALLOC_CTX *mem, const struct bundle_modules *modules, const char *line)
{
    const char *blamed = bundle_modules_blame(mem, modules, line);
    const char *colon = blamed != NULL ? strchr(blamed, ':') : NULL;
    char *end = NULL;
    long row = colon != NULL ? strtol(colon + 1, &end, 10) : 0;
    if (blamed == NULL)
        return NULL;
    if (row <= 0 || *end != ':')
        return json_pack("{s:s}", "message", blamed);
    end++;
    return json_pack("{s:s#,s:I,s:s}", "path", blamed, (size_t) (colon - blamed), "row",
                     (json_int_t) row, "message", end + strspn(end, " "));
}

/* Return a line of OPA's without its count, "error: 1 error occurred: ". */
static const char *
without_count(const char *line)
{
    static const char count[] = "occurred: ";
    const char *at = strncmp(line, "error: ", 7) == 0 ? strstr(line, count) : NULL;
    return at != NULL ? at + sizeof(count) - 1 : line;
}

static enum az_status
refuse_for(struct op *op, const struct making *making, const char *first,
           struct save_outcome *outcome)
{
    outcome->refusal = (struct save_refusal){.error = "bundle_not_activated",
                                             .description = first,
                                             .expected = making->after.bundle.revision,
                                             .active = making->before.bundle.revision};
    return op_fail(op, AZ_UNPROCESSABLE, NULL, "bundle_not_activated: %s", first);
}

/* Refuse a candidate that opa build refuses. */
static enum az_status
refuse_policy(struct op *op, const struct making *making, char *text, struct save_outcome *outcome,
              json_t **ret_errors)
{
    struct jsonx_build errors = {jsonx_own(op->mem, json_array()), false};
    const char *first = NULL;
    for (const char *line; (line = strsep(&text, "\n")) != NULL;) {
        if (strstr(line, "rego_") == NULL)
            continue;
        line = without_count(line);
        jsonx_append(&errors, error_json(op->mem, &making->after.modules, line));
        if (first == NULL)
            first = bundle_modules_blame(op->mem, &making->after.modules, line);
    }
    *ret_errors = jsonx_built(&errors);
    if (*ret_errors == NULL || first == NULL)
        return op_no_memory(op);
    return refuse_for(op, making, first, outcome);
}

/* Refuse a candidate whose rules read a member which no input has, as its save would be. */
static enum az_status
refuse_unknown(struct op *op, const struct making *making, struct save_outcome *outcome,
               json_t **ret_errors)
{
    const struct save_limits *limits = making->plan->limits;
    struct rego_plan_text plan;
    enum az_status st = plan_read(op, making->after_name, &plan);
    bool passed = limits != NULL && limits->override != NULL; /* the save judges who may */
    if (st == AZ_OK && plan.text != NULL && !passed)
        st = changed_rules_unknown(op, &making->after.rows, op->mem, &plan, ret_errors);
    if (st != AZ_OK || *ret_errors == NULL)
        return st;
    const char *first = changed_rules_fault(op->mem, *ret_errors);
    if (first == NULL)
        return op_no_memory(op);
    return refuse_for(op, making, first, outcome);
}

/* Plan one side. */
static enum az_status
plan_side(struct op *op, const struct bundle_build *build, const char *name, char **ret_refusal)
{
    struct plan_lack lack = {.refusal = NULL};
    enum az_status st = plan_need(op, &build->modules, name, &lack);
    *ret_refusal = lack.refusal != NULL ? talloc_strdup(op->mem, lack.refusal) : NULL;
    if (st != AZ_OK || lack.why == NULL || *ret_refusal != NULL)
        return st;
    return op_fail(op, AZ_UNAVAILABLE,
                   talloc_asprintf(op->mem, "The policy cannot be planned: %s", lack.why),
                   "policy impact: no plan of revision %s: %s", build->bundle.revision, lack.why);
}

enum az_status
candidate_make(struct op *op, const struct save_plan *plan, struct save_outcome *ret_outcome,
               struct impact_pair *ret, json_t **ret_errors)
{
    struct making making = {.plan = plan};
    char *refusal = NULL;
    enum az_status st = db_begin(op);
    if (st != AZ_OK)
        return st;
    st = db_limit_lock_wait(op, LOCK_WAIT_MS);
    if (st == AZ_OK)
        st = change_rows(op, &making);
    db_rollback(op);
    *ret = (struct impact_pair){
        {NULL, NULL, NULL},
        {NULL, NULL, NULL}
    };
    if (st == AZ_OK)
        *ret = (struct impact_pair){
            {making.before.bundle.revision, making.before_name, making.before.data},
            {making.after.bundle.revision,  making.after_name,  making.after.data }
        };
    if (st == AZ_OK)
        st = plan_side(op, &making.before, making.before_name, &refusal);
    if (st == AZ_OK && refusal == NULL)
        st = plan_side(op, &making.after, making.after_name, &refusal);
    if (st == AZ_OK && refusal != NULL)
        st = refuse_policy(op, &making, refusal, ret_outcome, ret_errors);
    if (st == AZ_OK)
        st = refuse_unknown(op, &making, ret_outcome, ret_errors);
    if (st != AZ_OK)
        return st;
    ret_outcome->warnings = rule_warnings(op, &making.after.rows);
    return AZ_OK;
}
