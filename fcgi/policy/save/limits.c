#include "config.h"

#include "policy/save/limits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "policy/impact/job.h"
#include "policy/impact/period.h"
#include "policy/rows/data_key.h"
#include "policy/save/candidate.h"
#include "store/policy/impact.h"
#include "store/policy/policy_rows.h"

/* Period of a guard without one. */
#define GUARD_PERIOD "1d"
/* Nesting of the row, and of a stored result. */
#define RESULT_DEPTH_MAX 64
/* Longest wait for another measurement, and between two tries, in milliseconds. */
#define BUSY_MS 10000
#define BUSY_PAUSE_MS 100
/* Time for the process beside that of the measurement, in milliseconds. */
#define EXTRA_MS 5000

/* A measurement while it is judged. */
struct judging {
    struct op *op;
    const struct save_plan *plan;
    json_t *row; /* the base's row, or NULL */
    struct jsonx_build watches;
    int64_t from_ms; /* of the longest period */
    struct impact_pair pair;
    int64_t id;
    json_t *result;   /* NULL: there is none */
    const char *lack; /* why nothing was measured, or NULL */
    struct jsonx_build refused;
    bool by_request; /* a limit of the request itself was passed */
};

static bool
is_rollback(const struct save_plan *plan)
{
    return strcmp(plan->source, "rollback") == 0;
}

static bool
asks(const struct save_plan *plan)
{
    return plan->limits != NULL && (plan->limits->since != NULL || plan->limits->max != NULL);
}

static enum az_status
no_memory(struct op *op)
{
    return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for the limits of a save");
}

/* Read the row with the guards; *ret is NULL without one. */
static enum az_status
read_row(struct op *op, json_t **ret)
{
    struct policy_row row = {.payload = NULL};
    enum az_status st = policy_data_fetch(op, LIMITS_ROW, &row);
    *ret = NULL;
    if (st != AZ_OK || row.payload == NULL)
        return st;
    st = jsonx_parse(op->mem, row.payload, strlen(row.payload), POLICY_DATA_DEPTH_MAX, ret, NULL);
    return st == AZ_OK ? st : op_fail(op, AZ_SERVER_ERROR, NULL, LIMITS_ROW " cannot be read");
}

enum az_status
limits_wanted(struct op *op, const struct save_plan *plan, bool *ret)
{
    json_t *row = NULL;
    *ret = asks(plan);
    if (*ret || strcmp(plan->source, "shipped") == 0)
        return AZ_OK;
    enum az_status st = read_row(op, &row);
    *ret = st == AZ_OK && json_array_size(json_object_get(row, "guards")) > 0;
    return st;
}

/* ---- what is counted */

/* Add a watch: a guard, or the limits of the request. */
static void
add_watch(struct judging *j, json_t *name, const char *period, const json_t *about)
{
    int64_t from;
    json_t *limits = json_object_get(about, "limits"), *when = json_object_get(about, "when"),
           *least = json_object_get(about, "least");
    const char *unknown = json_string_value(json_object_get(about, "notKnown"));
    if (!impact_period_read(period, j->op->now_ms, &from)) {
        j->lack = "the period of a guard cannot be read";
        return;
    }
    if (from < j->from_ms)
        j->from_ms = from;
    jsonx_append(&j->watches,
                 json_pack("{s:O,s:I,s:O*,s:O*,s:O*,s:b}", "name", name, "fromMs",
                           (json_int_t) from, "limits", limits, "when", when, "least", least,
                           "count", unknown == NULL || strcmp(unknown, "ignore") != 0));
}

static void
add_watches(struct judging *j)
{
    size_t index;
    const json_t *guard;
    if (asks(j->plan)) {
        const struct save_limits *limits = j->plan->limits;
        json_t *about = jsonx_own(j->op->mem, json_pack("{s:O*,s:s}", "limits",
                                                        (json_t *) (uintptr_t) limits->max,
                                                        "notKnown", "ignore"));
        json_t *name = jsonx_own(j->op->mem, json_null());
        add_watch(j, name, limits->since != NULL ? limits->since : IMPACT_PERIOD, about);
    }
    json_array_foreach (json_object_get(j->row, "guards"), index, guard) {
        const char *period = json_string_value(json_object_get(guard, "period"));
        add_watch(j, json_object_get(guard, "name"), period != NULL ? period : GUARD_PERIOD, guard);
    }
}

