/* bundle diff --dir: compare a directory, as a deploy would read it, with what is stored. */
#include "config.h"

#include "base/json/jsonx.h"
#include "cli/lib/output.h"
#include "cli/policy/bundle.h"
#include "cli/policy/bundle_stored.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"
#include "policy/save/bundle/bundle_diff.h"

/* One comparison. */
struct compare {
    struct cli *cli;
    struct bundle_dir dir;
    json_t *paths, *keys; /* names of the rules and rows in the directory */
    struct bundle_stored stored;
    size_t outside; /* rows outside the bundle that the directory does not have */
};

static json_t *
rule_json(const struct deploy_rule *rule)
{
    return json_pack("{s:s,s:s,s:b}", "path", rule->path, "content", rule->content, "enabled",
                     rule->enabled);
}

/* Return the content of the directory for bundle_diff(), and note its names. */
static json_t *
content_of_dir(struct compare *compare)
{
    TALLOC_CTX *mem = compare->cli->mem;
    const struct bundle_dir *dir = &compare->dir;
    struct jsonx_build rules = {jsonx_own(mem, json_array()), false},
                       data = {jsonx_own(mem, json_array()), false},
                       paths = {jsonx_own(mem, json_object()), false},
                       keys = {jsonx_own(mem, json_object()), false};
    for (size_t i = 0; i < dir->rules; i++) {
        jsonx_append(&rules, rule_json(&dir->rule[i]));
        jsonx_set(&paths, dir->rule[i].path, json_true());
    }
    for (size_t i = 0; i < dir->data_rows; i++) {
        const struct deploy_data *row = &dir->data[i];
        jsonx_append(&data,
                     json_pack("{s:s,s:s}", "dataKey", row->data_key, "payload", row->payload));
        jsonx_set(&keys, row->data_key, json_true());
    }
    compare->paths = jsonx_built(&paths);
    compare->keys = jsonx_built(&keys);
    if (compare->paths == NULL || compare->keys == NULL)
        return NULL;
    return jsonx_own(
        mem, json_pack("{s:O,s:O}", "rules", jsonx_built(&rules), "data", jsonx_built(&data)));
}

/* True if a stored rule counts: the directory has it, or a deploy with replace would delete it. */
static bool
rule_counts(const struct compare *compare, const json_t *rule)
{
    const char *path = json_string_value(json_object_get(rule, "path"));
    return path != NULL
           && (json_object_get(compare->paths, path) != NULL || !rule_path_is_ours(path));
}

/* The same of a row. Rows below svc come with the program, and no deploy deletes them; rows outside
 * the bundle are counted, because `bundle pull` does not write them. */
static bool
row_counts(struct compare *compare, const json_t *row)
{
    const char *key = json_string_value(json_object_get(row, "dataKey"));
    if (key == NULL || json_object_get(compare->keys, key) != NULL)
        return key != NULL;
    if (policy_name_lies_in(key, "svc"))
        return false;
    bool outside = json_is_false(json_object_get(row, "inBundle"));
    compare->outside += outside;
    return !outside;
}

/* Return the stored content for bundle_diff(). A version is the text of its writer and no part of a
 * directory, so it is left out. */
static json_t *
content_stored(struct compare *compare)
{
    TALLOC_CTX *mem = compare->cli->mem;
    struct jsonx_build rules = {jsonx_own(mem, json_array()), false},
                       data = {jsonx_own(mem, json_array()), false};
    size_t i;
    json_t *item;
    json_array_foreach (compare->stored.rules, i, item)
        if (rule_counts(compare, item))
            jsonx_append(&rules, json_pack("{s:O,s:O,s:O}", "path", json_object_get(item, "path"),
                                           "content", json_object_get(item, "content"), "enabled",
                                           json_object_get(item, "enabled")));
    json_array_foreach (compare->stored.rows, i, item)
        if (row_counts(compare, item))
            jsonx_append(&data, json_pack("{s:O,s:O}", "dataKey", json_object_get(item, "dataKey"),
                                          "payload", json_object_get(item, "payload")));
    return jsonx_own(
        mem, json_pack("{s:O,s:O}", "rules", jsonx_built(&rules), "data", jsonx_built(&data)));
}

static size_t
count_list(const json_t *diff, const char *list)
{
    return json_array_size(json_object_get(json_object_get(diff, "rules"), list))
           + json_array_size(json_object_get(json_object_get(diff, "data"), list));
}

/* Print the differences, and what a deploy makes of names that the directory does not have. */
static int
print_compare(const struct compare *compare, const json_t *diff)
{
    const struct cli *cli = compare->cli;
    size_t removed = count_list(diff, "removed");
    bundle_print_diff(cli, diff);
    if (removed > 0)
        output_line(cli,
                    "not in %s: %zu; `bundle deploy` keeps them, and deletes them with --mode "
                    "replace",
                    compare->dir.name, removed);
    if (compare->outside > 0)
        output_line(cli, "data rows outside the bundle, not compared: %zu", compare->outside);
    return removed + count_list(diff, "added") + count_list(diff, "changed") > 0 ? CLI_FAILED
                                                                                 : CLI_OK;
}

int
bundle_compare(struct cli *cli)
{
    struct compare compare = {.cli = cli};
    int status = bundle_read_policy(cli, cli->choice.dir, &compare.dir);
    if (status == CLI_OK)
        status = bundle_stored_read(cli, &compare.stored);
    if (status != CLI_OK)
        return status;
    const json_t *after = content_of_dir(&compare),
                 *before = after != NULL ? content_stored(&compare) : NULL;
    const json_t *diff = before != NULL ? bundle_diff(cli->mem, before, after) : NULL;
    return diff != NULL ? print_compare(&compare, diff) : output_no_memory(cli);
}
