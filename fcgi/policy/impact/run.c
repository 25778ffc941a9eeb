#include "config.h"

#include <time.h>

#include "base/clock.h"
#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "crypto/random.h"
#include "metrics/metrics.h"
#include "policy/impact/impact.h"
#include "policy/impact/replay.h"
#include "store/audit/read/mark.h"
#include "store/policy/sample.h"

/* A run. */
struct run {
    impact_progress_fn *progress;
    void *arg; /* of progress */
    const struct impact_selection *selection;
    struct replay *replay;
    struct tally *tally;
    struct audit_walk walk;
    struct audit_mark mark;
    struct audit_filter filter; /* of the selection, with the sample */
    struct sample sample;
    int64_t until_ms;   /* when it ends in any case; clock_monotonic_ms() */
    int64_t counted_us; /* when the last step of counting began; clock_monotonic_us() */
    bool truncated;     /* not all was looked at */
};

/* True if the time is over. There are no more rows than may be looked at, or a sample of so many.
 */
static bool
is_over(const struct run *run)
{
    return clock_monotonic_ms() >= run->until_ms;
}

/* Decide the rows of one step. Each has memory of its own: a document may be 1 MB when unpacked. */
static enum az_status
decide_rows(struct op *op, struct run *run, const PGresult *result)
{
    enum az_status st = AZ_OK;
    for (int i = 0; i < PQntuples(result) && st == AZ_OK && !run->truncated; i++) {
        struct audit_row row;
        struct op each = op_beside(op, talloc_new(op->mem));
        if (each.mem == NULL)
            return op_no_memory(op);
        st = audit_rows_get(&each, result, i, &row);
        if (st == AZ_OK && row.id <= run->mark.last) {
            run->truncated = is_over(run);
            if (!run->truncated)
                st = replay_row(&each, run->replay, &row, run->selection->evaluation, run->tally);
        }
        if (st == AZ_OK)
            st = run->progress(&each, run->arg, tally_looked(run->tally));
        op->fault = each.fault;
        talloc_free(each.mem);
    }
    return st;
}

/* Sleep as long as the step took: requests and the database come first. */
static void
rest(int64_t worked_us)
{
    const struct timespec pause = {worked_us / 1000000, worked_us % 1000000 * 1000};
    nanosleep(&pause, NULL);
}

static enum az_status
run_step(struct op *op, struct run *run, bool *ret_more)
{
    int64_t started = clock_monotonic_us();
    PGresult *result;
    struct op step = op_beside(op, talloc_new(op->mem));
    if (step.mem == NULL)
        return op_no_memory(op);
    enum az_status st = audit_walk_next(&step, &run->walk, &result, ret_more);
    if (st == AZ_OK && result != NULL)
        st = decide_rows(&step, run, result);
    op->fault = step.fault;
    talloc_free(step.mem);
    rest(clock_monotonic_us() - started);
    return st;
}

/* Rest after a step of counting, note that no row is decided yet, and find out if the time is over.
 */
static enum az_status
pause_counting(struct op *op, void *arg, bool *ret_over)
{
    struct run *run = arg;
    rest(clock_monotonic_us() - run->counted_us);
    enum az_status st = run->progress(op, run->arg, 0);
    run->counted_us = clock_monotonic_us();
    *ret_over = is_over(run);
    return st;
}

/* Choose the rows: all, or a sample of as many as may be looked at. */
static enum az_status
choose_rows(struct op *op, struct run *run)
{
    uint32_t seed = 0;
    enum az_status st = random_nonce(&seed, sizeof(seed));
    if (st != AZ_OK)
        return op_fail(op, st, NULL, "no random seed for a sample");
    const struct sample_choice choice = {.last = run->mark.last,
                                         .most = run->selection->decisions,
                                         .seed = seed,
                                         .pause = pause_counting,
                                         .arg = run};
    run->counted_us = clock_monotonic_us();
    st = sample_choose(op, &run->filter, &choice, &run->sample);
    run->truncated = run->sample.over;
    if (st == AZ_OK && run->sample.partial)
        run->filter.sample = &run->sample.audit;
    return st;
}

