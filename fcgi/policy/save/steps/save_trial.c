#include "config.h"

#include "policy/save/steps/save_trial.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/engine/archive_read.h"
#include "policy/engine/entrypoints.h"
#include "policy/engine/policy_texts.h"
#include "policy/rows/rule.h"
#include "policy/rows/rule_builtins.h"
#include "policy/save/check/changed_rules.h"
#include "policy/save/check/hook_check.h"
#include "policy/trial/trial.h"
#include "store/policy/plans.h"

/* A save while it is tried. */
struct trying {
    const struct save_plan *plan;
    const struct bundle_build *build;
    const char *before; /* revision, or NULL */
    struct measured *measured;
    struct save_outcome *outcome;
};

/* Unpack a stored plan. A damaged one is none: OPA decides by it, and the next save that needs it
 * makes it again. */
static enum az_status
unpack_plan(struct op *op, const struct plan_stored *stored, struct trial_policy *ret)
{
    char *text = NULL;
    if (stored->plan == NULL)
        return AZ_OK;
    enum az_status st = archive_unpack(op->mem, stored->plan, stored->plan_length, POLICY_PLAN_MAX,
                                       &text, &ret->plan_length);
    ret->plan = text;
    return st == AZ_OK || st == AZ_INVALID || st == AZ_TOO_LARGE ? AZ_OK : op_no_memory(op);
}

