#include "config.h"

#include "policy/save/changed_rules.h"

#include <string.h>

#include "base/log.h"

/* Octets of the names of rules in a refusal. */
#define NAMES_MAX 300

/* True if a rule of before has the path and the text. */
static bool
has_rule(const struct bundle_rows *rows, const char *path, const char *content)
{
    for (size_t i = 0; i < rows->rules; i++)
        if (strcmp(rows->rule_path[i], path) == 0)
            return strcmp(rows->rule_content[i], content) == 0;
    return false;
}

const bool *
changed_rules_find(struct op *op, const struct bundle_rows *rows)
{
    struct bundle_rows before = {.rules = 0};
    struct op look = op_beside(op, op->mem);
    bool *changed = talloc_array(op->mem, bool, (unsigned) rows->rules + 1);
    if (changed == NULL || bundle_rows_fetch(&look, &before) != AZ_OK) {
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
