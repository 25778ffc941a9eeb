#include "config.h"

#include "policy/engine/engine_embedded.h"

#include <malloc.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "metrics/metrics.h"
#include "policy/engine/archive_read.h"
#include "policy/engine/engine_plan.h"
#include "policy/engine/entrypoints.h"
#include "policy/engine/policy_texts.h"
#include "policy/engine/shared_data.h"
#include "policy/engine/witness.h"
#include "store/policy/plans.h"

/* The name of this engine in audit rows: the package of OPA that describes its plans. */
#define ENGINE_NAME "embedded/ir-v1"

/* Time after which a process without a plan queries for one again, in milliseconds: a save stores
 * the plan shortly after the revision may decide. */
#define LOOK_AGAIN_MS 1000

/* The policy that this process holds. */
struct embedded {
    const char *revision;       /* on this; NULL if no revision was published */
    struct engine_plan *plan;   /* NULL: OPA decides */
    struct shared_tree *shared; /* its data, on this; NULL: they are in the plan alone */
    const char *lack;           /* why there is no plan, on this; NULL: there is one */
    int64_t looked_ms;          /* time of the last query for a revision, clock_monotonic_ms() */
    bool told[ENTRYPOINTS];     /* the reason why OPA decides it is logged */
    bool behind;                /* another revision may decide: OPA does, until it is loaded */
};

bool
embedded_wanted(const struct az *az)
{
    return settings_engine_is_embedded(az->cfg);
}

/* Find the data of a revision: those that the workers share (`newest`, or NULL), or read them from
 * the archive, where others can use them if possible. */
static enum az_status
read_data(struct op *op, const struct plan_current *stored, struct shared_tree *newest,
          struct embedded *made, struct engine_plan_texts *texts)
{
    enum az_status st = AZ_OK;
    if (stored->body == NULL)
        made->shared = newest;
    else
        st = policy_texts_data(op->mem, stored->body, stored->body_length, &texts->data,
                               &texts->data_length);
    if (st == AZ_OK && stored->body != NULL && op->az->shared_data != NULL)
        made->shared = shared_data_read(op->mem, op->az->shared_data, stored->revision, texts->data,
                                        texts->data_length);
    if (made->shared != NULL)
        texts->tree = talloc_steal(made, made->shared)->data;
    return st;
}

/* Unpack what is stored. `before` may have the plan. Return why it cannot be used, or NULL. */
static const char *
read_stored(struct op *op, const struct plan_current *stored, struct shared_tree *newest,
            struct engine_plan *before, struct embedded *made)
{
    struct engine_plan_texts texts = {.name = stored->modules};
    char *plan = NULL;
    const char *why = NULL;
    enum az_status st = AZ_OK;
    if (stored->plan != NULL)
        st = archive_unpack(op->mem, stored->plan, stored->plan_length, POLICY_PLAN_MAX, &plan,
                            &texts.plan_length);
    if (st == AZ_INVALID || st == AZ_TOO_LARGE)
        plan_forget(op, stored->modules);
    if (st == AZ_OK)
        st = read_data(op, stored, newest, made, &texts);
    if (st != AZ_OK)
        return "what is stored of it is damaged";
    texts.plan = plan;
    made->plan = engine_plan_read(made, &texts, before, &why);
    return why;
}

/* Make the held policy from the stored one. The earlier plan is used again if only data changed. */
static struct embedded *
make_held(struct op *op, const struct plan_current *stored, struct shared_tree *newest)
{
    struct embedded *made = talloc_zero(op->az, struct embedded);
    struct engine_plan *before = op->az->embedded != NULL ? op->az->embedded->plan : NULL;
    const char *why = stored->note != NULL ? stored->note : "no plan is stored";
    if (made == NULL)
        return NULL;
    made->revision = stored->revision != NULL ? talloc_strdup(made, stored->revision) : NULL;
    if (stored->modules != NULL && made->revision != NULL)
        why = read_stored(op, stored, newest, before, made);
    made->lack = made->plan == NULL ? talloc_strdup(made, why) : NULL;
    return made;
}

/* Say once for each revision why OPA decides all of it. */
static void
log_lack(const struct embedded *held)
{
    const struct log_field fields[] = {LOG_TEXT("revision", held->revision),
                                       LOG_TEXT("detail", held->lack)};
    if (held->lack != NULL && held->revision != NULL)
        log_line(AZ_SEV_WARN, "OPA decides: no plan", fields, 2);
}

/* Replace the held policy with the loaded one. */
static void
hold(struct az *az, struct embedded *made)
{
    struct embedded *old = az->embedded;
    bool again = old != NULL && old->revision != NULL && made->revision != NULL
                 && strcmp(old->revision, made->revision) == 0;
    if (!again)
        log_lack(made);
    az->embedded = made;
    talloc_free(old);
    malloc_trim(0); /* the texts took many times what is kept */
}