/* The policy before the candidate, for trial_run(). */
static enum az_status
read_base(struct op *op, void *arg, struct trial_policy *ret, bool *ret_is)
{
    const struct trying *trying = arg;
    struct plan_stored stored = {.body = NULL};
    enum az_status st = AZ_OK;
    if (trying->before != NULL)
        st = plan_fetch(op, trying->before, &stored);
    *ret = (struct trial_policy){
        .name = "base", .body = stored.body, .body_length = stored.body_length};
    *ret_is = st == AZ_OK && stored.body != NULL;
    if (!*ret_is)
        return st;
    if (policy_texts_data(op->mem, stored.body, stored.body_length, &ret->data, &ret->data_length)
        != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the bundle before is damaged, or no memory");
    ret->data = talloc_strndup(op->mem, ret->data, ret->data_length);
    return ret->data != NULL ? unpack_plan(op, &stored, ret) : op_no_memory(op);
}

/* Return the candidate with its plan (NULL: there is none). */
static struct trial_policy
candidate_of(const struct trying *trying, const struct rego_plan_text *plan)
{
    const struct bundle_build *build = trying->build;
    return (struct trial_policy){.name = build->bundle.modules,
                                 .plan = plan->text,
                                 .plan_length = plan->length,
                                 .code = plan->plan,
                                 .data = build->data,
                                 .data_length = strlen(build->data),
                                 .body = build->bundle.body,
                                 .body_length = build->bundle.length};
}

/* ---- refusing */

/* Refuse the save. */
static enum az_status
refuse(struct op *op, const struct trying *trying, const char *description, json_t *members)
{
    if (description == NULL)
        return op_no_memory(op);
    trying->outcome->refusal =
        (struct save_refusal){.error = "bundle_not_activated",
                              .description = description,
                              .expected = trying->build->bundle.revision,
                              .active = trying->before != NULL ? trying->before : "",
                              .members = members};
    return op_fail(op, AZ_UNPROCESSABLE, NULL, "bundle_not_activated: %s", description);
}

/* Return the fault of a question, with the rule that it lies in: that of the place, unless it is a
 * shipped one, which an operator's rule leads to. */
static const char *
describe(struct op *op, const struct trying *trying, const struct trial_result *result)
{
    const struct bundle_build *build = trying->build;
    bool shipped = *result->file == '\0' || strncmp(result->file, "svc/", 4) == 0;
    const char *text = trial_reason(op->mem, result->file, result->row, result->why);
    const char *changed = shipped ? changed_rules_names(op, &build->rows) : NULL;
    if (text != NULL)
        text = bundle_modules_blame(op->mem, &build->modules, text);
    return talloc_asprintf(op->mem, "%s%s%s; asked: %s, which has an answer now",
                           changed != NULL ? changed : "", changed != NULL ? ": " : "", text,
                           result->question);
}

/* True if the caller passes a refusal as he may pass guards, which is noted in `measured`. */
static enum az_status
is_passed(struct op *op, const struct trying *trying, bool *ret)
{
    struct guards guards;
    enum az_status st = guards_read(op, &guards);
    *ret = st == AZ_OK && limits_override(trying->plan, &guards, trying->measured);
    return st;
}

/* Refuse the save for a question, or note that the caller passes this as he may pass guards. Nobody
 * passes what an engine is asked without an input: the save would end there, and the engine too. */
static enum az_status
refuse_question(struct op *op, const struct trying *trying, const struct trial_result *result)
{
    bool passed = false;
    enum az_status st = result->bare ? AZ_OK : is_passed(op, trying, &passed);
    if (st != AZ_OK || passed)
        return st;
    json_t *members = jsonx_own(op->mem, json_pack("{s:s,s:b}", "question", result->question,
                                                   "overridable", (int) !result->bare));
    return refuse(op, trying, members != NULL ? describe(op, trying, result) : NULL, members);
}

/* Return the first error of opa build as an engine would tell it: FILE:ROW: what. */
static const char *
first_error(TALLOC_CTX *mem, const char *text)
{
    const char *line = strstr(text, "rego_");
    while (line != NULL && line > text && line[-1] != '\n')
        line--;
    if (line == NULL)
        return text;
    const char *count = strstr(line, "occurred: ");
    size_t length = strcspn(line, "\n");
    if (count != NULL && count < line + length)
        line = count + strlen("occurred: ");
    length = strcspn(line, "\n");
    const char *code = strstr(line, ": rego_"),
               *what = code != NULL ? strstr(code + 2, ": ") : NULL;
    if (what == NULL || what > line + length)
        return talloc_strndup(mem, line, length);
    return talloc_asprintf(mem, "%.*s%.*s", (int) (code - line), line, (int) (line + length - what),
                           what);
}

/* Refuse what opa build refuses. */
static enum az_status
refuse_compiled(struct op *op, const struct trying *trying, const char *text)
{
    const struct bundle_build *build = trying->build;
    const char *first = first_error(op->mem, text);
    if (first != NULL)
        first = hook_check_refusal(op, &build->rows,
                                   bundle_modules_blame(op->mem, &build->modules, first));
    return refuse(op, trying, first, NULL);
}

/* Refuse rules that read a member which no input has, unless the caller overrides this. A part of
 * such a rule is undefined, so it would not deny what it should. */
static enum az_status
refuse_unknown(struct op *op, const struct trying *trying, struct planning *planning,
               struct rego_plan_text *plan)
{
    const struct bundle_build *build = trying->build;
    json_t *faults = NULL, *members;
    bool passed = false;
    enum az_status st = changed_rules_unknown(op, &build->rows, planning, plan, &faults);
    if (st == AZ_OK && faults != NULL)
        st = is_passed(op, trying, &passed);
    if (st != AZ_OK || faults == NULL || passed)
        return st;
    members = jsonx_own(op->mem, json_pack("{s:O,s:b}", "errors", faults, "overridable", 1));
    return refuse(op, trying, members != NULL ? changed_rules_fault(op->mem, faults) : NULL,
                  members);
}

/* ---- trying */

/* Let a policy pass that could not be tried, with a warning; but no rule that calls a builtin which
 * an engine cannot cancel. */
static enum az_status
go_untried(struct op *op, const struct trying *trying, const char *why)
{
    const struct bundle_rows *rows = &trying->build->rows;
    const bool *changed = changed_rules_find(op, rows);
    struct rule_builtin_use use;
    if (changed == NULL) /* any of them may not end */
        return op_fail(op, AZ_UNAVAILABLE, NULL, "the rules that changed are not known");
    for (size_t i = 0; i < rows->rules; i++)
        if (changed[i] && strcmp(rule_kind(rows->rule_path[i]), "rego") == 0
            && rule_builtin_find_endless(rows->rule_content[i], &use))
            return refuse(op, trying,
                          talloc_asprintf(op->mem,
                                          "%s:%d: %s: %s, and this rule cannot be tried: %s",
                                          rows->rule_path[i], use.line, use.name, use.why, why),
                          NULL);
    trying->outcome->trial_warning = talloc_asprintf(
        op->mem, "The policy was not tried with all questions before the engines got it: %s", why);
    return AZ_OK;
}

/* Ask the questions. */
static enum az_status
ask(struct op *op, struct trying *trying, const struct trial_policy *candidate,
    const struct trial_questions *questions)
{
    struct trial_result result;
    enum az_status st = trial_run(op, candidate, read_base, trying, questions, &result);
    if (st != AZ_OK)
        return st;
    if (result.question != NULL)
        return refuse_question(op, trying, &result);
    return result.untried != NULL ? go_untried(op, trying, result.untried) : AZ_OK;
}

enum az_status
save_trial(struct op *op, const struct save_plan *plan, const struct bundle_build *build,
           struct planning *planning, const char *before, struct measured *measured,
           struct save_outcome *outcome)
{
    struct trying trying = {plan, build, before, measured, outcome};
    struct trial_questions questions;
    struct plan_lack lack = {.why = NULL};
    struct rego_plan_text *text = NULL;
    bool hooks = bundle_modules_has(&build->modules, ENTRYPOINT_HOOKS_FILE);
    enum az_status st = trial_questions_read(op, hooks, &questions); /* opa build runs meanwhile */
    if (st == AZ_OK)
        st = planning_text(op, planning, &text, &lack);
    if (st != AZ_OK)
        return st;
    if (lack.refusal != NULL)
        return refuse_compiled(op, &trying, lack.refusal);
    if (lack.endless)
        return refuse(op, &trying,
                      talloc_asprintf(op->mem, "%s: the policy cannot be compiled: %s",
                                      changed_rules_names(op, &build->rows), lack.why),
                      NULL);
    st = text->text != NULL ? refuse_unknown(op, &trying, planning, text) : AZ_OK;
    const struct trial_policy candidate = candidate_of(&trying, text);
    return st == AZ_OK ? ask(op, &trying, &candidate, &questions) : st;
}
