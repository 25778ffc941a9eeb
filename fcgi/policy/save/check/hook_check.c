#include "config.h"

#include "policy/save/check/hook_check.h"

#include <string.h>

#include "base/log.h"
#include "policy/engine/engine.h"
#include "policy/rows/hooks.h"
#include "policy/rows/rule.h"
#include "policy/rows/rule_conflict.h"
#include "policy/save/check/changed_rules.h"
#include "store/db/db.h"

/* The revision of the active bundle as the engine stores it; `svc` is the bundle's name in
 * etc/opa/opa.yaml. */
#define REVISION "data.system.bundles.svc.manifest.revision"

/* An engine that works answers the status within milliseconds, on a very busy machine within this
 * time. Milliseconds. */
#define READY_MS 1000

bool
hook_check_ready(struct op *op)
{
    struct op look = op_beside(op, talloc_new(op->mem));
    struct engine_status status;
    bool ready = look.mem != NULL && engine_revision(&look, READY_MS, &status) == AZ_OK;
    if (!ready)
        log_text(AZ_SEV_WARN, "hooks not checked", "%s",
                 look.mem != NULL ? look.fault.detail : "out of memory");
    talloc_free(look.mem);
    return ready;
}

static const char *
no_memory(void)
{
    log_text(AZ_SEV_WARN, "hooks not checked", "out of memory");
    return NULL;
}

/* Return the refusal of a candidate for which the engine gave no answer in time. The
 * refusal names the rules that the candidate changes, because the stored ones passed this check. */
static const char *
blame_late(struct op *op, const struct bundle_rows *rows)
{
    const char *text = talloc_asprintf(
        op->mem,
        "%s: the policy engine gave no answer within %d s when it evaluated the rules without an "
        "input; make them cheaper. If the engine does not recover, restart it",
        changed_rules_names(op, rows), HOOK_TRIAL_MS / 1000);
    return text != NULL ? text : "the policy engine gave no answer in time";
}

/* Return the fault of the first hook that has a wrong type without an input. *ret_same: the engine
 * answered by this revision. */
static const char *
find_by_value(struct op *op, const struct bundle_build *build, bool *ret_same)
{
    struct engine_trial trial;
    char *types = policy_hooks_types(op->mem);
    char *query = types != NULL
                      ? talloc_asprintf(op->mem, "revision := " REVISION "\ntypes := %s", types)
                      : NULL;
    if (query == NULL)
        return no_memory();
    enum az_status st = engine_query(op, query, HOOK_TRIAL_MS, &trial);
    *ret_same = false;
    if (trial.late)
        return blame_late(op, &build->rows);
    const json_t *row = json_array_get(trial.result, 0);
    const char *active = json_string_value(json_object_get(row, "revision"));
    const json_t *found = json_object_get(row, "types");
    /* A rule that fails without an input says nothing of its type. */
    *ret_same =
        st == AZ_UNPROCESSABLE || (active != NULL && strcmp(active, build->bundle.revision) == 0);
    if (!*ret_same)
        log_text(AZ_SEV_WARN, "hooks not checked", "%s",
                 st != AZ_OK ? op->fault.detail : "the policy engine has another revision");
    for (size_t i = 0; st == AZ_OK && *ret_same && i < policy_hooks_count; i++) {
        const struct policy_hook *hook = &policy_hooks[i];
        const char *type = json_string_value(json_array_get(json_object_get(found, hook->path), 0));
        if (type != NULL && strcmp(type, hook->type) != 0)
            return policy_hooks_fault(op->mem, hook, type);
    }
    return NULL;
}

/* Return the fault of the first hook that can have no right type, whatever the input is. */
static const char *
find_by_type(struct op *op, const struct bundle_build *build)
{
    struct engine_trial trial;
    char *query = policy_hooks_typed(op->mem, "");
    if (query == NULL)
        return no_memory();
    enum az_status st = engine_query(op, query, HOOK_TRIAL_MS, &trial);
    if (trial.late)
        return blame_late(op, &build->rows);
    if (st != AZ_OK && st != AZ_UNPROCESSABLE)
        log_text(AZ_SEV_WARN, "hooks not checked", "%s", op->fault.detail);
    if (st != AZ_UNPROCESSABLE)
        return NULL;
    size_t i;
    const json_t *error;
    json_array_foreach (trial.errors, i, error) {
        const char *code = json_string_value(json_object_get(error, "code"));
        const struct policy_hook *hook = policy_hooks_at(error, 0);
        if (hook != NULL && code != NULL && strcmp(code, "rego_type_error") == 0)
            return policy_hooks_fault(op->mem, hook, policy_hooks_had(error));
    }
    return NULL;
}

const char *
hook_check(struct op *op, const struct bundle_build *build)
{
    struct op look = op_beside(op, op->mem);
    bool same = false;
    const char *fault = find_by_value(&look, build, &same);
    if (fault != NULL || !same)
        return fault;
    az_fault_clear(&look.fault);
    db_break_silence(op);
    return find_by_type(&look, build);
}

/* Return the refusal of rules that exclude each other, with the new ones first; NULL: the message
 * is of another fault. The candidate is not stored yet. */
static const char *
blame_conflict(struct op *op, const struct bundle_rows *rows, const char *message)
{
    size_t count = 0;
    const bool *changed = rule_conflict_is(message) ? changed_rules_find(op, rows) : NULL;
    struct rule_side *side = talloc_array(op->mem, struct rule_side, (unsigned) rows->rules + 1);
    if (side == NULL || changed == NULL)
        return NULL;
    for (size_t i = 0; i < rows->rules; i++) {
        const char *path = rows->rule_path[i], *content = rows->rule_content[i];
        if (strcmp(rule_kind(path), "rego") == 0)
            side[count++] = (struct rule_side){path, content, changed[i]};
    }
    return rule_conflict_text(op->mem, side, count, message);
}

const char *
hook_check_refusal(struct op *op, const struct bundle_rows *rows, const char *message)
{
    const char *conflict = blame_conflict(op, rows, message);
    if (conflict != NULL)
        return conflict;
    bool shipped = strncmp(message, "svc/", 4) == 0;
    const struct policy_hook *hook = shipped ? policy_hooks_blamed(message) : NULL;
    const char *fault = hook != NULL ? policy_hooks_fault(op->mem, hook, NULL) : NULL;
    return fault != NULL ? fault : message;
}
