#include "config.h"

#include "policy/engine/compare.h"

#include <string.h>

#include "base/clock.h"
#include "base/settings/settings.h"
#include "policy/engine/entrypoints.h"

bool
compare_equal(const json_t *one, const json_t *other)
{
    return one == NULL || other == NULL ? one == other : json_equal(one, other);
}

bool
compare_failure_counts(struct op *op, enum no_decision lack, const char *revision, long timeout_ms,
                       const char **ret_why, bool *ret_moved)
{
    struct engine_status status;
    struct az_fault fault = op->fault;
    *ret_moved = false;
    if (lack == NO_DECISION_UNREACHABLE)
        return false;
    az_fault_clear(&op->fault);
    bool known = engine_revision(op, timeout_ms, &status) == AZ_OK;
    *ret_moved = known && strcmp(status.active_revision, revision) != 0;
    if (known && !*ret_moved) {
        *ret_why = talloc_strdup(op->mem, fault.detail);
        return true;
    }
    op->fault = fault;
    return false;
}

/* Let the machine decide. */
static enum rego_outcome
run_machine(struct op *op, const struct engine_plan *plan, const char *entrypoint,
            const struct engine_answer *asked, struct comparison *ret)
{
    char why[REGO_WHY_SIZE] = "";
    const char *rule = talloc_asprintf(op->mem, "%s" ENTRYPOINT_RULE, entrypoint);
    int64_t started = clock_monotonic_us();
    const struct engine_plan_question question = {
        .entrypoint = rule != NULL ? rule : "",
        .input = asked->asked.text,
        .length = asked->asked.length,
        .now_ns = op->now_ms * 1000000,
        .deadline_us = started + op->az->cfg->policy_timeout_ms * 1000,
    };
    enum rego_outcome outcome = engine_plan_run(op->mem, plan, &question, &ret->embedded, why);
    ret->embedded_us = (long) (clock_monotonic_us() - started);
    if (outcome != REGO_DONE)
        ret->why = talloc_strdup(op->mem, why);
    return outcome;
}

/* An error of one engine is the answer of the other only if that is an error too. */
static bool
is_same(const struct comparison *comparison)
{
    bool failed = comparison->why != NULL, opa_failed = comparison->opa_why != NULL;
    return failed || opa_failed ? failed && opa_failed
                                : compare_equal(comparison->embedded, comparison->opa);
}

enum az_status
compare_question(struct op *op, const struct engine_plan *plan, const char *revision,
                 const char *entrypoint, const json_t *input, struct comparison *ret)
{
    struct engine_answer answer = {.result = NULL};
    struct comparison made = {.embedded = NULL};
    enum az_status st = engine_opa_ask(op, entrypoint, input, 0, &answer);
    bool moved = st == AZ_OK && strcmp(answer.revision, revision) != 0;
    if (st != AZ_OK
        && (st != AZ_UNAVAILABLE
            || !compare_failure_counts(op, answer.lack, revision, 0, &made.opa_why, &moved)))
        return st;
    made.opa = answer.result;
    made.opa_us = answer.us;
    enum rego_outcome outcome = run_machine(op, plan, entrypoint, &answer, &made);
    made.result = moved                     ? COMPARE_MOVED
                  : outcome == REGO_GIVE_UP ? COMPARE_OPA_ALONE
                  : is_same(&made)          ? COMPARE_SAME
                                            : COMPARE_DIFFERS;
    *ret = made;
    return AZ_OK;
}
