/* bundle deploy: save the rules and data rows of a directory, all of them or none. */
#include "config.h"

#include "cli/policy/bundle.h"

#include <stdio.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "cli/lib/input.h"
#include "cli/lib/limits.h"
#include "cli/lib/opa_run.h"
#include "cli/lib/output.h"
#include "cli/policy/opa_check.h"
#include "cli/policy/stored.h"
#include "cli/verbs.h"
#include "policy/rows/data_key.h"
#include "policy/save/check/rule_warnings.h"
#include "rego/value.h"

/* Most octets for the values of two payloads, which have some 20 for each of theirs. */
#define SAME_OCTETS_MAX (1024UL << 20)

/* clang-format off */
const struct cli_option bundle_deploy_options[] = {
    {"dry-run", 0, NULL, offsetof(struct cli_choices, dry_run), false,
     "Check paths, packages and rows, let the program of the policy engine compile the rules, and "
     "count the changes, but save nothing"},
    {"if-revision", 0, "REVISION", offsetof(struct cli_choices, after), false,
     "Refuse to save unless REVISION is the active one, for example the one that `bundle pull` "
       "printed"},
    LIMITS_IMPACT_OPTION,
    LIMITS_OPTIONS,
    CLI_MESSAGE,
    {"mode", 0, "MODE", offsetof(struct cli_choices, mode), false,
     "Either merge (default) or replace, which also deletes every rule and data row that is not in "
       "DIR, even disabled ones"},
    OPA_OPTION,
    LIMITS_OVERRIDE_OPTION,
    LIMITS_SINCE_OPTION,
    {NULL, 0, NULL, 0, false, NULL},
};
/* clang-format on */

int
bundle_read_dir(const struct cli *cli, const char *name, struct bundle_dir *ret)
{
    bool complete = bundle_dir_read(cli->mem, name, ret);
    size_t i;
    json_t *text;
    json_array_foreach (ret->faults, i, text)
        output_error("%s: %s", cli->path, json_string_value(text));
    if (!complete)
        return CLI_FAILED;
    json_array_foreach (ret->ignored, i, text)
        output_line(cli, "ignored: %s", json_string_value(text));
    return CLI_OK;
}

static json_t *
parse_payload(TALLOC_CTX *mem, const char *text)
{
    json_t *value = NULL;
    return jsonx_parse(mem, text, strlen(text), POLICY_DATA_DEPTH_MAX, &value, NULL) == AZ_OK
               ? value
               : NULL;
}

/* True if two payloads differ in their layout alone. Numbers are compared by their digits, because
 * two of them may be one double and two values for a rule. */
static bool
same_value(const char *stored, const char *given)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct rego_arena arena;
    rego_arena_init(&arena, mem, SAME_OCTETS_MAX);
    const struct rego_value *one = rego_parse(&arena, stored, strlen(stored)),
                            *other = rego_parse(&arena, given, strlen(given));
    bool same = one != NULL && other != NULL && rego_compare(one, other) == 0
                && !rego_is_spelled_otherwise(one, other);
    talloc_free(mem);
    return same;
}

/* Use the stored text of each payload that differs from the stored one only in its layout, so that
 * the same policy keeps the same revision. */
static int
keep_stored(struct cli *cli, struct bundle_dir *dir)
{
    const char *text;
    json_t *rows, *row;
    struct jsonx_build stored = {jsonx_own(cli->mem, json_object()), false};
    size_t i;
    int status = stored_rows(cli, &text);
    if (status == CLI_OK)
        status = input_list(cli, text, &rows);
    if (status != CLI_OK)
        return status;
    json_array_foreach (rows, i, row)
        jsonx_set(&stored, json_string_value(json_object_get(row, "dataKey")),
                  json_incref(json_object_get(row, "payload")));
    if (jsonx_built(&stored) == NULL)
        return output_no_memory(cli);
    for (i = 0; i < dir->data_rows; i++) {
        const char *payload =
            json_string_value(json_object_get(stored.value, dir->data[i].data_key));
        if (payload != NULL && same_value(payload, dir->data[i].payload))
            dir->data[i].payload = payload;
    }
    return CLI_OK;
}

