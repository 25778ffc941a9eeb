/* policy compare: let OPA and the machine decide stored questions again, by the policy of today. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"
#include "policy/decide/question.h"
#include "policy/engine/compare.h"
#include "policy/engine/policy_texts.h"
#include "store/audit/read/rows.h"
#include "store/policy/plans.h"

/* Decisions that are compared without --limit, and the most. */
#define LIMIT_DEFAULT 1000
#define LIMIT_MAX 1000000

const struct cli_option policy_compare_options[] = {
    {"limit",                                                                               0, "N",    offsetof(struct cli_choices,                                                           limit),                      false,
     "Compare at most N decisions, from 1 to 1000000 (default 1000)"},
    {"since",                                                                                     0,                                                                                "TIME", offsetof(struct cli_choices, from_instant), false,
     "Compare those since TIME alone, a day or a time: 2026-01-31 or 2026-01-31T12:00:00Z"},
    {NULL, 0,  NULL,     0,                                                                                         false,                                                                                                               NULL                                                                                                                      },
};

/* A comparison of many decisions. */
struct compare_run {
    struct cli *cli;
    const char *revision;           /* that decides */
    const struct engine_plan *plan; /* of it */
    int64_t most;                   /* decisions to compare */
    int64_t decisions, unreadable, count[COMPARE_MOVED + 1];
    json_t *differences; /* on cli->mem */
    json_t *because;     /* reasons why OPA decides alone, with their number; on cli->mem */
    long *embedded_us, *opa_us;
    size_t times; /* of decisions that both made */
};

static int
compare_numbers(const void *one, const void *other)
{
    long left = *(const long *) one, right = *(const long *) other;
    return (left > right) - (left < right);
}

/* Return the median; 0 if there is none. */
static long
median(long *number, size_t count)
{
    qsort(number, count, sizeof(*number), compare_numbers);
    return count > 0 ? number[count / 2] : 0;
}

/* ---- options */

static int
read_options(const struct cli *cli, int64_t *ret_most, struct audit_filter *ret)
{
    const char *limit = cli->choice.limit, *since = cli->choice.from_instant;
    *ret_most = LIMIT_DEFAULT;
    if (limit != NULL && (!digits_read(limit, LIMIT_MAX, ret_most) || *ret_most == 0)) {
        output_error("%s: --limit must be a number from 1 to %d, not '%s'", cli->path, LIMIT_MAX,
                     limit);
        return CLI_USAGE;
    }
    ret->has_from = since != NULL;
    if (since != NULL && iso8601_parse_day(since, strlen(since), &ret->from_ms) != AZ_OK
        && iso8601_parse(since, strlen(since), &ret->from_ms) != AZ_OK) {
        output_error("%s: --since must be a day or a time, such as 2026-01-31 or "
                     "2026-01-31T12:00:00Z, not '%s'",
                     cli->path, since);
        return CLI_USAGE;
    }
    return CLI_OK;
}

/* Read the plan of the revision that may decide. */
static int
read_plan(struct compare_run *run)
{
    struct cli *cli = run->cli;
    struct plan_current current;
    struct policy_texts stored = {.plan = NULL};
    const struct plan_known nothing = {.revision = NULL};
    enum az_status st = plan_current(&cli->op, &nothing, &current);
    if (st == AZ_OK && current.revision != NULL)
        st = policy_texts_read(&cli->op, current.revision, &stored);
    if (st != AZ_OK)
        return output_fault(cli);
    const char *why = stored.note != NULL ? stored.note : "no plan is stored";
    if (stored.plan != NULL) {
        const struct engine_plan_texts texts = {.name = current.revision,
                                                .plan = stored.plan,
                                                .plan_length = stored.plan_length,
                                                .data = stored.data,
                                                .data_length = stored.data_length};
        run->revision = current.revision;
        run->plan = engine_plan_read(cli->mem, &texts, NULL, &why);
    }
    if (run->plan != NULL)
        return CLI_OK;
    output_error("%s: OPA makes all decisions by the active policy: %s; a save makes a plan, "
                 "unless SVC_POLICY_ENGINE is opa",
                 cli->path, why);
    return CLI_FAILED;
}

/* ---- comparing */

/* Keep a difference for the end. */
static void
note_difference(struct compare_run *run, const struct audit_row *row, const char *entrypoint,
                const struct comparison *comparison)
{
    json_array_append_new(run->differences,
                          json_pack("{s:I,s:s,s:s,s:O?,s:O?,s:s*,s:s*}", "auditId",
                                    (json_int_t) row->id, "endpoint", row->endpoint, "entrypoint",
                                    entrypoint, "embedded", comparison->embedded, "opa",
                                    comparison->opa, "embeddedError", comparison->why, "opaError",
                                    comparison->opa_why));
}

/* Count a reason why OPA decides alone. */
static void
note_reason(struct compare_run *run, const char *why)
{
    json_int_t before = json_integer_value(json_object_get(run->because, why));
    json_object_set_new(run->because, why, json_integer(before + 1));
}