/*
 * Begin to load a plan: true if no other worker of the host loads one, and then end_turn() follows.
 * All of them would read it at the same moment, which takes 20 ms of a processor each, and answer
 * nothing meanwhile.
 */
static bool
begin_turn(const struct az *az)
{
    return az->shared_data == NULL || shared_data_begin_turn(az->shared_data);
}

static void
end_turn(const struct az *az)
{
    if (az->shared_data != NULL)
        shared_data_end_turn(az->shared_data);
}

/*
 * Load the revision that may decide, unless it is held already. True if another one is held now,
 * or, with `later`, if there is another one with another plan: then OPA decides until
 * embedded_catch_up() loads it. After a failure the held policy stays, and the operation has no
 * fault: its own statements will fail in the same way.
 */
static bool
load_acceptable(struct op *from, bool later)
{
    struct az *az = from->az;
    struct op op = {.mem = talloc_new(from->mem),
                    .az = az,
                    .request_id = from->request_id,
                    .now_ms = from->now_ms};
    struct shared_tree *newest =
        az->shared_data != NULL ? shared_data_newest(op.mem, az->shared_data) : NULL;
    struct plan_known known = {.data = newest != NULL ? newest->revision : NULL, .compare = later};
    if (az->embedded != NULL && az->embedded->plan != NULL) {
        known.revision = az->embedded->revision;
        known.modules = engine_plan_name(az->embedded->plan);
    }
    struct plan_current stored;
    struct embedded *made = NULL;
    enum az_status st = plan_current(&op, &known, &stored);
    later = later && st == AZ_OK && !stored.known;
    if (later && !stored.other_plan) {
        known.compare = later = false;
        st = plan_current(&op, &known, &stored);
    }
    if (st == AZ_OK && !stored.known && !later)
        made = make_held(&op, &stored, newest);
    talloc_free(op.mem);
    if (made != NULL)
        hold(az, made);
    if (az->embedded != NULL) {
        az->embedded->looked_ms = clock_monotonic_ms();
        az->embedded->behind = later;
    }
    return made != NULL || later;
}

/* Load the revision that may decide, at once if it is our turn. If not, and if a plan is held, OPA
 * decides meanwhile; a second call, when OPA has failed too, does not wait for the turn. */
static bool
load_in_turn(struct op *op)
{
    struct az *az = op->az;
    bool turn = begin_turn(az);
    bool held = az->embedded != NULL && az->embedded->plan != NULL;
    bool changed = load_acceptable(op, !turn && held && !embedded_behind(az));
    if (turn)
        end_turn(az);
    return changed;
}

/* Return the policy that this process holds, after a query for a plan if one is due, or NULL. */
static struct embedded *
held_now(struct op *op)
{
    embedded_catch_up(op);
    const struct embedded *held = op->az->embedded;
    if (held == NULL
        || (held->plan == NULL && clock_monotonic_ms() - held->looked_ms >= LOOK_AGAIN_MS))
        load_acceptable(op, false);
    return op->az->embedded;
}

bool
embedded_renew(struct op *op)
{
    const struct embedded *held = op->az->embedded;
    const char *before =
        held != NULL && held->revision != NULL ? talloc_strdup(op->mem, held->revision) : NULL;
    if (!load_in_turn(op))
        return false;
    held = op->az->embedded;
    return held->behind
           || (held->revision != NULL && (before == NULL || strcmp(held->revision, before) != 0));
}

bool
embedded_behind(const struct az *az)
{
    return az->embedded != NULL && az->embedded->behind;
}

void
embedded_catch_up(struct op *op)
{
    if (!embedded_behind(op->az) || !begin_turn(op->az))
        return;
    load_acceptable(op, false);
    end_turn(op->az);
}

bool
embedded_holds(const struct az *az, const char *revision)
{
    const struct embedded *held = az->embedded;
    return held != NULL && held->revision != NULL && strcmp(held->revision, revision) == 0;
}

void
embedded_follow(struct op *op, const char *revision)
{
    if (!embedded_holds(op->az, revision) && !embedded_behind(op->az))
        load_in_turn(op);
}

/* Return the number of an entrypoint, or ENTRYPOINTS. */
static size_t
entrypoint_number(const char *path)
{
    size_t i = 0;
    while (i < ENTRYPOINTS && strcmp(entrypoint_paths[i], path) != 0)
        i++;
    return i;
}

/* Count that OPA decides, and log the reason once for each entrypoint and revision. */
static void
note_give_up(struct op *op, struct embedded *held, const char *entrypoint, const char *why)
{
    size_t index = entrypoint_number(entrypoint);
    metrics_add(op->az->metrics, METRIC_GIVE_UPS, 0, (const char *const[]){entrypoint});
    if (index == ENTRYPOINTS || held->told[index])
        return;
    held->told[index] = true;
    const struct log_field fields[] = {LOG_TEXT("entrypoint", entrypoint),
                                       LOG_TEXT("revision", held->revision),
                                       LOG_TEXT("detail", why)};
    log_line(AZ_SEV_WARN, "OPA decides: the machine gave up", fields, 3);
}

