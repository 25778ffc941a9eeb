#include "config.h"

#include "policy/shadow/serve.h"

#include <malloc.h>
#include <string.h>

#include "base/background.h"
#include "base/clock.h"
#include "base/log.h"
#include "policy/shadow/result.h"
#include "policy/shadow/shadow_private.h"
#include "store/policy/plans.h"
#include "store/policy/shadow.h"

/* Data and stack of the process, in octets: one of the largest plans takes half of it
 * (ENGINE_PLAN_OCTETS_MAX). */
#define SERVE_MEMORY ((size_t) 512 << 20)
/* Time between two looks for another shadow or another base, in milliseconds. */
#define LOOK_MS 1000
/* Time between two reports of new counts, and of a large result, which is not written each second;
 * and between two reports without new counts, which show that a host compares. */
#define REPORT_MS 1000
#define LARGE_REPORT_MS 10000
#define LARGE_OCTETS ((size_t) 64 << 10)
/* Time before a shadow that could not be made now is tried again, in milliseconds. */
#define AGAIN_MS 10000

/* The state of this process. */
struct serving {
    struct op *op;
    int64_t id;                   /* of the shadow; 0 if there is no shadow yet */
    char *change;                 /* of the shadow */
    struct shadow_policy *policy; /* NULL: it cannot be made of the base */
    char *base;                   /* revision that it was tried with */
    bool again;                   /* it may be possible later */
    int64_t tried_ms;             /* clock_monotonic_ms() of the last try */
    struct shadow_counts counts;  /* since the last report */
    int64_t dropped;              /* so, as far as it was taken from the tap */
    int64_t reported_ms, looked_ms;
    struct impact_routes *routes; /* since the last look */
    size_t octets;                /* of the stored result */
};

static struct op
step_of(const struct serving *serving)
{
    struct op step = op_beside(serving->op, talloc_new(serving->op->mem));
    step.now_ms = clock_realtime_ms();
    return step;
}

static void
complain(const char *what, const struct op *step)
{
    log_text(AZ_SEV_WARN, "policy shadow", "%s: %s", what, step->fault.detail);
}

/* ---- the shadow and its base */

/* Begin another shadow. */
static enum az_status
begin(struct op *op, struct serving *serving, const struct shadow_work *work)
{
    TALLOC_FREE(serving->policy);
    TALLOC_FREE(serving->base);
    talloc_free(serving->change);
    talloc_free(serving->counts.tally);
    serving->counts = (struct shadow_counts){tally_new(serving->op->mem, SHADOW_EXAMPLES, NULL), 0};
    serving->dropped = 0;
    serving->octets = 0;
    serving->reported_ms = 0; /* the first report shows that this host compares */
    serving->id = work->id;
    serving->change = work->change != NULL ? talloc_strdup(serving->op->mem, work->change) : NULL;
    if (serving->change != NULL && serving->counts.tally != NULL)
        return AZ_OK;
    serving->id = 0; /* it is read again */
    return op_no_memory(op);
}

/* Make the shadow of a base, and note what became of it. */
static enum az_status
make(struct op *op, struct serving *serving, const char *base)
{
    const char *why = NULL;
    struct op making = op_beside(op, op->mem);
    TALLOC_FREE(serving->policy);
    enum az_status st =
        shadow_build(&making, serving->op->mem, serving->change, &serving->policy, &why);
    talloc_free(serving->base);
    serving->base = talloc_strdup(serving->op->mem, base);
    serving->again = st == AZ_UNAVAILABLE;
    serving->tried_ms = clock_monotonic_ms();
    malloc_trim(0); /* the texts took many times what is kept */
    if (st != AZ_OK)
        log_text(AZ_SEV_WARN, "policy shadow", "it cannot be made of revision %s: %s", base, why);
    const struct shadow_policy *made = serving->policy;
    return shadow_note(op, serving->id, made != NULL ? made->base : NULL,
                       made != NULL ? made->candidate : NULL, made != NULL ? NULL : why);
}