/* Let both engines decide the question of a row. */
static enum az_status
compare_row(struct op *op, struct compare_run *run, const struct audit_row *row)
{
    struct comparison comparison;
    json_t *input = NULL;
    const char *entrypoint = NULL;
    if (jsonx_parse(op->mem, row->input, strlen(row->input), ENGINE_ANSWER_DEPTH_MAX, &input, NULL)
        == AZ_OK)
        entrypoint = question_entrypoint(op->mem, input);
    if (entrypoint == NULL) {
        run->unreadable++;
        return AZ_OK;
    }
    enum az_status st =
        compare_question(op, run->plan, run->revision, entrypoint, input, &comparison);
    if (st != AZ_OK)
        return st;
    run->decisions++;
    run->count[comparison.result]++;
    if (comparison.result == COMPARE_MOVED)
        return op_fail(op, AZ_CONFLICT, NULL, "the policy was changed meanwhile; run it again");
    if (comparison.result == COMPARE_DIFFERS)
        note_difference(run, row, entrypoint, &comparison);
    if (comparison.result == COMPARE_OPA_ALONE)
        note_reason(run, comparison.why);
    else {
        run->embedded_us[run->times] = comparison.embedded_us;
        run->opa_us[run->times++] = comparison.opa_us;
    }
    return AZ_OK;
}

/* Compare the decisions of the rows that one step of a walk has read. */
static enum az_status
compare_rows(struct op *op, struct compare_run *run, const PGresult *result)
{
    enum az_status st = AZ_OK;
    for (int i = 0; st == AZ_OK && i < PQntuples(result) && run->decisions < run->most; i++) {
        struct audit_row row;
        st = audit_rows_get(op, result, i, &row);
        if (st == AZ_OK && row.input != NULL)
            st = compare_row(op, run, &row);
    }
    return st;
}

/* Walk through the rows, the newest first. The memory of each step is freed. */
static enum az_status
compare_all(struct compare_run *run, const struct audit_filter *filter)
{
    struct cli *cli = run->cli;
    struct audit_walk walk;
    bool more = true;
    enum az_status st = audit_walk_begin(&cli->op, filter, &walk);
    while (st == AZ_OK && more && run->decisions < run->most) {
        PGresult *result;
        struct op step = cli->op;
        step.mem = talloc_new(cli->mem);
        st = audit_walk_next(&step, &walk, &result, &more);
        if (st == AZ_OK && result != NULL)
            st = compare_rows(&step, run, result);
        if (st != AZ_OK) {
            cli->op.fault = step.fault;
            return st;
        }
        talloc_free(step.mem);
    }
    return st;
}

/* ---- printing */

static void
print_answer(const char *name, const json_t *value, const char *error)
{
    char *text = value != NULL ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    output_print("  %-9s ", name);
    output_text(error != NULL ? error : text != NULL ? text : "undefined");
    free(text);
}

static void
print_difference(const json_t *difference)
{
    output_print("audit row %lld (%s), %s\n",
                 (long long) json_integer_value(json_object_get(difference, "auditId")),
                 json_string_value(json_object_get(difference, "endpoint")),
                 json_string_value(json_object_get(difference, "entrypoint")));
    print_answer("embedded", json_object_get(difference, "embedded"),
                 json_string_value(json_object_get(difference, "embeddedError")));
    print_answer("opa", json_object_get(difference, "opa"),
                 json_string_value(json_object_get(difference, "opaError")));
}

static void
print_text(const struct compare_run *run, long embedded_us, long opa_us)
{
    size_t index;
    json_t *value;
    const char *why;
    json_array_foreach (run->differences, index, value)
        print_difference(value);
    output_print(
        "revision    %s\ndecisions   %lld\nsame        %lld\ndifferent   %lld\nby OPA alone "
        "%lld\n",
        run->revision, (long long) run->decisions, (long long) run->count[COMPARE_SAME],
        (long long) run->count[COMPARE_DIFFERS], (long long) run->count[COMPARE_OPA_ALONE]);
    json_object_foreach (run->because, why, value)
        output_print("  %lld: %s\n", (long long) json_integer_value(value), why);
    if (run->unreadable > 0)
        output_print("unreadable  %lld\n", (long long) run->unreadable);
    if (run->times > 0)
        output_print("median time embedded %ld us, OPA with the way to it %ld us\n", embedded_us,
                     opa_us);
}

static void
print_run(const struct compare_run *run)
{
    long embedded_us = median(run->embedded_us, run->times),
         opa_us = median(run->opa_us, run->times);
    if (!run->cli->choice.json) {
        print_text(run, embedded_us, opa_us);
        return;
    }
    output_json(jsonx_own(run->cli->mem,
                          json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:O,s:O,s:{s:I,s:I}}", "revision",
                                    run->revision, "decisions", (json_int_t) run->decisions, "same",
                                    (json_int_t) run->count[COMPARE_SAME], "different",
                                    (json_int_t) run->count[COMPARE_DIFFERS], "opaAlone",
                                    (json_int_t) run->count[COMPARE_OPA_ALONE], "unreadable",
                                    (json_int_t) run->unreadable, "opaAloneBecause", run->because,
                                    "differences", run->differences, "medianUs", "embedded",
                                    (json_int_t) embedded_us, "opa", (json_int_t) opa_us)));
}

int
policy_compare_run(struct cli *cli)
{
    struct audit_filter filter = {.endpoint = NULL};
    struct compare_run run = {.cli = cli};
    int status = read_options(cli, &run.most, &filter);
    if (status == CLI_OK)
        status = read_plan(&run);
    if (status != CLI_OK)
        return status;
    run.differences = jsonx_own(cli->mem, json_array());
    run.because = jsonx_own(cli->mem, json_object());
    run.embedded_us = talloc_array(cli->mem, long, (size_t) run.most);
    run.opa_us = talloc_array(cli->mem, long, (size_t) run.most);
    if (run.differences == NULL || run.because == NULL || run.embedded_us == NULL
        || run.opa_us == NULL)
        return output_no_memory(cli);
    if (compare_all(&run, &filter) != AZ_OK)
        return output_fault(cli);
    print_run(&run);
    return run.count[COMPARE_DIFFERS] > 0 ? CLI_FAILED : CLI_OK;
}