/* Set what the sample is; its bounds hold if all of it was looked at. */
static void
write_sample(const struct run *run, struct jsonx_build *out)
{
    const struct sample *sample = &run->sample;
    if (!sample->partial)
        return;
    jsonx_set(out, "sampled",
              json_pack("{s:f,s:I,s:I,s:I,s:I}", "p", sample->p, "seed",
                        (json_int_t) sample->audit.seed, "selected", (json_int_t) sample->rows,
                        "taken", (json_int_t) sample->taken, "widest",
                        (json_int_t) tally_widest(run->tally)));
}

/* Return the answer: the counts, and what they are of. */
static enum az_status
write_answer(struct op *op, const struct run *run, const struct impact_pair *pair, json_t **ret)
{
    char from[ISO8601_MS_SIZE] = "", to[ISO8601_MS_SIZE] = "";
    if (run->sample.partial && !run->truncated)
        tally_sampled(run->tally, run->sample.rows, run->sample.taken);
    json_t *counts = tally_json(op->mem, run->tally, IMPACT_KEYS_SHOWN);
    const struct audit_filter *filter = &run->selection->filter;
    if (counts == NULL)
        return op_no_memory(op);
    iso8601_format_ms(filter->from_ms, from);
    iso8601_format_ms(filter->until_ms, to);
    struct jsonx_build out = {
        jsonx_own(op->mem, json_pack("{s:s,s:s,s:I,s:s,s:s,s:b,s:b}", "baseRevision",
                                     pair->base.revision, "candidateRevision",
                                     pair->candidate.revision, "asOf", (json_int_t) run->mark.last,
                                     "from", from, "to", to, "truncated", (int) run->truncated,
                                     "empty", tally_looked(run->tally) == 0 && !run->truncated)),
        false};
    if (out.value == NULL || json_object_update(out.value, counts) != 0)
        return op_no_memory(op);
    write_sample(run, &out);
    jsonx_set(&out, "blind", json_incref(replay_blind(op->mem, run->replay)));
    *ret = jsonx_built(&out);
    return *ret != NULL ? AZ_OK : op_no_memory(op);
}

enum az_status
impact_run(struct op *op, const struct impact_pair *pair, const struct impact_selection *selection,
           impact_progress_fn *progress, void *arg, json_t **ret)
{
    struct run run = {.progress = progress,
                      .arg = arg,
                      .selection = selection,
                      .filter = selection->filter,
                      .tally = tally_new(op->mem, selection->examples, selection->watches),
                      .until_ms = clock_monotonic_ms() + selection->seconds * 1000};
    const int64_t started_us = clock_monotonic_us();
    bool more = true;
    if (run.tally == NULL)
        return op_no_memory(op);
    enum az_status st = replay_new(op, pair, &run.replay);
    if (st == AZ_OK && (st = audit_mark_find(op, &run.mark)) == AZ_RETRY)
        st = op_fail(op, AZ_UNAVAILABLE, NULL,
                     "policy impact: a transaction that writes audit rows does not end");
    if (st == AZ_OK)
        st = choose_rows(op, &run);
    if (st == AZ_OK)
        st = audit_walk_begin(op, &run.filter, &run.walk);
    while (st == AZ_OK && more && !run.truncated) {
        st = run_step(op, &run, &more);
        run.truncated = run.truncated || (more && clock_monotonic_ms() >= run.until_ms);
    }
    const char *const result[] = {st != AZ_OK          ? "failed"
                                  : run.truncated      ? "truncated"
                                  : run.sample.partial ? "sampled"
                                                       : "whole"};
    metrics_add(op->az->metrics, METRIC_IMPACT_RUNS, 0, result);
    metrics_observe(op->az->metrics, METRIC_IMPACT_SECONDS, 0, clock_monotonic_us() - started_us);
    return st == AZ_OK ? write_answer(op, &run, pair, ret) : st;
}
