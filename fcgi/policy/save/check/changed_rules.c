#include "config.h"

#include "policy/save/check/changed_rules.h"

#include <string.h>

#include "base/log.h"
#include "crypto/digest.h"
#include "policy/rows/rule.h"
#include "policy/trial/members.h"

/* Octets of the names of rules in a refusal. */
#define NAMES_MAX 300

/* True if a stored rule has the path and the text. */
static bool
has_rule(const struct bundle_digests *stored, const char *path, const char *content)
{
    char digest[SHA256_HEX_SIZE];
    for (size_t i = 0; i < stored->rules; i++)
        if (strcmp(stored->path[i], path) == 0)
            return sha256_hex(content, strlen(content), digest) == AZ_OK
                   && strcmp(stored->digest[i], digest) == 0;
    return false;
}

const bool *
changed_rules_find(struct op *op, const struct bundle_rows *rows)
{
    struct bundle_digests before = {.rules = 0};
    struct op look = op_beside(op, op->mem);
    bool *changed = talloc_array(op->mem, bool, (unsigned) rows->rules + 1);
    if (changed == NULL || bundle_digests_fetch(&look, &before) != AZ_OK) {
        log_text(AZ_SEV_WARN, "rules not compared", "%s",
                 changed != NULL ? look.fault.detail : "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < rows->rules; i++)
        changed[i] = !has_rule(&before, rows->rule_path[i], rows->rule_content[i]);
    return changed;
}

const char *
changed_rules_names(struct op *op, const struct bundle_rows *rows)
{
    const bool *changed = changed_rules_find(op, rows);
    char *names = talloc_strdup(op->mem, "");
    for (size_t i = 0;
         changed != NULL && i < rows->rules && names != NULL && strlen(names) < NAMES_MAX; i++)
        if (changed[i])
            names = talloc_asprintf_append_buffer(names, "%s%s", *names != '\0' ? ", " : "",
                                                  rows->rule_path[i]);
    return names != NULL && *names != '\0' ? names : "the rules";
}

/* True if a rule in Rego is among those that changed. */
static bool
some_rego(const struct bundle_rows *rows, const bool *changed)
{
    for (size_t i = 0; i < rows->rules; i++)
        if (changed[i] && strcmp(rule_kind(rows->rule_path[i]), "rego") == 0)
            return true;
    return false;
}

enum az_status
changed_rules_unknown(struct op *op, const struct bundle_rows *rows, TALLOC_CTX *mem,
                      struct rego_plan_text *plan, json_t **ret)
{
    const bool *changed = changed_rules_find(op, rows);
    *ret = NULL;
    if (changed == NULL)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "the rules that changed are not known");
    if (!some_rego(rows, changed) || rego_plan_once(mem, plan) == NULL)
        return AZ_OK;
    return members_find(op, rows, changed, plan->plan, ret);
}

const char *
changed_rules_fault(TALLOC_CTX *mem, const json_t *faults)
{
    const json_t *first = json_array_get(faults, 0);
    return talloc_asprintf(mem, "%s:%lld: %s", json_string_value(json_object_get(first, "path")),
                           (long long) json_integer_value(json_object_get(first, "row")),
                           json_string_value(json_object_get(first, "message")));
}
