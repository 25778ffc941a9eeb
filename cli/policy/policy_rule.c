/* policy rule: list, print, save and delete rules. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "cli/lib/input.h"
#include "cli/lib/limits.h"
#include "cli/lib/opa_run.h"
#include "cli/lib/output.h"
#include "cli/policy/bundle.h"
#include "cli/policy/bundle_dir.h"
#include "cli/policy/opa_check.h"
#include "cli/policy/stored.h"
#include "cli/verbs.h"
#include "policy/rows/rule.h"

const struct cli_option policy_rule_set_options[] = {
    {"disabled", 0, NULL, offsetof(struct cli_choices, disabled), false,
     "Store the rule but keep it out of the bundle"},
    LIMITS_IMPACT_OPTION,
    LIMITS_OPTIONS,
    CLI_MESSAGE,
    OPA_OPTION,
    LIMITS_OVERRIDE_OPTION,
    LIMITS_SINCE_OPTION,
    {NULL,          0,        NULL,  0,                  false,                         NULL       },
};

const struct cli_option policy_rule_delete_options[] = {
    LIMITS_IMPACT_OPTION,
    LIMITS_OPTIONS,
    CLI_MESSAGE,
    LIMITS_OVERRIDE_OPTION,
    LIMITS_SINCE_OPTION,
    CLI_YES,
    {NULL, 0, NULL, 0, false, NULL},
};

int
policy_rule_list_run(struct cli *cli)
{
    static const struct output_column columns[] = {
        {"path",      "PATH"   },
        {"kind",      "KIND"   },
        {"enabled",   "ENABLED"},
        {"updatedAt", "UPDATED"},
        {NULL,        NULL     }
    };
    const char *text;
    int status = stored_rules(cli, &text);
    return status == CLI_OK ? input_list_print(cli, text, columns) : status;
}

/* Refuse an argument that cannot be the path of a rule. */
static int
check_path(const struct cli *cli)
{
    const char *why = rule_path_fault(cli->args[0]);
    if (why == NULL)
        return CLI_OK;
    output_error("%s: '%s': the path of a rule %s; correct it", cli->path, cli->args[0], why);
    return CLI_USAGE;
}

static int
refuse_unknown(const struct cli *cli)
{
    output_error("%s: rule '%s' does not exist; see `authzctl policy rule list`", cli->path,
                 cli->args[0]);
    return CLI_FAILED;
}

/* Print the text unchanged, so that it can go into a file; a terminal gets none of its control
 * characters. */
int
policy_rule_get_run(struct cli *cli)
{
    struct policy_rule rule = {.content = NULL};
    int status = check_path(cli);
    if (status == CLI_OK)
        status = stored_rule(cli, cli->args[0], &rule);
    if (status != CLI_OK)
        return status;
    if (rule.content == NULL)
        return refuse_unknown(cli);
    if (cli->choice.json)
        return input_row_print(cli, rule.dto);
    output_content(rule.content);
    return CLI_OK;
}

/* Read the text of a rule; NULL after printing the error. */
static char *
read_content(const struct cli *cli)
{
    static const char expected[] = "give the text of a rule";
    size_t length = 0;
    char *text = input_read(cli, RULE_CONTENT_MAX, "512 KiB", expected, &length);
    size_t line = text != NULL ? bundle_text_fault_line(text, length) : 0;
    if (line == 0)
        return text;
    output_error("%s: %s: line %zu is not UTF-8 text or contains a NUL; %s", cli->path,
                 input_name(cli), line, expected);
    return NULL;
}

static int
refuse_shipped(const struct cli *cli)
{
    output_error(
        "%s: %s belongs to the service and cannot be changed; write a rule in package custom",
        cli->path, cli->args[0]);
    return CLI_FAILED;
}

static void
print_rule_save(const struct cli *cli, const struct save_outcome *save)
{
    bundle_print_save(cli, save, json_pack("{s:s}", "path", cli->args[0]));
}

/* Deploy one rule over the admin API; its history calls that a deploy. */
static int
set_remote(struct cli *cli, const struct deploy *deploy, const struct refusal_source *source)
{
    struct answer answer;
    int status = bundle_deploy_remote(cli, deploy, "merge", source, &answer);
    if (status == CLI_OK)
        bundle_print_revision(cli, stored_revision(cli, &answer), stored_activation(cli, &answer),
                              json_equal(json_object_get(answer.json, "newEtag"),
                                         json_object_get(answer.json, "previousEtag")),
                              json_pack("{s:s}", "path", cli->args[0]));
    return status;
}

