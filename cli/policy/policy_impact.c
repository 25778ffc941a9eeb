/* policy impact: what the rules and data rows of a directory would have decided. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/json/jsonx.h"
#include "cli/lib/output.h"
#include "cli/policy/bundle.h"
#include "cli/policy/impact.h"
#include "cli/policy/stored.h"
#include "cli/verbs.h"

/* Decisions that a person reads of each class. */
#define SHOWN_EXAMPLES 3
/* Pause between two looks at a measurement, in milliseconds; the service waits, too. */
#define LOOK_MS 200

/* clang-format off */
const struct cli_option policy_impact_options[] = {
    {"decisions", 0, "N", offsetof(struct cli_choices, decisions), false,
     "Look at N decisions at most (default: SVC_IMPACT_DECISIONS)"},
    IMPACT_LIMIT_OPTIONS,
    {"mode", 0, "MODE", offsetof(struct cli_choices, mode), false,
     "Either merge (default) or replace, as of `bundle deploy`"},
    IMPACT_SINCE_OPTION,
    {NULL, 0, NULL, 0, false, NULL},
};
/* clang-format on */

/* The limits: option, parameter of a save, and count of an answer. */
static const struct limit_row {
    size_t offset;
    const char *parameter, *count, *words;
} limit_rows[] = {
    {offsetof(struct cli_choices, max_newly_denied),  "maxNewlyDenied",  "newlyDenied",
     "newly denied"                                                                                 },
    {offsetof(struct cli_choices, max_newly_allowed), "maxNewlyAllowed", "newlyAllowed",
     "newly allowed"                                                                                },
    {offsetof(struct cli_choices, max_narrowed),      "maxNarrowed",     "narrowed",     "narrowed" },
    {offsetof(struct cli_choices, max_widened),       "maxWidened",      "widened",      "widened"  },
    {offsetof(struct cli_choices, max_other),         "maxOther",        "other",        "other"    },
    {offsetof(struct cli_choices, max_failing),       "maxFailing",      "failing",      "failing"  },
    {offsetof(struct cli_choices, max_not_known),     "maxNotKnown",     "notKnown",     "not known"},
};
#define LIMITS (sizeof(limit_rows) / sizeof(limit_rows[0]))

static const char *
limit_given(const struct cli *cli, const struct limit_row *row)
{
    return *(const char *const *) (const void *) ((const char *) &cli->choice + row->offset);
}

size_t
impact_query(const struct cli *cli, struct query_pair *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < LIMITS; i++)
        if (limit_given(cli, &limit_rows[i]) != NULL)
            ret[count++] =
                (struct query_pair){limit_rows[i].parameter, limit_given(cli, &limit_rows[i])};
    if (cli->choice.since != NULL || cli->choice.impact)
        ret[count++] =
            (struct query_pair){"impact", cli->choice.since != NULL ? cli->choice.since : "24h"};
    if (cli->choice.override_reason != NULL)
        ret[count++] = (struct query_pair){"impactOverride", cli->choice.override_reason};
    return count;
}

int
impact_status(const json_t *answer, int status)
{
    const char *error = json_string_value(json_object_get(answer, "error"));
    return error != NULL && strcmp(error, "impact_refused") == 0 ? CLI_NOTABLE : status;
}

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

/* Print the clients with a difference. */
static void
print_clients(const json_t *result)
{
    size_t index;
    const json_t *item;
    json_array_foreach (json_object_get(result, "byClient"), index, item)
        printf("  %-24s newly denied %lld  newly allowed %lld  narrowed %lld  widened %lld  other "
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
                printf("request %s", request);
            else
                printf("audit %lld", number(item, "auditId"));
            printf("  %s  %s  %s  %s -> %s\n", class, text(item, "endpoint"),
                   text(item, "clientId"), text(json_object_get(item, "before"), "outcome"),
                   text(json_object_get(item, "after"), "outcome"));
        }
}

void
impact_print_counts(const json_t *result)
{
    const json_t *drifted = json_object_get(result, "drifted");
    printf("same %lld", number(result, "same"));
    for (size_t i = 0; i < LIMITS; i++)
        printf("   %s %lld", limit_rows[i].words, count_of(result, &limit_rows[i]));
    if (drifted != NULL)
        printf("   drifted %lld", (long long) json_integer_value(drifted));
    putchar('\n');
    print_clients(result);
    print_examples(result);
}