/* Make the shadow again if the base is another one, or if it can be tried again. */
static enum az_status
follow(struct op *op, struct serving *serving)
{
    const char *held = serving->policy != NULL ? serving->policy->base : serving->base;
    const struct plan_known known = {.revision = held, .compare = true};
    struct plan_current now;
    enum az_status st = plan_current(op, &known, &now);
    if (st != AZ_OK || now.revision == NULL)
        return st;
    bool due = serving->again && clock_monotonic_ms() - serving->tried_ms >= AGAIN_MS;
    return now.known && !due ? AZ_OK : make(op, serving, now.revision);
}

/* Look for another shadow or base. False: there is no shadow. */
static bool
look(struct serving *serving)
{
    struct op step = step_of(serving);
    struct shadow_work work = {.id = 0};
    talloc_free(serving->routes);
    serving->routes = impact_routes_new(serving->op->mem);
    enum az_status st = shadow_fetch_active(&step, serving->id, &work);
    bool goes_on = st == AZ_OK ? work.id != 0 : serving->id != 0;
    if (st == AZ_OK && work.id != 0 && work.id != serving->id)
        st = begin(&step, serving, &work);
    if (st == AZ_OK && goes_on)
        st = follow(&step, serving);
    if (st == AZ_OK && goes_on)
        shadow_tap_set_rate(step.az->shadow_tap, serving->policy != NULL ? work.rate : 0);
    if (st != AZ_OK)
        complain("not looked at", &step);
    talloc_free(step.mem);
    return goes_on;
}

/* ---- decisions */

/* Take a decision, if one comes before the next look, and compare it. */
static void
take(struct serving *serving)
{
    struct shadow_question question;
    int64_t left = LOOK_MS - (clock_monotonic_ms() - serving->looked_ms);
    if (!shadow_tap_receive(serving->op->az->shadow_tap, left > 0 ? (int) left : 0, &question)
        || serving->policy == NULL)
        return;
    struct op step = step_of(serving);
    if (shadow_compare(&step, serving->policy, serving->routes, &question, &serving->counts)
        != AZ_OK)
        complain("a decision was not compared", &step);
    talloc_free(step.mem);
}

/* Report what was counted, if it is time to. */
static void
report(struct serving *serving, bool last)
{
    int64_t passed = clock_monotonic_ms() - serving->reported_ms;
    serving->dropped += shadow_tap_take_dropped(serving->op->az->shadow_tap);
    bool new = serving->dropped > 0 || serving->counts.moved > 0
               || tally_looked(serving->counts.tally) > 0;
    int64_t wait = new && serving->octets < LARGE_OCTETS ? REPORT_MS : LARGE_REPORT_MS;
    if (passed < wait && !(last && new))
        return;
    struct op step = step_of(serving);
    enum az_status st =
        shadow_report(&step, serving->id, &serving->counts, serving->dropped, &serving->octets);
    struct tally *empty = st == AZ_OK ? tally_new(serving->op->mem, SHADOW_EXAMPLES, NULL) : NULL;
    serving->reported_ms = clock_monotonic_ms();
    if (empty != NULL) {
        talloc_free(serving->counts.tally);
        serving->counts = (struct shadow_counts){empty, 0};
        serving->dropped = 0;
    } else if (st != AZ_NOT_FOUND) {
        complain("counts not stored", &step);
    }
    talloc_free(step.mem);
}

void
shadow_serve(struct op *op)
{
    struct serving serving = {.op = op};
    struct shadow_tap *tap = op->az->shadow_tap;
    struct shadow_question old;
    background_begin("authz-shadow", SERVE_MEMORY);
    bool goes_on = look(&serving);
    while (goes_on && !*op->az->stopping) {
        serving.looked_ms = clock_monotonic_ms();
        while (!*op->az->stopping && clock_monotonic_ms() - serving.looked_ms < LOOK_MS)
            take(&serving);
        if (serving.id != 0)
            report(&serving, false);
        goes_on = look(&serving);
    }
    shadow_tap_set_rate(tap, 0);
    while (shadow_tap_receive(tap, 0, &old)) /* sent meanwhile: the next shadow is another */
        continue;
    if (serving.id != 0)
        report(&serving, true);
}
