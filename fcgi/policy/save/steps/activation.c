#include "config.h"

#include "policy/save/steps/activation.h"

#include <string.h>
#include <talloc.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "policy/engine/engine.h"
#include "policy/save/steps/save_lock.h"
#include "store/db/db.h"
#include "store/policy/engines.h"

/*
 * An engine that works answers the status within milliseconds, also while it compiles. One that is
 * stopped would keep a save of the other engines waiting for the whole policy timeout, each time.
 * Milliseconds.
 */
#define OWN_STATUS_MS 500

/* A wait for the engines. Times are monotonic, in milliseconds. */
struct activation_wait {
    int64_t started;          /* the bundle was published, or the engines were called */
    int64_t asked;            /* the engine beside this process was asked last */
    const char *revision;     /* of the bundle */
    int64_t own_since;        /* that engine was first seen to have it; 0: not yet */
    struct engines_look look; /* what is known of that engine */
    const char *late;         /* names of the engines that were awaited last, or NULL */
};

/*
 * Ask the engine beside this process once in a poll interval and store its answer as its report:
 * its own may be late or lost. True if it answered. The status lives on memory of its own, because
 * it is long and a wait asks many times.
 */
static bool
ask_and_report(struct op *op, struct activation_wait *wait)
{
    struct op look = op_beside(op, talloc_new(op->mem));
    struct engine_status status = {.active_revision = NULL};
    int64_t now = clock_monotonic_ms();
    bool answered = false;
    if (now - wait->asked >= op->az->cfg->bundle_confirm_poll_ms && look.mem != NULL) {
        answered = engine_revision(&look, OWN_STATUS_MS, &status) == AZ_OK;
        wait->asked = clock_monotonic_ms();
    }
    if (answered) {
        const struct engine_report report = {
            .instance = status.instance,
            .revision = status.active_revision,
            .code = status.code,
            .message = status.message,
            .tried_ms = status.tried_ms,
            .transport = status.transport,
        };
        if (report.instance != NULL && engines_report(&look, &report) != AZ_OK)
            log_text(AZ_SEV_WARN, "engine report lost", "%s", look.fault.detail);
        wait->look.own_revision = talloc_strdup(op->mem, status.active_revision);
        wait->look.own_instance = talloc_strdup(op->mem, status.instance);
        bool has = strcmp(status.active_revision, wait->revision) == 0;
        wait->own_since = !has ? 0 : wait->own_since != 0 ? wait->own_since : now;
    }
    wait->look.impatient =
        wait->own_since != 0 && now - wait->own_since >= op->az->cfg->bundle_fetch_grace_ms;
    talloc_free(look.mem);
    return answered;
}

/* Wait for a notification, at most one poll interval, until the grace of silent engines ends, and
 * for the time that is left. False when the time is up. */
static bool
wait_for_news(struct op *op, const struct activation_wait *wait, long timeout_ms)
{
    const struct settings *cfg = op->az->cfg;
    int64_t waited = clock_monotonic_ms() - wait->started, left = timeout_ms - waited;
    int64_t grace = cfg->bundle_fetch_grace_ms - waited;
    if (left <= 0)
        return false;
    if (grace > 0 && grace < left)
        left = grace;
    db_wait(op, (int) (left < cfg->bundle_confirm_poll_ms ? left : cfg->bundle_confirm_poll_ms));
    return true;
}

static struct activation_wait
wait_begin(const char *revision)
{
    int64_t now = clock_monotonic_ms();
    return (struct activation_wait){.started = now, .asked = now, .revision = revision};
}

/* Tell which engines are awaited. Engines that stopped answering are not awaited any more, but are
 * named while no other engine has the bundle: the operator should look at them. */
static void
tell_wait(struct op *op, struct activation_wait *wait, const char *late)
{
    if (late != NULL)
        wait->late = late;
    save_notice(op, wait->started, "waiting for %s to confirm revision %s, for at most %ld s",
                wait->late != NULL ? wait->late : "a policy engine", wait->revision,
                op->az->cfg->bundle_confirm_timeout_ms / 1000);
}

enum az_status
activation_call(struct op *op)
{
    struct activation_wait wait = wait_begin("");
    const char *before = NULL, *late = "";
    enum az_status st = engines_call(op, &before);
    while (before != NULL && st == AZ_OK && late != NULL) {
        if (*op->az->stopping)
            return op_fail(op, AZ_UNAVAILABLE, NULL, "the process is stopping");
        if (*late != '\0')
            save_notice(op, wait.started, "waiting for %s to ask for the bundle again", late);
        if (!wait_for_news(op, &wait, op->az->cfg->bundle_fetch_grace_ms))
            break;
        st = engines_unanswered(op, before, &late);
    }
    return st;
}

/* Read the reports; if they decide nothing, ask the engine beside this process and read again. */
static enum az_status
look_at_reports(struct op *op, int64_t bundle, struct activation_wait *wait, struct activation *ret)
{
    struct engines_verdict verdict = {.taken = false};
    enum az_status st = engines_verdict(op, bundle, &wait->look, &verdict);
    if (st == AZ_OK && !verdict.taken && verdict.refusal == NULL && ask_and_report(op, wait)) {
        ret->reached = true;
        st = engines_verdict(op, bundle, &wait->look, &verdict);
    }
    ret->taken = verdict.taken;
    ret->refusal = verdict.refusal;
    ret->refused_by = verdict.refused_by;
    ret->active = verdict.active != NULL ? verdict.active : wait->look.own_revision;
    ret->late = verdict.late;
    ret->reached = ret->reached || verdict.heard;
    return st;
}

enum az_status
activation_await(struct op *op, unsigned session, int64_t bundle, const char *revision,
                 struct activation *ret)
{
    struct activation_wait wait = wait_begin(revision);
    *ret = (struct activation){.taken = false};
    for (;;) {
        enum az_status st =
            save_lock_held(op, session) ? look_at_reports(op, bundle, &wait, ret) : AZ_UNAVAILABLE;
        if (st == AZ_OK && !save_lock_held(op, session))
            st = AZ_UNAVAILABLE;
        if (st != AZ_OK)
            return op_fail(op, st, NULL, "database: the session with the save lock was lost");
        if (ret->taken || ret->refusal != NULL)
            return AZ_OK;
        if (*op->az->stopping)
            return op_fail(op, AZ_UNAVAILABLE, NULL, "the process is stopping");
        tell_wait(op, &wait, ret->late);
        if (!wait_for_news(op, &wait, op->az->cfg->bundle_confirm_timeout_ms))
            return AZ_OK;
    }
}

bool
activation_follow(struct op *op, const char *revision)
{
    struct activation_wait wait = wait_begin(revision);
    for (;; ask_and_report(op, &wait)) {
        struct op look = op_beside(op, op->mem);
        bool confirmed = false;
        const char *late = NULL;
        if (engines_settle(&look, &wait.look, &confirmed, &late) != AZ_OK) {
            log_text(AZ_SEV_WARN, "activation check aborted", "%s", look.fault.detail);
            return false;
        }
        if (confirmed)
            return true;
        tell_wait(op, &wait, late);
        if (*op->az->stopping || !wait_for_news(op, &wait, op->az->cfg->bundle_confirm_timeout_ms))
            return false;
    }
}
