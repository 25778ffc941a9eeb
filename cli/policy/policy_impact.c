/* policy impact: what a directory, a rule or a data row would have decided. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/json/jsonx.h"
#include "cli/lib/input.h"
#include "cli/lib/limits.h"
#include "cli/lib/output.h"
#include "cli/policy/bundle.h"
#include "cli/policy/impact.h"
#include "cli/policy/stored.h"
#include "cli/verbs.h"
#include "policy/impact/bound.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"

/* Decisions that a person reads of each class. */
#define SHOWN_EXAMPLES 3
/* Pause between two looks at a measurement, in milliseconds; the service waits, too. */
#define LOOK_MS 200

/* clang-format off */
const struct cli_option policy_impact_options[] = {
    {"data", 0, "KEY", offsetof(struct cli_choices, data_key), false,
     "Measure the data row KEY alone; its payload is in FILE"},
    {"decisions", 0, "N", offsetof(struct cli_choices, decisions), false,
     "Look at N decisions at most (default: SVC_IMPACT_DECISIONS)"},
    {"examples", 0, "N", offsetof(struct cli_choices, examples), false,
     "Keep N examples of each class, at most 100 (default 10)"},
    {"filter", 0, "NAME=VALUE...", offsetof(struct cli_choices, filters), false,
     "Look at matching decisions alone: endpoint, clientId, subjectId, outcome, flowId or "
       "evaluation"},
    LIMITS_OPTIONS,
    {"mode", 0, "MODE", offsetof(struct cli_choices, mode), false,
     "Either merge (default) or replace, as of `bundle deploy`"},
    {"rule", 0, "PATH", offsetof(struct cli_choices, rule_path), false,
     "Measure the rule PATH alone; its text is in FILE"},
    LIMITS_SINCE_OPTION,
    {NULL, 0, NULL, 0, false, NULL},
};
/* clang-format on */

/* ---- printing */

static long long
number(const json_t *object, const char *name)
{
    return (long long) json_integer_value(json_object_get(object, name));
}

static long long
not_known(const json_t *result)
{
    size_t index;
    const json_t *item;
    long long sum = 0;
    json_array_foreach (json_object_get(result, "notKnown"), index, item)
        sum += number(item, "count");
    return sum;
}

static long long
count_of(const json_t *result, const struct limit_row *row)
{
    return strcmp(row->count, "notKnown") == 0 ? not_known(result) : number(result, row->count);
}

static const char *
text(const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value != NULL ? value : "-";
}

static void
print_clients(const json_t *result)
{
    size_t index;
    const json_t *item;
    json_array_foreach (json_object_get(result, "byClient"), index, item)
        output_print(
            "  %-24s newly denied %lld  newly allowed %lld  narrowed %lld  widened %lld  other "
            "%lld\n",
            json_object_get(item, "others") != NULL ? "(others)" : text(item, "clientId"),
            number(item, "newlyDenied"), number(item, "newlyAllowed"), number(item, "narrowed"),
            number(item, "widened"), number(item, "other"));
}

/* Print the first examples of each class. */
static void
print_examples(const json_t *result)
{
    const char *class;
    json_t *list;
    json_object_foreach (json_object_get(result, "examples"), class, list)
        for (size_t i = 0; i < json_array_size(list) && i < SHOWN_EXAMPLES; i++) {
            const json_t *item = json_array_get(list, i);
            const char *request = json_string_value(json_object_get(item, "requestId"));
            if (request != NULL)
                output_print("request %s", request);
            else
                output_print("audit %lld", number(item, "auditId"));
            output_print("  %s  %s  %s  %s -> %s\n", class, text(item, "endpoint"),
                         text(item, "clientId"), text(json_object_get(item, "before"), "outcome"),
                         text(json_object_get(item, "after"), "outcome"));
        }
}

/* Return how many decisions there are, about, if a sample of them was looked at. */
static long long
all_decisions(const json_t *result)
{
    struct impact_sample sample;
    return bound_sample_read(result, &sample)
               ? (long long) bound_estimate(&sample, number(result, "looked"))
               : number(result, "looked");
}

/* Print what a sample says of all decisions: not that there is none, but how many there can be. */
static void
print_bounds(const json_t *result)
{
    const json_t *estimates = json_object_get(result, "estimates");
    long long looked = number(result, "looked"), all = all_decisions(result);
    for (size_t i = 0; estimates != NULL && i < LIMIT_ROWS; i++) {
        const json_t *bounds = json_object_get(estimates, limit_rows[i].count);
        long long seen = count_of(result, &limit_rows[i]);
        if (seen == 0)
            output_print("  %s: none of %lld; at most %lld of %lld\n", limit_rows[i].words, looked,
                         number(bounds, "upper"), all);
        else
            output_print("  %s: %lld of %lld; about %lld, at most %lld of %lld\n",
                         limit_rows[i].words, seen, looked, number(bounds, "estimate"),
                         number(bounds, "upper"), all);
    }
}

