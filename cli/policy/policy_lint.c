#include "config.h"

#include "cli/policy/policy_lint.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cli/lib/output.h"
#include "policy/rows/cedar_unknown.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"
#include "policy/rows/rule_unread.h"

/* One check. */
struct lint {
    struct cli *cli;
    const char *shipped;
    const struct bundle_dir *dir;
    json_t *faults, *notes;
};

static const char *
lint_file(const struct lint *lint, const struct deploy_rule *rule)
{
    return talloc_asprintf(lint->cli->mem, "%s/%s", lint->dir->name, rule->path);
}

static bool
lint_rego(const struct lint *lint)
{
    size_t count = 0;
    struct rule_text *text =
        talloc_array(lint->cli->mem, struct rule_text, (unsigned) lint->dir->rules + 1);
    for (size_t i = 0; text != NULL && i < lint->dir->rules; i++) {
        const struct deploy_rule *rule = &lint->dir->rule[i];
        if (rule->enabled && strcmp(rule_kind(rule->path), "rego") == 0)
            text[count++] = (struct rule_text){lint_file(lint, rule), rule->content};
    }
    return text != NULL && rule_unread_find(lint->cli->mem, text, count, lint->faults, lint->notes);
}

/* Read the shipped schema; NULL after printing the error. */
static const json_t *
read_cedar_schema(const struct lint *lint)
{
    char *file = talloc_asprintf(lint->cli->mem, "%s/" CEDAR_SCHEMA_FILE, lint->shipped);
    json_error_t error;
    json_t *schema = file != NULL ? jsonx_own(lint->cli->mem,
                                              json_load_file(file, JSON_REJECT_DUPLICATES, &error))
                                  : NULL;
    if (schema == NULL)
        output_error("%s: %s: %s; check SVC_DATA_DIR", lint->cli->path, file != NULL ? file : "",
                     file != NULL ? error.text : "out of memory");
    return schema;
}

/* False: an error was printed, or there is no memory. */
static bool
lint_cedar(const struct lint *lint)
{
    TALLOC_CTX *mem = lint->cli->mem;
    struct cedar_known known = {.schema = NULL};
    const char **row = talloc_array(mem, const char *, (unsigned) lint->dir->data_rows + 1);
    for (size_t i = 0; row != NULL && i < lint->dir->data_rows; i++)
        if (policy_name_lies_in(lint->dir->data[i].data_key, "svc.cedar_data"))
            row[known.rows++] = lint->dir->data[i].payload;
    known.row = row;
    bool good = row != NULL;
    for (size_t i = 0; good && i < lint->dir->rules; i++) {
        const struct deploy_rule *rule = &lint->dir->rule[i];
        if (!rule->enabled || strcmp(rule_kind(rule->path), "cedar") != 0)
            continue;
        if (known.schema == NULL && (known.schema = read_cedar_schema(lint)) == NULL)
            return false;
        good = cedar_unknown_find(mem, &known, lint_file(lint, rule), rule->content, lint->faults,
                                  lint->notes);
    }
    return good;
}

bool
policy_lint(struct cli *cli, const char *shipped, const struct bundle_dir *dir)
{
    const struct lint lint = {.cli = cli,
                              .shipped = shipped,
                              .dir = dir,
                              .faults = jsonx_own(cli->mem, json_array()),
                              .notes = jsonx_own(cli->mem, json_array())};
    size_t i;
    json_t *text;
    bool good = lint_rego(&lint) && lint_cedar(&lint);
    json_array_foreach (lint.notes, i, text)
        output_error("%s: warning: %s", cli->path, json_string_value(text));
    json_array_foreach (lint.faults, i, text)
        output_error("%s: %s", cli->path, json_string_value(text));
    return good && json_array_size(lint.faults) == 0;
}
