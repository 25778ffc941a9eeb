/* audit and report: what the service decided. list, show and replay are rows of admin_verbs.c; the
 * verbs here print more than one answer. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digits.h"
#include "base/json/jsonx.h"
#include "cli/admin/admin.h"
#include "cli/verbs.h"

#define LOGS "/admin/api/audit-logs"

/* ---- export ---- */

/* Milliseconds between two lines of progress. */
#define PROGRESS_MS 2000

/* An export in progress. */
struct pour {
    struct cli *cli;
    size_t octets;
    int64_t tell_ms; /* time of the next line; clock_monotonic_ms() */
    int failed;      /* errno of the output, or 0 */
};

/* Write a piece of the export as it comes, and tell a person at a terminal how far it is. */
static bool
pour_take(void *arg, const void *octets, size_t length)
{
    struct pour *pour = arg;
    const struct op_watch *watch = pour->cli->op.watch;
    if (!output_octets(octets, length)) {
        pour->failed = errno != 0 ? errno : EIO;
        return false;
    }
    pour->octets += length;
    if (watch != NULL && clock_monotonic_ms() > pour->tell_ms) {
        pour->tell_ms = clock_monotonic_ms() + PROGRESS_MS;
        watch->tell(watch->arg, talloc_asprintf(pour->cli->mem, "%.1f MiB so far",
                                                (double) pour->octets / (1 << 20)));
    }
    return true;
}

int
audit_export_run(struct cli *cli)
{
    struct pour pour = {.cli = cli, .tell_ms = clock_monotonic_ms() + PROGRESS_MS};
    struct query_pair pairs[ADMIN_MEMBERS_MAX];
    struct answer answer;
    const struct call call = {.method = "GET",
                              .path = LOGS "/export",
                              .query = pairs,
                              .queries = admin_query(cli, audit_export_filters, pairs),
                              .take = pour_take,
                              .take_arg = &pour};
    int status = call_run(cli, &call, NULL, &answer);
    if (status == CLI_OK && pour.failed != 0) {
        output_error("%s: standard output: %s; the export is incomplete", cli->path,
                     strerror(pour.failed));
        return CLI_FAILED;
    }
    return status;
}

/* ---- tail ---- */

/* Rows of one request, the most that the API gives. */
#define TAIL_ROWS 200
/* Rows that are shown first, and seconds between two requests, without options. */
#define TAIL_FIRST 10
#define TAIL_SECONDS 2
#define TAIL_SECONDS_MAX 3600

static volatile sig_atomic_t tail_ended;

static void
tail_end(int signal)
{
    (void) signal;
    tail_ended = 1;
}

/* A tail. */
struct tail {
    struct cli *cli;
    TALLOC_CTX *mem; /* outlives the requests */
    json_t *seen;    /* ids of the rows of the last answer; on mem */
    int64_t oldest;  /* rows before it are not shown; -1: nothing was read yet */
    int64_t first;   /* rows that are shown first */
    const struct query_pair *filters;
    size_t count; /* of filters */
};

static void
tail_print(const struct cli *cli, const json_t *row)
{
    if (cli->choice.json) {
        output_json_line(row);
        return;
    }
    output_values(cli, row, audit_columns);
}

/* Print the rows that were not shown yet, the oldest first. A row that was committed late has a
 * smaller id than rows that were shown, so the ids of the last answer are kept and not only the
 * newest. */
static void
tail_take(struct tail *tail, const json_t *rows)
{
    json_t *seen = json_object();
    size_t count = json_array_size(rows), fresh = 0;
    int64_t last = 0;
    for (size_t i = count; i-- > 0;) {
        const json_t *row = json_array_get(rows, i);
        int64_t id = json_integer_value(json_object_get(row, "id"));
        char name[24];
        snprintf(name, sizeof(name), "%lld", (long long) id);
        bool shown = json_object_get(tail->seen, name) != NULL;
        json_object_set_new(seen, name, json_true());
        last = last == 0 || id < last ? id : last;
        if (shown || id < tail->oldest || (tail->oldest < 0 && (int64_t) i >= tail->first))
            continue;
        fresh++;
        tail_print(tail->cli, row);
    }
    if (tail->oldest >= 0 && fresh == TAIL_ROWS)
        output_error("%s: there may be rows between these that are not shown; see `authzctl audit "
                     "list`",
                     tail->cli->path);
    tail->oldest = last > tail->oldest ? last : tail->oldest < 0 ? 0 : tail->oldest;
    json_decref(tail->seen);
    tail->seen = seen;
    fflush(stdout);
}

