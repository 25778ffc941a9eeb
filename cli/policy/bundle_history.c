/* bundle history, diff and rollback: work with the bundles that were published. */
#include "config.h"

#include <string.h>

#include "base/digits.h"
#include "base/json/jsonx.h"
#include "cli/lib/input.h"
#include "cli/lib/limits.h"
#include "cli/lib/output.h"
#include "cli/policy/bundle.h"
#include "cli/policy/stored.h"
#include "cli/verbs.h"
#include "policy/save/bundle/bundle_diff.h"
#include "policy/save/deploy/rollback.h"
#include "store/policy/bundle_history.h"

/* Bundles listed without --limit. */
#define LIMIT_DEFAULT 20

const struct cli_option bundle_history_options[] = {
    {"limit", 0, "N", offsetof(struct cli_choices, limit), false,
     "Show at most N bundles, from 1 to 201 (default 20)"},
    {NULL,       0,     NULL, 0,                    false,                         NULL     },
};

const struct cli_option bundle_diff_options[] = {
    {"dir", 0, "DIR", offsetof(struct cli_choices, dir), false,
     "Compare DIR with the rules and data rows that are stored, instead of two bundles"},
    {NULL,     0,   NULL,   0,                        false,                         NULL },
};

const struct cli_option bundle_rollback_options[] = {
    LIMITS_IMPACT_OPTION, CLI_MESSAGE, LIMITS_SINCE_OPTION, {NULL, 0, NULL, 0, false, NULL}
};

/* Return a number from 1 to max, written in digits only; 0 for any other text. */
static int64_t
history_number(const char *text, int64_t max)
{
    int64_t number;
    return *text != '0' && digits_read(text, max, &number) ? number : 0;
}

int
bundle_history_run(struct cli *cli)
{
    static const struct output_column columns[] = {
        {"id",              "ID"      },
        {"createdAt",       "CREATED" },
        {"revision",        "REVISION"},
        {"triggerSource",   "SOURCE"  },
        {"triggeredBy",     "BY"      },
        {"ruleCount",       "RULES"   },
        {"bundleSizeBytes", "SIZE"    },
        {"overrideReason",  "OVERRIDE"},
        {"message",         "MESSAGE" },
        {NULL,              NULL      }
    };
    int64_t limit = LIMIT_DEFAULT;
    const char *text = NULL;
    if (cli->choice.limit != NULL
        && (limit = history_number(cli->choice.limit, BUNDLE_HISTORY_MAX + 1)) == 0) {
        output_error(
            "%s: --limit must be a number from 1 to %d, not '%s'; see `authzctl bundle history "
            "--help`",
            cli->path, BUNDLE_HISTORY_MAX + 1, cli->choice.limit);
        return CLI_USAGE;
    }
    int status = stored_bundles(cli, limit, &text);
    return status == CLI_OK ? input_list_print(cli, text, columns) : status;
}

/* Read the id of a bundle from an argument. */
static int
history_id(const struct cli *cli, const char *text, int64_t *ret)
{
    *ret = history_number(text, INT64_MAX);
    if (*ret > 0)
        return CLI_OK;
    output_error("%s: '%s' is not the id of a bundle; see `authzctl bundle history`", cli->path,
                 text);
    return CLI_USAGE;
}

static int
latest_id(struct cli *cli, int64_t *ret)
{
    const char *text = NULL;
    json_t *latest;
    int status = stored_latest(cli, &text);
    if (status != CLI_OK)
        return status;
    if (text == NULL) {
        output_error("%s: no bundle was published yet; run `authzctl db migrate`", cli->path);
        return CLI_FAILED;
    }
    if ((status = input_list(cli, text, &latest)) == CLI_OK)
        *ret = json_integer_value(json_object_get(latest, "id"));
    return status;
}

/* Fetch the rules and rows of a bundle. */
static int
history_content(struct cli *cli, int64_t id, json_t **ret)
{
    int status = stored_content(cli, id, ret);
    if (status != CLI_OK || *ret != NULL)
        return status;
    output_error("%s: bundle %lld does not exist or its rows are no longer stored; see "
                 "`authzctl bundle history`",
                 cli->path, (long long) id);
    return CLI_FAILED;
}

/* Return how a rule was switched, as a text after its name; "" if it was not. */
static const char *
switch_text(const json_t *item)
{
    const json_t *enabled = json_array_get(json_object_get(item, "enabled"), 1);
    if (enabled == NULL)
        return "";
    return json_is_true(enabled) ? " (becomes enabled)" : " (becomes disabled)";
}