/* Deploy one rule, with the same checks as a directory. */
int
policy_rule_set_run(struct cli *cli)
{
    int status = check_path(cli);
    char *content = status == CLI_OK ? read_content(cli) : NULL;
    if (content == NULL)
        return status != CLI_OK ? status : CLI_FAILED;
    const struct deploy_rule rule = {
        .path = cli->args[0], .content = content, .enabled = !cli->choice.disabled};
    const struct deploy deploy = {.rule = &rule,
                                  .rules = 1,
                                  .source = "policy-rule",
                                  .who = "authzctl",
                                  .message = cli->choice.note,
                                  .limits = &limits_on_database};
    const struct refusal_source source = {.deploy = &deploy, .file = input_name(cli)};
    struct deploy_result result = {.data_key = NULL};
    enum az_status st = rule_path_is_ours(rule.path) ? AZ_PROTECTED : AZ_OK;
    if (st == AZ_PROTECTED)
        return refuse_shipped(cli);
    if ((status = opa_check_deploy(cli, &deploy, NULL)) != CLI_OK)
        return status;
    if (stored_asks(cli))
        return set_remote(cli, &deploy, &source);
    if ((st = deploy_run(&cli->op, &deploy, &result)) != AZ_OK)
        return refusal_print(cli, st, &result, &source);
    print_rule_save(cli, &result.save);
    return CLI_OK;
}

/* Delete the rule within the save, after checking it as it is then. */
static enum az_status
apply_delete(struct op *op, void *arg)
{
    struct policy_rule *rule = arg;
    const char *path = rule->path;
    struct policy_rule found = {.content = NULL};
    enum az_status st = policy_rule_fetch_path(op, path, &found);
    if (st != AZ_OK)
        return st;
    *rule = found;
    rule->path = path;
    if (found.content == NULL)
        return op_fail(op, AZ_NOT_FOUND, NULL, "no rule %s", path);
    if (found.shipped)
        return op_fail(op, AZ_PROTECTED, NULL, "%s is shipped", path);
    return policy_rule_delete(op, found.id);
}

static int
delete_remote(struct cli *cli, const struct refusal_source *source)
{
    struct policy_rule rule;
    struct answer answer;
    bool missing = false;
    struct query_pair query[STORED_QUERY_MAX];
    if (rule_path_is_ours(cli->args[0]))
        return refuse_shipped(cli);
    int status = stored_rule(cli, cli->args[0], &rule);
    if (status == CLI_OK && rule.content == NULL)
        return refuse_unknown(cli);
    if (status != CLI_OK)
        return status;
    const struct call call = {
        .method = "DELETE",
        .path = talloc_asprintf(cli->mem, "/admin/api/policy-rules/%lld", (long long) rule.id),
        .query = query,
        .queries = stored_query(cli, (struct query_pair){"", NULL}, query)};
    status = stored_save(cli, &call, source, &answer, &missing);
    if (missing)
        return refuse_unknown(cli);
    if (status == CLI_OK)
        bundle_print_revision(cli, stored_revision(cli, &answer), stored_activation(cli, &answer),
                              false, json_pack("{s:s}", "path", cli->args[0]));
    return status;
}

int
policy_rule_delete_run(struct cli *cli)
{
    struct policy_rule rule = {.path = cli->args[0]};
    const struct save_plan plan = {.apply = apply_delete,
                                   .arg = &rule,
                                   .mode = SAVE_STRICT,
                                   .source = "policy-rule",
                                   .who = "authzctl",
                                   .message = cli->choice.note,
                                   .limits = &limits_on_database};
    struct deploy_result result = {.data_key = NULL};
    const struct deploy nothing = {.rules = 0};
    const struct refusal_source source = {.deploy = &nothing};
    int status = check_path(cli);
    if (status != CLI_OK)
        return status;
    if (stored_asks(cli))
        return delete_remote(cli, &source);
    enum az_status st = save_policy(&cli->op, &plan, &result.save);
    if (st == AZ_NOT_FOUND)
        return refuse_unknown(cli);
    if (st == AZ_PROTECTED)
        return refuse_shipped(cli);
    if (st != AZ_OK)
        return refusal_print(cli, st, &result, &source);
    print_rule_save(cli, &result.save);
    return CLI_OK;
}