/* Say what the words of the counts mean, of those that are not 0. */
static void
print_meanings(const json_t *result)
{
    for (size_t i = 0; i < LIMIT_ROWS; i++)
        if (count_of(result, &limit_rows[i]) > 0)
            output_print("  %s: %s\n", limit_rows[i].words, limit_rows[i].meaning);
}

/* Print what the decisions cannot show. */
static void
print_blind(const json_t *result)
{
    size_t index;
    const json_t *item;
    json_array_foreach (json_object_get(result, "blind"), index, item)
        output_print("  not measured: %s, on which %lld decisions may depend\n", text(item, "what"),
                     number(item, "rows"));
}

void
impact_print_counts(const json_t *result)
{
    const json_t *drifted = json_object_get(result, "drifted");
    output_print("same %lld", number(result, "same"));
    for (size_t i = 0; i < LIMIT_ROWS; i++)
        output_print("   %s %lld", limit_rows[i].words, count_of(result, &limit_rows[i]));
    if (drifted != NULL)
        output_print("   drifted %lld", (long long) json_integer_value(drifted));
    if (number(result, "unreached") > 0)
        output_print("   unreached %lld", number(result, "unreached"));
    putchar('\n');
    print_meanings(result);
    print_bounds(result);
    print_blind(result);
    print_clients(result);
    print_examples(result);
}

void
impact_print_result(const json_t *result)
{
    output_print("revision %s  candidate %s  %s to %s  %lld decisions%s\n",
                 text(result, "baseRevision"), text(result, "candidateRevision"),
                 text(result, "from"), text(result, "to"), number(result, "looked"),
                 json_is_true(json_object_get(result, "truncated")) ? ", there are more"
                 : json_object_get(result, "sampled") != NULL       ? ", a sample"
                 : json_is_true(json_object_get(result, "empty"))   ? ": the period is empty"
                                                                    : ", all looked at");
    impact_print_counts(result);
}

/* ---- the request */

/* The subject of a measurement. */
struct impact_source {
    struct bundle_dir dir;
    struct deploy deploy;   /* a directory */
    struct deploy_rule one; /* --rule */
    json_t *body;           /* of the request, on cli->mem */
};

static int
read_directory(struct cli *cli, struct impact_source *source)
{
    const struct bundle_dir *dir = &source->dir;
    int status = bundle_read_policy(cli, cli->args[0], &source->dir);
    if (status != CLI_OK)
        return status;
    source->deploy = (struct deploy){
        .rule = dir->rule, .rules = dir->rules, .data = dir->data, .data_rows = dir->data_rows};
    source->body = bundle_deploy_request(cli, &source->deploy,
                                         cli->choice.mode != NULL ? cli->choice.mode : "merge");
    return source->body != NULL ? CLI_OK : output_no_memory(cli);
}

static int
read_rule(struct cli *cli, struct impact_source *source)
{
    size_t length = 0;
    const char *path = cli->choice.rule_path;
    const char *text = input_read_file(cli, cli->args[0], RULE_CONTENT_MAX, "512 KiB",
                                       "give the text of a rule", &length);
    if (text == NULL)
        return CLI_FAILED;
    source->one = (struct deploy_rule){.path = path, .content = text, .enabled = true};
    source->deploy = (struct deploy){.rule = &source->one, .rules = 1};
    source->body =
        jsonx_own(cli->mem, json_pack("{s:{s:o,s:o}}", "rule", "path", output_string(path),
                                      "content", output_string(text)));
    return source->body != NULL ? CLI_OK : output_no_memory(cli);
}

static int
read_row(struct cli *cli, struct impact_source *source)
{
    static const char expected[] = "give one JSON value";
    size_t length = 0;
    json_t *payload = NULL;
    const char *why = "cannot be read";
    const char *text =
        input_read_file(cli, cli->args[0], POLICY_DATA_PAYLOAD_MAX, "8 MiB", expected, &length);
    if (text == NULL)
        return CLI_FAILED;
    if (jsonx_parse(cli->mem, text, length, POLICY_DATA_DEPTH_MAX, &payload, &why) != AZ_OK) {
        output_error("%s: %s: %s; %s", cli->path, cli->args[0], why, expected);
        return CLI_FAILED;
    }
    source->body =
        jsonx_own(cli->mem, json_pack("{s:{s:o,s:O}}", "row", "dataKey",
                                      output_string(cli->choice.data_key), "payload", payload));
    return source->body != NULL ? CLI_OK : output_no_memory(cli);
}

