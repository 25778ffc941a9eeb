/* policy rule: one rule listed, printed, saved or deleted. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/jsonx.h"
#include "bundle.h"
#include "bundle_dir.h"
#include "output.h"
#include "policy/rows/rule.h"
#include "store/policy/policy_rules.h"
#include "verbs.h"

const struct cli_option policy_rule_set_options[] = {
    {"disabled", 0, NULL, offsetof(struct cli_choices, disabled), false,
     "Store the rule, but keep it out of the bundle"},
    {NULL,          0,        NULL,  0,                  false,                         NULL       },
};

/* Nesting of a list of rules. */
#define LIST_DEPTH_MAX 4

int
policy_rule_list_run(struct cli *cli)
{
    static const struct output_column columns[] = {
        {"path",               "PATH"   },
        {"kind",               "KIND"   },
        {"enabled",            "ENABLED"},
        {"version",            "VERSION"},
        {"createdAtFormatted", "CREATED"},
        {NULL,                 NULL     }
    };
    const struct policy_rule_filter all = {.path = NULL};
    const char *text;
    json_t *rows;
    if (policy_rule_list(&cli->op, &all, &text) != AZ_OK)
        return output_fault(cli);
    if (jsonx_parse(cli->mem, text, strlen(text), LIST_DEPTH_MAX, &rows, NULL) != AZ_OK) {
        output_error("%s: the list cannot be read; run `authzctl db status`", cli->path);
        return CLI_FAILED;
    }
    output_rows(cli, rows, columns);
    return CLI_OK;
}

/* A path that no rule can have is a mistake in the command line. */
static int
check_path(const struct cli *cli)
{
    const char *why = rule_path_fault(cli->args[0]);
    if (why == NULL)
        return CLI_OK;
    output_error("%s: `%s`: the path of a rule %s; correct it", cli->path, cli->args[0], why);
    return CLI_USAGE;
}

static int
refuse_unknown(const struct cli *cli)
{
    output_error("%s: there is no rule %s; see `authzctl policy rule list`", cli->path,
                 cli->args[0]);
    return CLI_FAILED;
}

/* The text octet by octet: it may go into a file. */
int
policy_rule_get_run(struct cli *cli)
{
    struct policy_rule rule = {.content = NULL};
    int status = check_path(cli);
    if (status != CLI_OK)
        return status;
    if (policy_rule_fetch_path(&cli->op, cli->args[0], &rule) != AZ_OK)
        return output_fault(cli);
    if (rule.content == NULL)
        return refuse_unknown(cli);
    if (cli->choice.json)
        puts(rule.dto);
    else
        fputs(rule.content, stdout);
    return CLI_OK;
}

/* The whole of FILE, or of standard input, as the text of a rule. */
static char *
read_content(struct cli *cli, const char *source, bool standard)
{
    FILE *file = standard ? stdin : fopen(source, "re");
    const char *why = NULL;
    char octets[8192];
    size_t length = 0, line;
    BUF_AUTO buf;
    buf_init(&buf, cli->mem, RULE_CONTENT_MAX);
    if (file == NULL) {
        output_error("%s: %s: %s; name a file that can be read, or -", cli->path, source,
                     strerror(errno));
        return NULL;
    }
    for (size_t got; (got = fread(octets, 1, sizeof(octets), file)) > 0;)
        if (buf_append(&buf, octets, got) != AZ_OK)
            break;
    if (ferror(file))
        why = strerror(errno);
    if (!standard)
        fclose(file);
    if (why == NULL && buf.status != AZ_OK)
        why = "is larger than 512 KiB";
    char *text = why == NULL && buf.len > 0 ? buf_take(&buf, &length) : NULL;
    if (text != NULL && (line = bundle_text_fault_line(text, length)) == 0)
        return text;
    if (text != NULL)
        why = talloc_asprintf(cli->mem, "line %zu is not UTF-8 text, or holds a NUL", line);
    output_error("%s: %s: %s; give the text of a rule", cli->path, source,
                 why != NULL ? why : "is empty");
    return NULL;
}

static int
refuse_shipped(const struct cli *cli)
{
    output_error("%s: %s belongs to the service and stays as it is; write a rule of package custom",
                 cli->path, cli->args[0]);
    return CLI_FAILED;
}

static void
print_saved(const struct cli *cli, const struct save_outcome *save)
{
    const char *activation = save_activation_word(save->activation);
    if (cli->choice.json)
        output_json(jsonx_own(cli->mem, json_pack("{s:s,s:s,s:s}", "path", cli->args[0], "revision",
                                                  save->revision, "activation", activation)));
    else
        printf("%s %s\n", save->revision, activation);
}

/* A deploy of one rule: the same checks, the same all or nothing. */
int
policy_rule_set_run(struct cli *cli)
{
    bool standard = cli->argc < 2 || strcmp(cli->args[1], "-") == 0;
    const char *file = standard ? "standard input" : cli->args[1];
    int status = check_path(cli);
    char *content = status == CLI_OK ? read_content(cli, file, standard) : NULL;
    if (content == NULL)
        return status != CLI_OK ? status : CLI_FAILED;
    const struct deploy_rule rule = {
        .path = cli->args[0], .content = content, .enabled = !cli->choice.disabled};
    const struct deploy deploy = {
        .rule = &rule, .rules = 1, .source = "policy-rule", .who = "authzctl"};
    const struct refusal_source source = {.deploy = &deploy, .file = file};
    struct deploy_result result = {.data_key = NULL};
    enum az_status st = rule_path_is_ours(rule.path) ? AZ_PROTECTED : AZ_OK;
    if (st == AZ_PROTECTED)
        return refuse_shipped(cli);
    if ((st = deploy_run(&cli->op, &deploy, &result)) != AZ_OK)
        return refusal_print(cli, st, &result, &source);
    print_saved(cli, &result.save);
    return CLI_OK;
}

/* Inside the save: what is there then counts, not what was there before. */
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

int
policy_rule_delete_run(struct cli *cli)
{
    struct policy_rule rule = {.path = cli->args[0]};
    const struct save_plan plan = {.apply = apply_delete,
                                   .arg = &rule,
                                   .mode = SAVE_STRICT,
                                   .source = "policy-rule",
                                   .who = "authzctl"};
    struct deploy_result result = {.data_key = NULL};
    const struct deploy nothing = {.rules = 0};
    const struct refusal_source source = {.deploy = &nothing};
    int status = check_path(cli);
    if (status != CLI_OK)
        return status;
    enum az_status st = save_policy(&cli->op, &plan, &result.save);
    if (st == AZ_NOT_FOUND)
        return refuse_unknown(cli);
    if (st == AZ_PROTECTED)
        return refuse_shipped(cli);
    if (st != AZ_OK)
        return refusal_print(cli, st, &result, &source);
    print_saved(cli, &result.save);
    return CLI_OK;
}