/* Print the added and removed names of one kind, and the diff of each changed one. */
static void
print_kind(const struct cli *cli, const json_t *part, const char *kind, const char *name)
{
    static const char *const lists[] = {"added", "removed"};
    const json_t *changed = json_object_get(part, "changed");
    size_t i;
    json_t *item;
    for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++)
        json_array_foreach (json_object_get(part, lists[list]), i, item)
            output_text(
                talloc_asprintf(cli->mem, "%s %s: %s", kind, lists[list], json_string_value(item)));
    json_array_foreach (changed, i, item) {
        const char *diff = json_string_value(json_object_get(item, "diff"));
        output_text(talloc_asprintf(
            cli->mem, "%s changed: %s%s%s", kind, json_string_value(json_object_get(item, name)),
            switch_text(item), diff != NULL ? "" : " (the diff is too long to show)"));
        if (diff != NULL)
            output_text(diff);
    }
}

void
bundle_print_diff(const struct cli *cli, const json_t *diff)
{
    if (cli->choice.json) {
        output_json(diff);
        return;
    }
    print_kind(cli, json_object_get(diff, "rules"), "rule", "path");
    print_kind(cli, json_object_get(diff, "data"), "data row", "dataKey");
}

/* Refuse a command line that names neither two bundles nor a directory, or both. */
static int
check_diff(const struct cli *cli)
{
    if ((cli->argc == 0) == (cli->choice.dir != NULL))
        return CLI_OK;
    output_error("%s: %s; see `authzctl bundle diff --help`", cli->path,
                 cli->argc == 0 ? "missing argument: FROM, or --dir DIR"
                                : "--dir compares with what is stored; omit FROM and TO");
    return CLI_USAGE;
}

int
bundle_diff_run(struct cli *cli)
{
    int64_t from = 0, to = 0;
    json_t *before, *after, *diff;
    int status = check_diff(cli);
    if (status == CLI_OK && cli->choice.dir != NULL)
        return bundle_compare(cli);
    if (status == CLI_OK)
        status = history_id(cli, cli->args[0], &from);
    if (status == CLI_OK)
        status = cli->argc > 1 ? history_id(cli, cli->args[1], &to) : latest_id(cli, &to);
    if (status == CLI_OK)
        status = history_content(cli, from, &before);
    if (status == CLI_OK)
        status = history_content(cli, to, &after);
    if (status != CLI_OK)
        return status;
    if ((diff = bundle_diff(cli->mem, before, after)) == NULL)
        return output_no_memory(cli);
    bundle_print_diff(cli, diff);
    return CLI_OK;
}

/* List the rules of a bundle, so that a line that an engine refuses can be shown. */
static bool
list_rules(TALLOC_CTX *mem, const json_t *content, struct deploy *ret)
{
    const json_t *rules = json_object_get(content, "rules");
    struct deploy_rule *rule =
        talloc_zero_array(mem, struct deploy_rule, json_array_size(rules) + 1);
    size_t count = 0, i;
    json_t *item;
    if (rule == NULL)
        return false;
    json_array_foreach (rules, i, item) {
        const char *path = json_string_value(json_object_get(item, "path")),
                   *text = json_string_value(json_object_get(item, "content"));
        if (path != NULL && text != NULL)
            rule[count++] = (struct deploy_rule){.path = path, .content = text, .enabled = true};
    }
    ret->rule = rule;
    ret->rules = count;
    return true;
}

static int
rollback_remote(struct cli *cli, int64_t id, const struct refusal_source *source)
{
    struct query_pair query[STORED_QUERY_MAX];
    const struct call call = {
        .method = "POST",
        .path = talloc_asprintf(cli->mem, "/admin/api/bundle-audit/%lld/rollback", (long long) id),
        .query = query,
        .queries = stored_query(cli, (struct query_pair){"", NULL}, query)};
    return bundle_save_remote(cli, &call, source);
}

int
bundle_rollback_run(struct cli *cli)
{
    int64_t id = 0;
    json_t *content;
    struct deploy deploy = {.rules = 0};
    struct deploy_result result = {.data_key = NULL};
    int status = history_id(cli, cli->args[0], &id);
    if (status == CLI_OK)
        status = history_content(cli, id, &content);
    if (status != CLI_OK)
        return status;
    if (!list_rules(cli->mem, content, &deploy))
        return output_no_memory(cli);
    const struct refusal_source source = {.deploy = &deploy};
    const struct rollback how = {
        .who = "authzctl", .message = cli->choice.note, .limits = &limits_on_database};
    if (stored_asks(cli))
        return rollback_remote(cli, id, &source);
    enum az_status st = deploy_rollback(&cli->op, content, &how, &result);
    return bundle_report(cli, st, &result, &source, "replace");
}