/* Add an option that is a number. */
static int
add_number(const struct cli *cli, struct jsonx_build *body, const char *name, const char *given)
{
    int64_t number;
    if (given == NULL)
        return CLI_OK;
    if (!digits_read(given, INT64_MAX, &number)) {
        output_error("%s: --%s must be a number, not '%s'", cli->path, name, given);
        return CLI_USAGE;
    }
    jsonx_set(body, name, json_integer(number));
    return CLI_OK;
}

/* Add the filters, NAME=VALUE between blanks. */
static int
add_filters(const struct cli *cli, struct jsonx_build *body)
{
    if (cli->choice.filters == NULL)
        return CLI_OK;
    struct jsonx_build filter = {json_object(), false};
    char *left = talloc_strdup(cli->mem, cli->choice.filters), *word;
    while (left != NULL && (word = strsep(&left, " ")) != NULL) {
        char *equals = strchr(word, '=');
        if (equals == NULL || equals == word) {
            json_decref(filter.value);
            output_error("%s: --filter must be NAME=VALUE, not '%s'", cli->path, word);
            return CLI_USAGE;
        }
        *equals = '\0';
        jsonx_set(&filter, word, output_string(equals + 1));
    }
    jsonx_set(body, "filter", filter.value);
    return CLI_OK;
}

/* Read what is measured, and make the body of the request. */
static int
read_source(struct cli *cli, struct impact_source *source)
{
    const bool rule = cli->choice.rule_path != NULL, row = cli->choice.data_key != NULL;
    if (rule + row + (cli->choice.mode != NULL) > 1) {
        output_error("%s: --rule, --data and --mode exclude each other", cli->path);
        return CLI_USAGE;
    }
    int status = rule  ? read_rule(cli, source)
                 : row ? read_row(cli, source)
                       : read_directory(cli, source);
    if (status != CLI_OK)
        return status;
    struct jsonx_build body = {source->body, false};
    if (cli->choice.since != NULL)
        jsonx_set(&body, "since", json_string(cli->choice.since));
    status = add_number(cli, &body, "decisions", cli->choice.decisions);
    if (status == CLI_OK)
        status = add_number(cli, &body, "examples", cli->choice.examples);
    if (status == CLI_OK)
        status = add_filters(cli, &body);
    return status != CLI_OK || jsonx_built(&body) != NULL ? status : output_no_memory(cli);
}

/* ---- the verb */

static void
show_progress(const struct cli *cli, const json_t *result)
{
    const json_t *progress = json_object_get(result, "progress");
    if (!cli->choice.quiet && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%lld of at most %lld decisions", number(progress, "done"),
                number(progress, "of"));
}

/* Wait until the measurement is over. */
static int
await(struct cli *cli, struct answer *answer)
{
    static const struct timespec pause = {0, LOOK_MS * 1000000L};
    const struct call call = {.method = "GET",
                              .path = talloc_asprintf(cli->mem, "/admin/api/policy-impact/%lld",
                                                      number(answer->json, "id"))};
    int status = CLI_OK;
    bool shown = false;
    while (status == CLI_OK && strcmp(text(answer->json, "state"), "running") == 0) {
        show_progress(cli, answer->json);
        shown = true;
        nanosleep(&pause, NULL);
        status = call_run(cli, &call, "the measurement was deleted", answer);
    }
    if (shown && !cli->choice.quiet && isatty(STDERR_FILENO))
        fputc('\n', stderr);
    return status;
}

/* Print the result and judge it; returns the exit status. */
static int
show(const struct cli *cli, const json_t *result)
{
    if (cli->choice.json)
        output_json(result);
    else if (json_object_get(result, "looked") != NULL)
        impact_print_result(result);
    if (json_object_get(result, "looked") != NULL)
        return limits_judge(cli, result);
    output_error("%s: the measurement failed: %s", cli->path, text(result, "note"));
    return CLI_FAILED;
}

int
policy_impact_run(struct cli *cli)
{
    struct impact_source source = {.body = NULL};
    struct answer answer;
    bool missing;
    int status = limits_check(cli);
    if (status == CLI_OK)
        status = read_source(cli, &source);
    if (status != CLI_OK)
        return status;
    const struct call call = {
        .method = "POST", .path = "/admin/api/policy-impact", .body = source.body};
    const struct refusal_source blamed = {
        .deploy = &source.deploy,
        .dir = source.dir.name,
        .file = cli->choice.rule_path != NULL ? cli->args[0] : NULL,
        .data_file = cli->choice.data_key != NULL ? cli->args[0] : NULL};
    status = stored_save(cli, &call, &blamed, &answer, &missing);
    if (missing)
        return call_refuse(cli, &answer, NULL);
    if (status == CLI_OK)
        status = await(cli, &answer);
    return status == CLI_OK ? show(cli, answer.json) : status;
}