/* Say that the message of a save went nowhere: the history has an entry for each bundle, and the
 * same rows are the same bundle. */
static void
note_message(const struct cli *cli, bool same, const char *activation)
{
    if (cli->choice.note != NULL && same && strcmp(activation, "dry-run") != 0)
        output_line(cli, "the bundle did not change, so the message was not kept");
}

static int
result_count(const json_t *result, const char *kind, const char *what)
{
    char name[32];
    snprintf(name, sizeof(name), "%s%s", kind, what);
    return (int) json_integer_value(json_object_get(result, name));
}

static void
print_count(const struct cli *cli, const char *what, const json_t *result, const char *kind)
{
    output_line(cli, "%s: %d added, %d changed, %d removed, %d unchanged, %d protected", what,
                result_count(result, kind, "Added"), result_count(result, kind, "Changed"),
                result_count(result, kind, "Deleted"), result_count(result, kind, "Unchanged"),
                result_count(result, kind, "Protected"));
}

static const char *
result_text(const json_t *result, const char *name)
{
    const char *text = json_string_value(json_object_get(result, name));
    return text != NULL ? text : "";
}

/* Print a PolicyBundleDeployResult. */
static void
print_result(const struct cli *cli, const json_t *result)
{
    const char *activation = result_text(result, "activation");
    if (cli->choice.json) {
        output_json(result);
        return;
    }
    print_count(cli, "rules", result, "rules");
    print_count(cli, "data rows", result, "data");
    note_message(cli,
                 strcmp(result_text(result, "newEtag"), result_text(result, "previousEtag")) == 0,
                 activation);
    output_print("%s %s\n", result_text(result, "revision"), activation);
}

static void
bundle_print_warnings(const struct cli *cli, const struct save_outcome *save)
{
    const char *rules = rule_warnings_text(cli->mem, save->warnings);
    if (save->plan_warning != NULL)
        output_error("%s: warning: %s", cli->path, save->plan_warning);
    if (save->trial_warning != NULL)
        output_error("%s: warning: %s", cli->path, save->trial_warning);
    if (rules != NULL)
        output_error("%s: warning: %s", cli->path, rules);
}

/* Refuse to call a deploy done that would have changed rules of the service: those stay. */
static int
tell_protected(const struct cli *cli, const json_t *result)
{
    int count = result_count(result, "rules", "Protected");
    const char *mode = cli->choice.mode;
    if (count == 0 || (mode != NULL && strcmp(mode, "replace") == 0))
        return CLI_OK;
    output_error("%s: %d shipped %s not changed: rules below svc belong to the service. Put your "
                 "rules into packages below custom, and take the others out of the directory",
                 cli->path, count, count == 1 ? "rule was" : "rules were");
    return CLI_FAILED;
}

int
bundle_report(struct cli *cli, enum az_status st, const struct deploy_result *result,
              const struct refusal_source *source, const char *mode)
{
    if (st != AZ_OK)
        return refusal_print(cli, st, result, source);
    if (result->warning != NULL)
        output_error("%s: warning: %s", cli->path, result->warning);
    bundle_print_warnings(cli, &result->save);
    const json_t *shown = deploy_result_json(cli->mem, result, mode);
    print_result(cli, shown);
    return tell_protected(cli, shown);
}

int
bundle_save_remote(struct cli *cli, const struct call *call, const struct refusal_source *source)
{
    struct answer answer;
    bool missing;
    int status = stored_save(cli, call, source, &answer, &missing);
    if (missing)
        return call_refuse(cli, &answer, NULL);
    if (status == CLI_OK)
        print_result(cli, answer.json);
    return status;
}

