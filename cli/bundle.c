/* bundle deploy: a directory of rules and data rows becomes the policy, all of it or nothing. */
#include "config.h"

#include "bundle.h"

#include <stdio.h>
#include <string.h>

#include "base/jsonx.h"
#include "bundle_dir.h"
#include "output.h"
#include "policy/rows/data_key.h"
#include "store/policy/policy_rows.h"
#include "verbs.h"

/* Nesting of a list of rows. */
#define LIST_DEPTH_MAX 4

const struct cli_option bundle_deploy_options[] = {
    {"dry-run",    0, NULL,  offsetof(struct cli_choices, dry_run),      false,
     "Count, and check paths, packages and rows: nothing is written or published, and no engine "
     "judges the rules (policy test does)"},
    {"mode",            0,        "MODE", offsetof(struct cli_choices,               mode), false,
     "Default merge; replace also deletes what is not in DIR, disabled rules and rows outside the "
     "bundle too"},
    {NULL, 0,  NULL,    0,                              false,                                      NULL                                                    },
};

/* Every fault of the directory, one to a line. */
static int
print_faults(const struct cli *cli, const struct bundle_dir *dir)
{
    size_t i;
    json_t *fault;
    json_array_foreach (dir->faults, i, fault)
        output_error("%s: %s", cli->path, json_string_value(fault));
    return CLI_FAILED;
}

static void
print_ignored(const struct cli *cli, const struct bundle_dir *dir)
{
    size_t i;
    json_t *path;
    json_array_foreach (dir->ignored, i, path)
        output_line(cli, "ignored: %s", json_string_value(path));
}

static json_t *
parse_payload(TALLOC_CTX *mem, const char *text)
{
    json_t *value = NULL;
    return jsonx_parse(mem, text, strlen(text), POLICY_DATA_DEPTH_MAX, &value, NULL) == AZ_OK
               ? value
               : NULL;
}

static bool
same_value(const char *stored, const char *given)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const json_t *one = parse_payload(mem, stored), *other = parse_payload(mem, given);
    bool same = one != NULL && other != NULL && json_equal(one, other);
    talloc_free(mem);
    return same;
}

/* A payload that means what is stored already, whatever its layout, is given as it is stored: then
 * the same policy has the same revision. */
static int
keep_stored(struct cli *cli, struct bundle_dir *dir)
{
    const char *text;
    json_t *rows, *row, *stored = jsonx_own(cli->mem, json_object());
    size_t i;
    if (policy_data_list(&cli->op, NULL, &text) != AZ_OK)
        return output_fault(cli);
    if (stored == NULL
        || jsonx_parse(cli->mem, text, strlen(text), LIST_DEPTH_MAX, &rows, NULL) != AZ_OK) {
        output_error("%s: the data rows cannot be read; run `authzctl db status`", cli->path);
        return CLI_FAILED;
    }
    json_array_foreach (rows, i, row)
        json_object_set(stored, json_string_value(json_object_get(row, "dataKey")),
                        json_object_get(row, "payload"));
    for (i = 0; i < dir->data_rows; i++) {
        const char *payload = json_string_value(json_object_get(stored, dir->data[i].data_key));
        if (payload != NULL && same_value(payload, dir->data[i].payload))
            dir->data[i].payload = payload;
    }
    return CLI_OK;
}

static json_t *
result_json(const struct cli *cli, const struct deploy_result *result, const char *mode)
{
    const struct deploy_counts *counts = &result->counts;
    return jsonx_own(
        cli->mem,
        json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:i,s:i}", "mode", mode, "activation",
                  save_activation_word(result->save.activation), "revision", result->save.revision,
                  "previousEtag", result->save.previous_etag, "newEtag", result->save.etag,
                  "rulesUpserted", counts->rules_upserted, "rulesDeleted", counts->rules_deleted,
                  "rulesProtected", counts->rules_protected, "dataUpserted", counts->data_upserted,
                  "dataDeleted", counts->data_deleted, "dataProtected", counts->data_protected));
}

static void
print_result(const struct cli *cli, const struct deploy_result *result, const char *mode)
{
    const struct deploy_counts *counts = &result->counts;
    if (cli->choice.json) {
        output_json(result_json(cli, result, mode));
        return;
    }
    output_line(cli, "rules: %d upserted, %d deleted, %d protected", counts->rules_upserted,
                counts->rules_deleted, counts->rules_protected);
    output_line(cli, "data rows: %d upserted, %d deleted, %d protected", counts->data_upserted,
                counts->data_deleted, counts->data_protected);
    printf("%s %s\n", result->save.revision, save_activation_word(result->save.activation));
}

int
bundle_report(struct cli *cli, enum az_status st, const struct deploy_result *result,
              const struct refusal_source *source, const char *mode)
{
    if (st != AZ_OK)
        return refusal_print(cli, st, result, source);
    if (result->warning != NULL)
        output_error("%s: %s; install the tz database", cli->path, result->warning);
    print_result(cli, result, mode);
    return CLI_OK;
}

/* An empty directory is a mistake: replacing by it would delete the policy. */
static int
read_directory(struct cli *cli, struct bundle_dir *dir)
{
    if (!bundle_dir_read(cli->mem, cli->args[0], dir))
        return print_faults(cli, dir);
    print_ignored(cli, dir);
    if (dir->rules > 0 || dir->data_rows > 0)
        return CLI_OK;
    output_error("%s: %s: holds no rule and no data row; name the directory that does", cli->path,
                 dir->name);
    return CLI_FAILED;
}

int
bundle_deploy_run(struct cli *cli)
{
    const char *mode = cli->choice.mode != NULL ? cli->choice.mode : "merge";
    bool replace = strcmp(mode, "replace") == 0;
    struct bundle_dir dir;
    if (!replace && strcmp(mode, "merge") != 0) {
        output_error("%s: --mode is merge or replace, not %s; see `authzctl bundle deploy --help`",
                     cli->path, mode);
        return CLI_USAGE;
    }
    int status = read_directory(cli, &dir);
    if (status == CLI_OK)
        status = keep_stored(cli, &dir);
    if (status != CLI_OK)
        return status;
    const struct deploy deploy = {.rule = dir.rule,
                                  .rules = dir.rules,
                                  .data = dir.data,
                                  .data_rows = dir.data_rows,
                                  .replace = replace,
                                  .dry_run = cli->choice.dry_run,
                                  .source = "deploy",
                                  .who = "authzctl"};
    const struct refusal_source source = {.deploy = &deploy, .dir = dir.name};
    struct deploy_result result = {.data_key = NULL};
    enum az_status st = deploy_run(&cli->op, &deploy, &result);
    return bundle_report(cli, st, &result, &source, cli->choice.dry_run ? "dry-run" : mode);
}