/* ---- measuring */

/* Start the run; previews and rehearsals give way to it. */
static enum az_status
start_run(struct judging *j, int64_t seconds)
{
    static const struct timespec pause = {0, BUSY_PAUSE_MS * 1000000L};
    struct op *op = j->op;
    const struct settings *cfg = op->az->cfg;
    const struct impact_selection selection = {
        .filter = {.from_ms = j->from_ms,
                   .until_ms = op->now_ms,
                   .has_from = true,
                   .has_until = true},
        .decisions = cfg->impact_decisions,
        .seconds = seconds,
        .examples = IMPACT_EXAMPLES,
        .watches = j->watches.value,
    };
    /* A rehearsal gives way to saves too, and ends nothing: an auditor may ask for it. */
    bool saves = j->plan->mode != SAVE_DRY_RUN;
    json_t *text = jsonx_own(op->mem, json_pack("{s:o*,s:I}", "save", saves ? json_true() : NULL,
                                                "decisions", (json_int_t) selection.decisions));
    const struct impact_label label = {j->plan->who, jsonx_dump(op->mem, text)};
    int64_t until = clock_monotonic_ms() + BUSY_MS;
    if (label.selection == NULL)
        return no_memory(op);
    for (;;) {
        enum az_status st = impact_start(op, &j->pair, &selection, &label, &j->id);
        if (st != AZ_BUSY || clock_monotonic_ms() >= until || *op->az->stopping)
            return st;
        az_fault_clear(&op->fault);
        if (saves && (st = impact_end_previews(op)) != AZ_OK)
            return st;
        nanosleep(&pause, NULL);
    }
}

/* Run, wait, and read the result. */
static enum az_status
run(struct judging *j, int64_t seconds)
{
    const char *dto = NULL;
    bool running = false;
    json_t *result = NULL;
    enum az_status st = start_run(j, seconds);
    if (st == AZ_OK)
        st = impact_wait(j->op, j->id, seconds * 1000 + EXTRA_MS, &dto, &running);
    if (st != AZ_OK)
        return st;
    if (dto == NULL || running)
        j->lack = "the measurement did not end in time";
    else if (jsonx_parse(j->op->mem, dto, strlen(dto), RESULT_DEPTH_MAX, &result, NULL) != AZ_OK)
        return no_memory(j->op);
    else if (json_object_get(result, "looked") == NULL)
        j->lack = json_string_value(json_object_get(result, "note"));
    else if (json_is_true(json_object_get(result, "truncated")))
        j->lack = "not all recorded decisions of the period were looked at "
                  "(SVC_IMPACT_DECISIONS, SVC_IMPACT_SECONDS)";
    j->result = result;
    return AZ_OK;
}

/* ---- judging */

/* Collect the limits that were passed. */
static void
collect_refused(struct judging *j)
{
    size_t index, place;
    json_t *watch, *passed;
    json_array_foreach (json_object_get(j->result, "guards"), index, watch) {
        json_t *name = json_object_get(watch, "name");
        json_array_foreach (json_object_get(watch, "refused"), place, passed) {
            json_t *item = jsonx_copy(passed);
            bool request = !json_is_string(name);
            j->by_request = j->by_request || request;
            if (json_object_set(item, request ? "request" : "guard", request ? json_true() : name)
                != 0)
                j->refused.lost = true;
            jsonx_append(&j->refused, item);
        }
    }
}

/* True if the caller may override guards: his key is listed, or none is. */
static bool
may_override(const struct judging *j)
{
    const json_t *keys = json_object_get(j->row, "overrides");
    const struct save_limits *limits = j->plan->limits;
    size_t index;
    const json_t *key;
    if (limits == NULL || limits->override == NULL)
        return false;
    if (json_array_size(keys) == 0 || limits->overrider == NULL)
        return true;
    json_array_foreach (keys, index, key)
        if (json_is_string(key) && strcmp(json_string_value(key), limits->overrider) == 0)
            return true;
    return false;
}