/* Count an answer of the machine, or its failure. */
static void
count_answer(struct op *op, bool answered, long us)
{
    const char *const values[] = {"embedded", answered ? "answered" : "failed"};
    metrics_add(op->az->metrics, METRIC_ENGINES, 0, values);
    metrics_observe(op->az->metrics, METRIC_EMBEDDED_SECONDS, 0, us);
}

static int64_t
realtime_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

enum az_status
embedded_evaluate(struct op *op, const char *entrypoint, const json_t *input,
                  struct engine_answer *ret, bool *ret_ask_opa)
{
    struct embedded *held = held_now(op);
    char why[REGO_WHY_SIZE] = "";
    *ret_ask_opa = held == NULL || held->plan == NULL || held->behind
                   || witness_distrusts(op->az->witness, entrypoint, held->revision);
    if (*ret_ask_opa)
        return AZ_OK;
    char *rule = talloc_asprintf(op->mem, "%s" ENTRYPOINT_RULE, entrypoint);
    ret->asked.document = input;
    ret->revision = talloc_strdup(op->mem, held->revision);
    ret->engine = ENGINE_NAME;
    if (rule == NULL || ret->revision == NULL)
        return op_no_memory(op);
    int64_t started = clock_monotonic_us();
    const struct engine_plan_question question = {
        .entrypoint = rule,
        .document = input,
        .document_length = &ret->asked.length,
        .now_ns = realtime_ns(),
        .deadline_us = started + op->az->cfg->policy_timeout_ms * 1000,
    };
    enum rego_outcome outcome = engine_plan_run(op->mem, held->plan, &question, &ret->result, why);
    ret->us = (long) (clock_monotonic_us() - started);
    if (outcome == REGO_GIVE_UP) {
        note_give_up(op, held, entrypoint, why);
        *ret = (struct engine_answer){.result = NULL};
        *ret_ask_opa = true;
        return AZ_OK;
    }
    count_answer(op, outcome == REGO_DONE, ret->us);
    if (outcome == REGO_DONE) {
        ret->lack = ret->result == NULL ? NO_DECISION_UNDEFINED : NO_DECISION_INVALID;
        return AZ_OK;
    }
    if (outcome == REGO_CONFLICT)
        witness_note_conflict(op->az->witness, entrypoint, held->revision);
    /* The same statuses as with OPA, which answers a contradiction with 500, and a long evaluation
     * too late. */
    ret->lack = outcome == REGO_CONFLICT ? NO_DECISION_INVALID : NO_DECISION_UNREACHABLE;
    ret->revision = NULL;
    return op_fail(op, AZ_UNAVAILABLE, NULL, "policy engine: evaluation failed: %s", why);
}

enum az_status
embedded_check(struct op *op, const char **ret_note)
{
    *ret_note = NULL;
    load_acceptable(op, false);
    const struct embedded *held = op->az->embedded;
    if (held == NULL || held->revision == NULL)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "no revision may decide yet");
    if (held->plan == NULL)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "OPA decides by revision %s: %s", held->revision,
                       held->lack);
    for (size_t i = 0; i < ENTRYPOINTS; i++) {
        const char *rule = talloc_asprintf(op->mem, "%s" ENTRYPOINT_RULE, entrypoint_paths[i]);
        const char *lacks = rule != NULL ? engine_plan_lacks(op->mem, held->plan, rule) : NULL;
        if (lacks != NULL)
            *ret_note = talloc_asprintf(op->mem, "%s%s%s: %s", *ret_note != NULL ? *ret_note : "",
                                        *ret_note != NULL ? "; " : "OPA decides some of ",
                                        entrypoint_paths[i], lacks);
    }
    for (size_t i = 0; i < ENTRYPOINTS; i++)
        if (witness_distrusts(op->az->witness, entrypoint_paths[i], held->revision))
            return op_fail(op, AZ_UNAVAILABLE, NULL,
                           "OPA decides %s by revision %s: it gave another answer than the machine",
                           entrypoint_paths[i], held->revision);
    return AZ_OK;
}

enum az_status
embedded_check_conflicts(struct op *op)
{
    const struct embedded *held = op->az->embedded;
    for (size_t i = 0; held != NULL && held->revision != NULL && i < ENTRYPOINTS; i++)
        if (witness_saw_conflict(op->az->witness, entrypoint_paths[i], held->revision))
            return op_fail(
                op, AZ_UNAVAILABLE, NULL,
                "the rules of revision %s contradict themselves for questions to %s, which "
                "are answered by 503: the log names the rule",
                held->revision, entrypoint_paths[i]);
    return AZ_OK;
}