json_t *
bundle_deploy_request(struct cli *cli, const struct deploy *deploy, const char *mode)
{
    struct jsonx_build rules = {jsonx_own(cli->mem, json_array()), false},
                       data = {jsonx_own(cli->mem, json_array()), false};
    for (size_t i = 0; i < deploy->rules; i++)
        jsonx_append(&rules,
                     json_pack("{s:s,s:s,s:b}", "path", deploy->rule[i].path, "content",
                               deploy->rule[i].content, "enabled", deploy->rule[i].enabled));
    for (size_t i = 0; i < deploy->data_rows; i++)
        jsonx_append(&data, json_pack("{s:s,s:O}", "dataKey", deploy->data[i].data_key, "payload",
                                      parse_payload(cli->mem, deploy->data[i].payload)));
    return jsonx_own(cli->mem,
                     json_pack("{s:s,s:s*,s:s*,s:O,s:O,s:s*,s:O*}", "mode", mode, "message",
                               deploy->message, "ifRevision", deploy->if_revision, "rules",
                               jsonx_built(&rules), "data", jsonx_built(&data), "owner",
                               deploy->owner, "marks", deploy->marks));
}

int
bundle_deploy_remote(struct cli *cli, const struct deploy *deploy, const char *mode,
                     const struct refusal_source *source, struct answer *ret)
{
    bool missing;
    struct query_pair query[LIMITS_QUERY_MAX];
    const struct call call = {.method = "POST",
                              .path = "/admin/api/policy-bundle/deploy",
                              .body = bundle_deploy_request(cli, deploy, mode),
                              .query = query,
                              .queries = limits_query(cli, query)};
    if (call.body == NULL)
        return output_no_memory(cli);
    int status = stored_save(cli, &call, source, ret, &missing);
    return missing ? call_refuse(cli, ret, NULL) : status;
}

void
bundle_print_revision(const struct cli *cli, const char *revision, const char *activation,
                      bool same, json_t *what)
{
    struct jsonx_build object = {jsonx_own(cli->mem, what), false};
    if (!cli->choice.json) {
        note_message(cli, same, activation);
        output_print("%s %s\n", revision, activation);
        return;
    }
    jsonx_set(&object, "revision", json_string(revision));
    jsonx_set(&object, "activation", json_string(activation));
    output_json(jsonx_built(&object));
}

void
bundle_print_save(const struct cli *cli, const struct save_outcome *save, json_t *what)
{
    bundle_print_warnings(cli, save);
    bundle_print_revision(cli, save->revision, save_activation_word(save->activation),
                          strcmp(save->etag, save->previous_etag) == 0, what);
}

/* Read the directory, and refuse an empty one: replacing the policy by it would delete everything.
 */
int
bundle_read_policy(const struct cli *cli, const char *name, struct bundle_dir *dir)
{
    int status = bundle_read_dir(cli, name, dir);
    if (status != CLI_OK || dir->rules > 0 || dir->data_rows > 0)
        return status;
    output_error("%s: %s: contains no rule and no data row; name the directory that does",
                 cli->path, dir->name);
    return CLI_FAILED;
}

static int
deploy_remote(struct cli *cli, const struct deploy *deploy, const char *mode,
              const struct refusal_source *source)
{
    struct answer answer;
    int status = bundle_deploy_remote(cli, deploy, mode, source, &answer);
    if (status != CLI_OK)
        return status;
    print_result(cli, answer.json);
    return tell_protected(cli, answer.json);
}

int
bundle_deploy_run(struct cli *cli)
{
    const char *mode = cli->choice.mode != NULL ? cli->choice.mode : "merge";
    bool replace = strcmp(mode, "replace") == 0;
    struct bundle_dir dir;
    if (!replace && strcmp(mode, "merge") != 0) {
        output_error(
            "%s: --mode must be merge or replace, not '%s'; see `authzctl bundle deploy --help`",
            cli->path, mode);
        return CLI_USAGE;
    }
    int status = bundle_read_policy(cli, cli->args[0], &dir);
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
                                  .who = "authzctl",
                                  .message = cli->choice.note,
                                  .if_revision = cli->choice.after,
                                  .limits = &limits_on_database};
    const struct refusal_source source = {.deploy = &deploy, .dir = dir.name};
    struct deploy_result result = {.data_key = NULL};
    if ((status = opa_check_deploy(cli, &deploy, dir.name)) != CLI_OK)
        return status;
    if (stored_asks(cli))
        return deploy_remote(cli, &deploy, cli->choice.dry_run ? "dry-run" : mode, &source);
    enum az_status st = deploy_run(&cli->op, &deploy, &result);
    return bundle_report(cli, st, &result, &source, cli->choice.dry_run ? "dry-run" : mode);
}