/* Ask once. The memory of the request is freed: a tail may run for weeks. */
static int
tail_ask(struct tail *tail)
{
    struct cli *cli = tail->cli;
    struct query_pair pairs[ADMIN_MEMBERS_MAX + 1];
    struct answer answer;
    memcpy(pairs, tail->filters, tail->count * sizeof(pairs[0]));
    pairs[tail->count] = (struct query_pair){"size", "200"};
    const struct call call = {
        .method = "GET", .path = LOGS, .query = pairs, .queries = tail->count + 1};
    if ((cli->mem = talloc_new(tail->mem)) == NULL)
        return CLI_FAILED;
    int status = call_run(cli, &call, NULL, &answer);
    if (status == CLI_OK)
        tail_take(tail, json_object_get(answer.json, "content"));
    cli->told = NULL;
    talloc_free(cli->mem);
    cli->mem = tail->mem;
    return ferror(stdout) ? CLI_FAILED : status;
}

/* Read a number option; false after printing the error. */
static bool
tail_number(const struct cli *cli, const char *name, const char *text, int64_t max, int64_t *ret)
{
    if (text == NULL || (digits_read(text, max, ret) && *ret > 0))
        return true;
    output_error("%s: --%s must be a number from 1 to %lld, not '%s'", cli->path, name,
                 (long long) max, text);
    return false;
}

int
audit_tail_run(struct cli *cli)
{
    struct query_pair filters[ADMIN_MEMBERS_MAX];
    struct tail tail = {.cli = cli,
                        .mem = cli->mem,
                        .oldest = -1,
                        .first = TAIL_FIRST,
                        .filters = filters,
                        .count = admin_query(cli, audit_tail_filters, filters)};
    const struct sigaction ends = {.sa_handler = tail_end};
    int64_t seconds = TAIL_SECONDS;
    if (!tail_number(cli, "limit", cli->choice.limit, TAIL_ROWS, &tail.first)
        || !tail_number(cli, "interval", cli->choice.interval, TAIL_SECONDS_MAX, &seconds))
        return CLI_USAGE;
    const struct timespec pause = {.tv_sec = (time_t) seconds};
    sigaction(SIGINT, &ends, NULL);
    sigaction(SIGTERM, &ends, NULL);
    int status = CLI_OK;
    while (status == CLI_OK && !tail_ended) {
        status = tail_ask(&tail);
        if (status == CLI_OK && !tail_ended)
            nanosleep(&pause, NULL);
    }
    json_decref(tail.seen);
    return tail_ended && !ferror(stdout) ? CLI_OK : status;
}

/* ---- report ---- */

/* Parts of the report that are tables, and lists that only --json shows (columns NULL). */
#define SHARE_COLUMNS                                                                              \
    {"decisions", "DECISIONS"}, {"pct", "%"},                                                      \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }
/* clang-format off */
static const struct output_column by_client_columns[] = {{"clientId", "CLIENT"},
                                                         {"clientName", "NAME"}, SHARE_COLUMNS};
static const struct output_column by_endpoint_columns[] = {{"endpoint", "ENDPOINT"}, SHARE_COLUMNS};
static const struct output_column reason_columns[] = {{"reason", "REASON"}, {"count", "COUNT"},
                                                      {"pct", "%"}, {NULL, NULL}};
static const struct output_column change_columns[] = {
    {"timestamp", "TIME"}, {"action", "ACTION"}, {"entityType", "TYPE"}, {"entityId", "ID"},
     {NULL, NULL}};
/* clang-format on */
static const struct report_part {
    const char *member;
    const struct output_column *columns;
} report_parts[] = {
    {"byClient",            by_client_columns  },
    {"byEndpoint",          by_endpoint_columns},
    {"denialReasons",       reason_columns     },
    {"recentPolicyChanges", change_columns     },
    {"trendLabels",         NULL               },
    {"trendAllowed",        NULL               },
    {"trendDenied",         NULL               },
    {"trendErrors",         NULL               },
    {"reasonTrend",         NULL               },
    {"byHour",              NULL               },
    {"before",              NULL               },
    {"clients",             NULL               },
    {"identityProviders",   NULL               },
    {"resources",           NULL               },
};

/* Print the numbers, then each table. */
static void
report_print(const struct cli *cli, json_t *report)
{
    json_t *numbers = jsonx_own(cli->mem, jsonx_copy(report));
    for (size_t i = 0; i < sizeof(report_parts) / sizeof(report_parts[0]); i++)
        json_object_del(numbers, report_parts[i].member);
    admin_print_object(cli, numbers);
    for (size_t i = 0; i < sizeof(report_parts) / sizeof(report_parts[0]); i++) {
        const json_t *rows = json_object_get(report, report_parts[i].member);
        if (report_parts[i].columns == NULL || json_array_size(rows) == 0)
            continue;
        putchar('\n');
        output_rows(cli, rows, report_parts[i].columns);
    }
}

int
report_run(struct cli *cli)
{
    struct query_pair pairs[ADMIN_MEMBERS_MAX];
    struct answer answer;
    const struct call call = {.method = "GET",
                              .path = "/admin/api/governance/report",
                              .query = pairs,
                              .queries = admin_query(cli, report_filters, pairs)};
    int status = call_run(cli, &call, NULL, &answer);
    if (status != CLI_OK)
        return status;
    if (cli->choice.json)
        output_json(answer.json);
    else
        report_print(cli, answer.json);
    return CLI_OK;
}
