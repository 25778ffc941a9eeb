#include "config.h"

#include "policy/save/steps/limits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "metrics/metrics.h"
#include "policy/impact/job.h"
#include "policy/impact/period.h"
#include "policy/impact/verdict.h"
#include "policy/impact/watch.h"
#include "policy/save/plan/candidate.h"
#include "store/policy/impact.h"

/* Longest wait for another measurement, and between two tries, in milliseconds. */
#define BUSY_MS 10000
#define BUSY_PAUSE_MS 100
/* Time for the process beside that of the measurement, in milliseconds. */
#define EXTRA_MS 5000

/* A measurement while it is judged. */
struct judging {
    struct op *op;
    const struct save_plan *plan;
    struct guards guards; /* of the base */
    struct jsonx_build watches;
    int64_t from_ms;        /* of the longest period */
    int64_t guards_from_ms; /* of the longest one of the guards */
    struct impact_pair pair;
    int64_t id;
    json_t *result;   /* NULL: there is none */
    const char *lack; /* why nothing was measured, or NULL */
    struct verdict verdict;
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

static bool
asks_limits(const struct save_plan *plan)
{
    return plan->limits != NULL && plan->limits->max != NULL;
}

/* Return the period that the request asks for, or NULL. */
static const char *
since_of(const struct save_plan *plan)
{
    if (!asks(plan))
        return NULL;
    return plan->limits->since != NULL ? plan->limits->since : IMPACT_PERIOD;
}

static bool
is_shipped(const struct save_plan *plan)
{
    return strcmp(plan->source, "shipped") == 0;
}

enum az_status
limits_wanted(struct op *op, const struct save_plan *plan, bool *ret)
{
    struct guards guards;
    *ret = asks(plan);
    if (*ret || is_shipped(plan))
        return AZ_OK;
    enum az_status st = guards_read(op, &guards);
    *ret = st == AZ_OK && guards_any(&guards);
    return st;
}

/* ---- what is counted */

/* Add the limits of the request, and the guards. */
static enum az_status
add_watches(struct judging *j)
{
    struct op *op = j->op;
    const struct save_limits *limits = j->plan->limits;
    j->watches.value = jsonx_own(op->mem, json_array());
    if (asks(j->plan)) {
        if (!impact_period_read(since_of(j->plan), op->now_ms, &j->from_ms))
            j->lack = "the period cannot be read";
        jsonx_append(&j->watches,
                     json_pack("{s:n,s:I,s:O*,s:b}", "name", "fromMs", (json_int_t) j->from_ms,
                               "limits", (json_t *) (uintptr_t) limits->max, "count", 0));
    }
    if (!guards_watch(&j->guards, op->now_ms, INT64_MIN, NULL, &j->watches, &j->guards_from_ms))
        j->lack = "the period of a guard cannot be read";
    if (j->guards_from_ms < j->from_ms)
        j->from_ms = j->guards_from_ms;
    return jsonx_built(&j->watches) != NULL ? AZ_OK : op_no_memory(op);
}

/* ---- measuring */

/* Return what is looked at, for those who read the run, as JSON text. A rehearsal gives way to
 * saves too, and ends nothing: an auditor may ask for it. */
static const char *
selection_text(const struct judging *j)
{
    bool saves = j->plan->mode != SAVE_DRY_RUN;
    return jsonx_dump(
        j->op->mem,
        jsonx_own(j->op->mem, json_pack("{s:o*,s:s*,s:I,s:s}", "save", saves ? json_true() : NULL,
                                        "since", since_of(j->plan), "decisions",
                                        (json_int_t) j->op->az->cfg->impact_decisions, "guards",
                                        j->guards.digest)));
}

/* Start the run; previews and rehearsals give way to it. */
static enum az_status
start_run(struct judging *j, int64_t seconds)
{
    static const struct timespec pause = {0, BUSY_PAUSE_MS * 1000000L};
    struct op *op = j->op;
    const struct impact_selection selection = {
        .filter = {.from_ms = j->from_ms,
                   .until_ms = op->now_ms,
                   .has_from = true,
                   .has_until = true},
        .decisions = op->az->cfg->impact_decisions,
        .seconds = seconds,
        .examples = IMPACT_EXAMPLES,
        .watches = j->watches.value,
    };
    const struct impact_label label = {j->plan->who, selection_text(j)};
    int64_t until = clock_monotonic_ms() + BUSY_MS;
    if (label.selection == NULL)
        return op_no_memory(op);
    for (;;) {
        enum az_status st = impact_start(op, &j->pair, &selection, &label, &j->id);
        if (st != AZ_BUSY || clock_monotonic_ms() >= until || *op->az->stopping)
            return st;
        az_fault_clear(&op->fault);
        if (j->plan->mode != SAVE_DRY_RUN && (st = impact_end_previews(op)) != AZ_OK)
            return st;
        nanosleep(&pause, NULL);
    }
}

/* Find a stored run of the same change, period and guards: a preview of the save. */
static enum az_status
find_stored(struct judging *j)
{
    const struct impact_like like = {
        .base = j->pair.base.revision,
        .candidate = j->pair.candidate.revision,
        .guards = j->guards.digest,
        .since = since_of(j->plan),
        .decisions = j->op->az->cfg->impact_decisions,
        .age_s = LIMITS_STORED_SECONDS,
        .sample_ms = guards_any(&j->guards) ? j->op->now_ms - j->guards_from_ms : INT64_MAX};
    return stored_find(j->op, &like, json_array_size(j->guards.list), &j->id, &j->result);
}

/* True if the result is a sample of a longer period than the guards have. The sample has so few
 * decisions of their period that it would miss what a guard counts, and the person who saves
 * chooses the period. */
static bool
thins_guards(const struct judging *j)
{
    return guards_any(&j->guards) && j->from_ms < j->guards_from_ms
           && json_object_get(j->result, "sampled") != NULL;
}

/* Find a stored run, or run and wait, and read the result. */
static enum az_status
run(struct judging *j, int64_t seconds)
{
    enum az_status st = find_stored(j);
    if (st == AZ_OK && j->result == NULL) {
        if ((st = start_run(j, seconds)) == AZ_OK)
            st = stored_await(j->op, j->id, seconds * 1000 + EXTRA_MS, &j->result);
    }
    if (st != AZ_OK)
        return st;
    if (j->result == NULL)
        j->lack = "the measurement did not end in time";
    else if (json_object_get(j->result, "looked") == NULL)
        j->lack = json_string_value(json_object_get(j->result, "note"));
    else if (json_is_true(json_object_get(j->result, "truncated")))
        j->lack = "not all decisions that were chosen were looked at in time (SVC_IMPACT_SECONDS)";
    else if (thins_guards(j))
        j->lack = "the period of the request is longer than those of the guards, and has more "
                  "decisions than SVC_IMPACT_DECISIONS: ask for a shorter one";
    return AZ_OK;
}

/* ---- judging */

/* True if the caller may override guards, with a reason. */
static bool
may_override(const struct save_plan *plan, const struct guards *guards)
{
    return guards_may_override(guards, plan->limits != NULL ? plan->limits->overrider : NULL);
}

/* True if the caller gives a reason, and may override guards. */
static bool
overrides(const struct save_plan *plan, const struct guards *guards)
{
    return plan->limits != NULL && plan->limits->override != NULL && may_override(plan, guards);
}

/* True if the save is a way back that stays open whatever is measured: a rollback by who may pass
 * the guards. That of anybody else is limited as a save is, for an older revision may be wider. */
static bool
is_way_back(const struct judging *j)
{
    return is_rollback(j->plan) && may_override(j->plan, &j->guards);
}

static void
note_override(const struct save_plan *plan, struct measured *measured)
{
    const char *key = plan->limits->overrider;
    measured->override_by = key != NULL ? key : plan->who;
    measured->override_reason = plan->limits->override;
}

/* Return how many decisions a refused limit is about, in words. */
static const char *
describe_count(TALLOC_CTX *mem, const json_t *refused)
{
    long long seen = json_integer_value(json_object_get(refused, "seen"));
    if (json_object_get(refused, "upper") == NULL)
        return talloc_asprintf(mem, "%lld decisions would", seen);
    return talloc_asprintf(mem,
                           "About %lld decisions (at most %lld; %lld of %lld in a sample) would",
                           (long long) json_integer_value(json_object_get(refused, "estimate")),
                           (long long) json_integer_value(json_object_get(refused, "upper")), seen,
                           (long long) json_integer_value(json_object_get(refused, "of")));
}

/* Describe the first limit that was passed. */
static const char *
describe(const struct judging *j)
{
    const json_t *first = json_array_get(j->verdict.refused, 0);
    const char *guard = json_string_value(json_object_get(first, "guard"));
    if (first == NULL)
        return talloc_asprintf(j->op->mem, "The impact of the change could not be measured: %s",
                               j->lack);
    char *max = json_dumps(json_object_get(first, "max"), JSON_ENCODE_ANY);
    const char *text = talloc_asprintf(
        j->op->mem, "%s be %s, at most %s may be (%s%s)", describe_count(j->op->mem, first),
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
    bool overridable =
        !j->verdict.by_request && guards_any(&j->guards) && may_override(j->plan, &j->guards);
    json_t *members =
        jsonx_own(j->op->mem, json_pack("{s:O,s:s*,s:b}", "refused", j->verdict.refused,
                                        "notMeasured", j->lack, "overridable", (int) overridable));
    if (members == NULL || why == NULL)
        return op_no_memory(j->op);
    if (j->id > 0 && json_object_set_new(members, "impact", json_integer(j->id)) != 0)
        return op_no_memory(j->op);
    outcome->refusal = (struct save_refusal){.error = "impact_refused",
                                             .description = why,
                                             .expected = j->pair.candidate.revision,
                                             .active = j->pair.base.revision,
                                             .members = members};
    metrics_add(j->op->az->metrics, METRIC_IMPACT_REFUSED, 0, NULL);
    return op_fail(j->op, AZ_UNPROCESSABLE, NULL, "impact_refused: %s", why);
}

/* Return the counts for the history, as JSON text. */
static const char *
counts_text(const struct judging *j)
{
    static const char *const of_samples[] = {"sampled", "estimates"};
    struct jsonx_build counts = {jsonx_own(j->op->mem, json_pack("{s:s*}", "notMeasured", j->lack)),
                                 false};
    if (j->id > 0)
        jsonx_set(&counts, "id", json_integer(j->id));
    if (json_object_get(j->result, "looked") != NULL)
        watch_counts_add(j->result, &counts);
    for (size_t i = 0; i < sizeof(of_samples) / sizeof(of_samples[0]); i++)
        if (json_object_get(j->result, of_samples[i]) != NULL)
            jsonx_set(&counts, of_samples[i],
                      json_incref(json_object_get(j->result, of_samples[i])));
    return jsonx_dump(j->op->mem, jsonx_built(&counts));
}

/* Return the text of X-Policy-Impact. Of a sample the numbers are estimates. */
static const char *
headline(const struct judging *j)
{
    struct impact_sample sample;
    bool sampled = bound_sample_read(j->result, &sample);
    long long denied = json_integer_value(json_object_get(j->result, "newlyDenied")),
              allowed = json_integer_value(json_object_get(j->result, "newlyAllowed"));
    return talloc_asprintf(j->op->mem, "id=%lld; newlyDenied=%lld; newlyAllowed=%lld%s",
                           (long long) j->id,
                           sampled ? (long long) bound_estimate(&sample, denied) : denied,
                           sampled ? (long long) bound_estimate(&sample, allowed) : allowed,
                           sampled ? "; sampled" : "");
}

static enum az_status
judge(struct judging *j, struct measured *ret, struct save_outcome *outcome)
{
    struct verdict *verdict = &j->verdict;
    enum az_status st =
        verdict_find(j->op, j->result, asks(j->plan) ? j->plan->limits->max : NULL, verdict);
    if (st != AZ_OK)
        return st;
    /* No guard stands in for what the request itself wants measured. */
    bool open = is_way_back(j), asked = open ? asks_limits(j->plan) : asks(j->plan);
    verdict->by_request = verdict->by_request || (j->lack != NULL && asked);
    if (j->lack == NULL)
        j->lack = verdict->lack;
    bool refused = j->lack != NULL || json_array_size(verdict->refused) > 0;
    if (refused && (verdict->by_request || !open)) {
        if (verdict->by_request || !overrides(j->plan, &j->guards))
            return refuse(j, outcome);
        note_override(j->plan, ret);
    }
    ret->counts = counts_text(j);
    if (ret->counts == NULL)
        return op_no_memory(j->op);
    if (j->result != NULL)
        outcome->impact = headline(j);
    return AZ_OK;
}

/* Make the candidate. One without a plan is not measured; a way back goes on whatever is wrong,
 * because the save itself finds that, too. */
static enum az_status
make_candidate(struct judging *j, struct save_outcome *outcome)
{
    json_t *ignored = NULL;
    enum az_status st = candidate_make(j->op, j->plan, outcome, &j->pair, &ignored);
    bool planless = st == AZ_UNAVAILABLE && j->pair.candidate.revision != NULL;
    if (!planless && (st == AZ_OK || !is_way_back(j)))
        return st;
    const char *why = outcome->refusal.description != NULL ? outcome->refusal.description
                                                           : j->op->fault.public_text;
    j->lack = talloc_strdup(j->op->mem, why != NULL ? why : "it cannot be made");
    outcome->refusal = (struct save_refusal){.error = NULL};
    az_fault_clear(&j->op->fault);
    return AZ_OK;
}

enum az_status
limits_measure(struct op *op, const struct save_plan *plan, int64_t seconds, struct measured *ret,
               struct save_outcome *outcome)
{
    struct judging j = {
        .op = op, .plan = plan, .from_ms = op->now_ms, .guards_from_ms = op->now_ms};
    enum az_status st = guards_read(op, &j.guards);
    if (st == AZ_OK)
        st = make_candidate(&j, outcome);
    if (st != AZ_OK)
        return st;
    *ret = (struct measured){.done = true,
                             .base = j.pair.base.revision,
                             .candidate = j.pair.candidate.revision,
                             .guards = j.guards.digest};
    if (ret->base != NULL && strcmp(ret->base, ret->candidate) == 0)
        return AZ_OK;
    st = add_watches(&j);
    if (is_way_back(&j) && seconds > LIMITS_ROLLBACK_SECONDS)
        seconds = LIMITS_ROLLBACK_SECONDS;
    if (st == AZ_OK && j.lack == NULL)
        st = run(&j, seconds);
    if (is_way_back(&j) && (st == AZ_BUSY || st == AZ_UNAVAILABLE)) {
        j.lack = "the measurement could not be made";
        az_fault_clear(&op->fault);
        st = AZ_OK;
    }
    return st == AZ_OK ? judge(&j, ret, outcome) : st;
}

/* ---- in the save's transaction */

bool
limits_fit(const struct save_plan *plan, const struct measured *measured,
           const struct guards *guards, const char *base, const char *candidate)
{
    if (!measured->done)
        return is_shipped(plan) || !guards_any(guards);
    return strcmp(measured->guards, guards->digest) == 0
           && (measured->base == NULL || strcmp(measured->base, base != NULL ? base : "none") == 0)
           && (measured->candidate == NULL || strcmp(measured->candidate, candidate) == 0);
}

enum az_status
limits_keep_guards(struct op *op, const struct save_plan *plan, const struct guards *before,
                   struct measured *measured, struct save_outcome *outcome)
{
    static const char why[] = "A change of " GUARDS_ROW " needs impactOverride, by an admin key "
                              "that the row lists in overrides (any key if it lists none)";
    struct guards after;
    if (is_shipped(plan))
        return AZ_OK;
    enum az_status st = guards_read(op, &after);
    if (st != AZ_OK)
        return st;
    if (!after.in_bundle)
        return op_fail(op, AZ_PROTECTED,
                       "The row " GUARDS_ROW " stays in the bundle, whose history has its changes",
                       NULL);
    if (strcmp(before->digest, after.digest) == 0)
        return AZ_OK;
    if (json_array_size(after.overrides) > 0 && !after.named)
        return op_fail(op, AZ_UNPROCESSABLE,
                       "The row " GUARDS_ROW
                       " must list in overrides an admin key that is valid and may "
                       "save, or a person who has signed in: else nobody could pass the guards",
                       NULL);
    if (!guards_are_kept(before))
        return AZ_OK;
    if (overrides(plan, before)) {
        note_override(plan, measured);
        return AZ_OK;
    }
    json_t *members =
        jsonx_own(op->mem, json_pack("{s:[{s:s}],s:b}", "refused", "row", GUARDS_ROW, "overridable",
                                     (int) may_override(plan, before)));
    if (members == NULL)
        return op_no_memory(op);
    outcome->refusal =
        (struct save_refusal){.error = "impact_refused", .description = why, .members = members};
    metrics_add(op->az->metrics, METRIC_IMPACT_REFUSED, 0, NULL);
    return op_fail(op, AZ_UNPROCESSABLE, NULL, "impact_refused: %s", why);
}

bool
limits_override(const struct save_plan *plan, const struct guards *guards,
                struct measured *measured)
{
    bool may = overrides(plan, guards);
    if (may)
        note_override(plan, measured);
    return may;
}

void
limits_tell_override(const struct op *op, const struct save_plan *plan,
                     const struct measured *measured, const struct save_outcome *outcome)
{
    if (measured->override_by != NULL && plan->mode != SAVE_DRY_RUN) {
        log_text(AZ_SEV_WARN, "policy guards overridden", "%s, revision %s: %s", plan->who,
                 outcome->revision, measured->override_reason);
        metrics_add(op->az->metrics, METRIC_IMPACT_OVERRIDDEN, 0, NULL);
    }
}
