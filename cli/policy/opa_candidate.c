#include "config.h"

#include "cli/policy/opa_candidate.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cli/lib/input.h"
#include "cli/lib/output.h"
#include "cli/policy/stored.h"
#include "policy/rows/rule.h"

bool
opa_candidate_add(const struct cli *cli, struct opa_candidate *candidate,
                  const struct opa_module *module)
{
    size_t count = candidate->modules;
    if (module->file == NULL)
        return false;
    if ((count & (count - 1)) == 0) { /* grows by doubling: 0, 1, 2, 4 ... */
        size_t room = count == 0 ? 1 : 2 * count;
        candidate->module =
            talloc_realloc(cli->mem, candidate->module, struct opa_module, (unsigned) room);
    }
    if (candidate->module == NULL)
        return false;
    struct opa_module *added = &candidate->module[candidate->modules++];
    *added = *module;
    if (rule_package(cli->mem, module->text, &added->package) != RULE_PACKAGE_NAMED)
        added->package = NULL;
    return true;
}

/* Add the rules of the directory, or the one of the input, and enter all of its paths. */
static bool
add_given(const struct cli *cli, const struct deploy *deploy, const char *dir,
          struct opa_candidate *candidate, json_t *paths)
{
    bool good = true;
    for (size_t i = 0; good && i < deploy->rules; i++) {
        const struct deploy_rule *rule = &deploy->rule[i];
        const struct opa_module module = {
            .path = rule->path,
            .text = rule->content,
            .file =
                dir != NULL ? talloc_asprintf(cli->mem, "%s/%s", dir, rule->path) : input_name(cli),
            .ours = true,
        };
        if (rule_path_is_ours(rule->path))
            continue;
        good = json_object_set_new(paths, rule->path, json_true()) == 0;
        /* The deploy itself refuses an empty rule, with better words. */
        bool compiled =
            rule->enabled && strcmp(rule_kind(rule->path), "rego") == 0 && *rule->content != '\0';
        if (good && compiled)
            good = opa_candidate_add(cli, candidate, &module);
    }
    return good;
}

static bool
add_stored(const struct cli *cli, const json_t *rule, bool replace, const json_t *paths,
           struct opa_candidate *candidate)
{
    const char *path = json_string_value(json_object_get(rule, "path")),
               *text = json_string_value(json_object_get(rule, "content"));
    if (path == NULL || text == NULL || !json_is_true(json_object_get(rule, "enabled"))
        || strcmp(rule_kind(path), "rego") != 0 || json_object_get(paths, path) != NULL)
        return true;
    bool shipped = rule_path_is_ours(path);
    if (replace && !shipped)
        return true;
    const struct opa_module module = {
        .path = path,
        .text = text,
        .file = talloc_asprintf(cli->mem, "%s (%s)", path, shipped ? "shipped" : "stored"),
    };
    return opa_candidate_add(cli, candidate, &module);
}

static bool
is_rego(const json_t *rule)
{
    const char *kind = json_string_value(json_object_get(rule, "kind"));
    return kind != NULL && strcmp(kind, "rego") == 0;
}

int
opa_candidate_make(struct cli *cli, const struct deploy *deploy, const char *dir,
                   struct opa_candidate *ret)
{
    const char *text;
    json_t *rules, *rule, *paths = jsonx_own(cli->mem, json_object());
    size_t i;
    *ret = (struct opa_candidate){.module = NULL};
    int status = stored_rules(cli, &text);
    if (status == CLI_OK)
        status = input_list(cli, text, &rules);
    if (status != CLI_OK)
        return status;
    bool good = paths != NULL && add_given(cli, deploy, dir, ret, paths);
    json_array_foreach (rules, i, rule)
        if (is_rego(rule))
            good = good && add_stored(cli, rule, deploy->replace, paths, ret);
    return good ? CLI_OK : output_no_memory(cli);
}
