#include "config.h"

#include "policy/trial/evaluate.h"

#include <string.h>

#include "policy/rows/rule.h"
#include "policy/rows/rule_builtins.h"
#include "policy/trial/own_opa.h"
#include "store/policy/bundles.h"
#include "store/policy/plans.h"

enum az_status
trial_check_live(struct op *op, const char *why)
{
    struct bundle_rows rows;
    struct rule_builtin_use use;
    enum az_status st = bundle_rows_fetch(op, &rows);
    for (size_t i = 0; st == AZ_OK && i < rows.rules; i++)
        if (strcmp(rule_kind(rows.rule_path[i]), "rego") == 0
            && rule_builtin_find_endless(rows.rule_content[i], &use))
            return op_fail(op, AZ_UNAVAILABLE, NULL,
                           "a policy whose rule %s calls %s (line %d) is not tried by the engine "
                           "that decides, and no other can be started: %s",
                           rows.rule_path[i], use.name, use.line, why);
    return st;
}

/* Read the bundle that may decide; ret->body is NULL if there is none. */
static enum az_status
read_bundle(struct op *op, struct plan_stored *ret)
{
    static const struct plan_known nothing = {.compare = true};
    struct plan_current now;
    *ret = (struct plan_stored){.body = NULL};
    enum az_status st = plan_current(op, &nothing, &now);
    return st == AZ_OK && now.revision != NULL ? plan_fetch(op, now.revision, ret) : st;
}

enum az_status
trial_evaluate(struct op *op, const char *path, const json_t *input, enum engine_explain explain,
               struct engine_trial *ret)
{
    struct plan_stored stored;
    struct own_opa *own = NULL;
    const char *why = NULL;
    enum own_opa_start start = OWN_OPA_NONE;
    *ret = (struct engine_trial){.result = NULL};
    enum az_status st = read_bundle(op, &stored);
    if (st != AZ_OK)
        return st;
    if (stored.body == NULL)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "there is no bundle that may decide");
    start = own_opa_start(op, stored.body, stored.body_length, &own, &why);
    if (start == OWN_OPA_NONE) {
        st = trial_check_live(op, why);
        return st == AZ_OK ? engine_try(op, path, input, explain, ret) : st;
    }
    if (start == OWN_OPA_REFUSED)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "a policy cannot be tried: %s", why);
    struct op look = own_opa_op(op, op->mem, own);
    st = engine_try(&look, path, input, explain, ret);
    op->fault = look.fault;
    talloc_free(own);
    return st;
}