static void
print_result(const json_t *result)
{
    printf("revision %s  candidate %s  %s to %s  %lld decisions%s\n", text(result, "baseRevision"),
           text(result, "candidateRevision"), text(result, "from"), text(result, "to"),
           number(result, "looked"),
           json_is_true(json_object_get(result, "truncated")) ? ", there are more"
           : json_is_true(json_object_get(result, "empty"))   ? ": the period is empty"
                                                              : ", all looked at");
    impact_print_counts(result);
}

/* ---- limits */

/* True if a count is within a limit, a number or a percentage of those looked at. *ret_good is
 * false if the limit is neither. */
static bool
is_within(const char *limit, long long count, long long looked, bool *ret_good)
{
    int64_t most;
    size_t length = strlen(limit);
    char digits[8];
    *ret_good = true;
    if (digits_read(limit, INT64_MAX, &most))
        return count <= most;
    *ret_good = length > 1 && length < sizeof(digits) && limit[length - 1] == '%';
    if (!*ret_good)
        return false;
    memcpy(digits, limit, length - 1);
    digits[length - 1] = '\0';
    *ret_good = digits_read(digits, 100, &most);
    return *ret_good && count * 100 <= most * looked;
}

/* Judge the limits; print those that were passed. Returns the exit status. */
static int
judge(const struct cli *cli, const json_t *result)
{
    int status = CLI_OK;
    for (size_t i = 0; i < LIMITS; i++) {
        const char *limit = limit_given(cli, &limit_rows[i]);
        long long count = count_of(result, &limit_rows[i]);
        bool good;
        if (limit == NULL || is_within(limit, count, number(result, "looked"), &good))
            continue;
        output_error("%s: %s %lld, at most %s: REFUSED", cli->path, limit_rows[i].words, count,
                     limit);
        status = CLI_NOTABLE;
    }
    if (impact_query(cli,
                     (struct query_pair[IMPACT_QUERY_MAX]){
                         {NULL, NULL}
    })
            > 0
        && json_is_true(json_object_get(result, "truncated"))) {
        output_error("%s: not all decisions of the period were looked at, so no limit holds",
                     cli->path);
        status = CLI_NOTABLE;
    }
    return status;
}

/* Refuse limits that are neither a number nor a percentage. */
static int
check_limits(const struct cli *cli)
{
    for (size_t i = 0; i < LIMITS; i++) {
        const char *limit = limit_given(cli, &limit_rows[i]);
        bool good = true;
        if (limit != NULL)
            is_within(limit, 0, 0, &good);
        if (good)
            continue;
        output_error("%s: '%s' must be a number, or a percentage like 5%%", cli->path, limit);
        return CLI_USAGE;
    }
    return CLI_OK;
}

/* ---- the verb */

/* Return the body of the request. */
static json_t *
request_body(struct cli *cli, const struct bundle_dir *dir)
{
    const struct deploy deploy = {
        .rule = dir->rule, .rules = dir->rules, .data = dir->data, .data_rows = dir->data_rows};
    const char *mode = cli->choice.mode != NULL ? cli->choice.mode : "merge";
    int64_t decisions;
    struct jsonx_build body = {bundle_deploy_request(cli, &deploy, mode), false};
    if (cli->choice.since != NULL)
        jsonx_set(&body, "since", json_string(cli->choice.since));
    if (cli->choice.decisions != NULL && digits_read(cli->choice.decisions, INT64_MAX, &decisions))
        jsonx_set(&body, "decisions", json_integer(decisions));
    return jsonx_built(&body);
}

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

int
policy_impact_run(struct cli *cli)
{
    struct bundle_dir dir;
    struct answer answer;
    bool missing;
    int status = check_limits(cli);
    if (status == CLI_OK)
        status = bundle_read_policy(cli, cli->args[0], &dir);
    if (status != CLI_OK)
        return status;
    const struct call call = {
        .method = "POST", .path = "/admin/api/policy-impact", .body = request_body(cli, &dir)};
    const struct deploy deploy = {
        .rule = dir.rule, .rules = dir.rules, .data = dir.data, .data_rows = dir.data_rows};
    const struct refusal_source source = {.deploy = &deploy, .dir = dir.name};
    if (call.body == NULL)
        return output_no_memory(cli);
    status = stored_save(cli, &call, &source, &answer, &missing);
    if (missing)
        return call_refuse(cli, &answer, NULL);
    if (status == CLI_OK)
        status = await(cli, &answer);
    if (status != CLI_OK)
        return status;
    if (cli->choice.json)
        output_json(answer.json);
    else if (json_object_get(answer.json, "looked") != NULL)
        print_result(answer.json);
    if (json_object_get(answer.json, "looked") != NULL)
        return judge(cli, answer.json);
    output_error("%s: the measurement failed: %s", cli->path, text(answer.json, "note"));
    return CLI_FAILED;
}