/* Describe the first limit that was passed. */
static const char *
describe(const struct judging *j)
{
    const json_t *first = json_array_get(j->refused.value, 0);
    const char *guard = json_string_value(json_object_get(first, "guard"));
    if (first == NULL)
        return talloc_asprintf(j->op->mem, "The impact of the change could not be measured: %s",
                               j->lack);
    char *max = json_dumps(json_object_get(first, "max"), JSON_ENCODE_ANY);
    const char *text = talloc_asprintf(
        j->op->mem, "%lld decisions would be %s, at most %s may be (%s%s)",
        (long long) json_integer_value(json_object_get(first, "seen")),
        json_string_value(json_object_get(first, "limit")), max != NULL ? max : "",
        guard != NULL ? "guard " : "limit of the request", guard != NULL ? guard : "");
    free(max);
    return text;
}

/* Refuse the save. */
static enum az_status
refuse(struct judging *j, struct save_outcome *outcome)
{
    const char *why = describe(j);
    bool overridable = !j->by_request && json_array_size(json_object_get(j->row, "guards")) > 0;
    json_t *members =
        jsonx_own(j->op->mem, json_pack("{s:I,s:O,s:s*,s:b}", "impact", (json_int_t) j->id,
                                        "refused", j->refused.value, "notMeasured", j->lack,
                                        "overridable", (int) overridable));
    if (members == NULL || why == NULL || j->refused.lost)
        return no_memory(j->op);
    outcome->refusal = (struct save_refusal){.error = "impact_refused",
                                             .description = why,
                                             .expected = j->pair.candidate.revision,
                                             .active = j->pair.base.revision,
                                             .members = members};
    return op_fail(j->op, AZ_UNPROCESSABLE, NULL, "impact_refused: %s", why);
}

static enum az_status
judge(struct judging *j, struct measured *ret, struct save_outcome *outcome)
{
    j->refused.value = jsonx_own(j->op->mem, json_array());
    collect_refused(j);
    bool refused = j->lack != NULL || json_array_size(j->refused.value) > 0;
    if (refused && !is_rollback(j->plan)) {
        if (j->by_request || !may_override(j))
            return refuse(j, outcome);
        ret->override = talloc_asprintf(j->op->mem, "limits overridden by %s: %s", j->plan->who,
                                        j->plan->limits->override);
    }
    outcome->impact = talloc_asprintf(
        j->op->mem, "id=%lld; newlyDenied=%lld; newlyAllowed=%lld", (long long) j->id,
        (long long) json_integer_value(json_object_get(j->result, "newlyDenied")),
        (long long) json_integer_value(json_object_get(j->result, "newlyAllowed")));
    return AZ_OK;
}

enum az_status
limits_measure(struct op *op, const struct save_plan *plan, int64_t seconds, struct measured *ret,
               struct save_outcome *outcome)
{
    struct judging j = {.op = op, .plan = plan, .from_ms = op->now_ms};
    json_t *ignored = NULL;
    enum az_status st = candidate_make(op, plan, outcome, &j.pair, &ignored);
    if (st == AZ_UNAVAILABLE && j.pair.candidate.revision != NULL) {
        j.lack = talloc_strdup(op->mem, op->fault.public_text);
        az_fault_clear(&op->fault);
        st = AZ_OK;
    }
    if (st == AZ_OK)
        st = read_row(op, &j.row);
    if (st != AZ_OK)
        return st;
    *ret = (struct measured){true, j.pair.base.revision, j.pair.candidate.revision, NULL};
    if (strcmp(ret->base, ret->candidate) == 0)
        return AZ_OK;
    j.watches.value = jsonx_own(op->mem, json_array());
    add_watches(&j);
    if (jsonx_built(&j.watches) == NULL)
        return no_memory(op);
    if (j.lack == NULL && (st = run(&j, seconds)) != AZ_OK)
        return st;
    return judge(&j, ret, outcome);
}

bool
limits_fit(const struct measured *measured, const char *base, const char *candidate)
{
    return !measured->done
           || (strcmp(measured->base, base != NULL ? base : "none") == 0
               && strcmp(measured->candidate, candidate) == 0);
}
