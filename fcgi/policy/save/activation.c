#include "config.h"

#include "policy/save/activation.h"

#include <talloc.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"
#include "policy/decide/engine.h"
#include "policy/save/save_lock.h"
#include "store/db/db.h"
#include "store/policy/engines.h"

/*
 * Ask the engine beside this process and store its answer as its report: its own may be late or
 * lost. Return its active revision, or NULL when it does not answer. The status lives on memory of
 * its own, because it is long and a wait asks many times.
 */
static const char *
ask_and_report(struct op *op)
{
    struct op look = {.mem = talloc_new(op->mem), .az = op->az, .now_ms = op->now_ms};
    struct engine_status status = {.active_revision = NULL};
    const char *active = NULL;
    if (look.mem != NULL && engine_revision(&look, &status) == AZ_OK) {
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
        active = talloc_strdup(op->mem, status.active_revision);
    }
    talloc_free(look.mem);
    return active;
}

/* Wait for a notification, at most one poll interval and the time that is left. False when the time
 * is up. */
static bool
wait_for_news(struct op *op, int64_t started)
{
    const struct settings *cfg = op->az->cfg;
    int64_t left = cfg->bundle_confirm_timeout_ms - (clock_monotonic_ms() - started);
    if (left <= 0)
        return false;
    db_wait(op, (int) (left < cfg->bundle_confirm_poll_ms ? left : cfg->bundle_confirm_poll_ms));
    return true;
}

/* Read the reports; if they decide nothing, ask the engine beside this process and read again. */
static enum az_status
look_at_reports(struct op *op, int64_t bundle, bool ask, struct activation *ret)
{
    struct engines_verdict verdict = {.taken = false};
    enum az_status st = engines_verdict(op, bundle, NULL, &verdict);
    if (st == AZ_OK && ask && !verdict.taken && verdict.refusal == NULL) {
        const char *own = ask_and_report(op);
        ret->reached = ret->reached || own != NULL;
        st = engines_verdict(op, bundle, own, &verdict);
        if (verdict.active == NULL)
            verdict.active = own;
    }
    ret->taken = verdict.taken;
    ret->refusal = verdict.refusal;
    ret->active = verdict.active;
    ret->late = verdict.late;
    ret->reached = ret->reached || verdict.heard;
    return st;
}

enum az_status
activation_await(struct op *op, unsigned session, int64_t bundle, struct activation *ret)
{
    int64_t started = clock_monotonic_ms();
    *ret = (struct activation){.taken = false};
    for (bool ask = false;; ask = true) {
        enum az_status st =
            save_lock_held(op, session) ? look_at_reports(op, bundle, ask, ret) : AZ_UNAVAILABLE;
        if (st == AZ_OK && !save_lock_held(op, session))
            st = AZ_UNAVAILABLE;
        if (st != AZ_OK)
            return op_fail(op, st, NULL, "database: the session with the save lock was lost");
        if (ret->taken || ret->refusal != NULL)
            return AZ_OK;
        if (*op->az->stopping)
            return op_fail(op, AZ_UNAVAILABLE, NULL, "the process is stopping");
        if (!wait_for_news(op, started))
            return AZ_OK;
    }
}

bool
activation_follow(struct op *op)
{
    int64_t started = clock_monotonic_ms();
    for (const char *own = NULL;; own = ask_and_report(op)) {
        struct op look = {.mem = op->mem, .az = op->az, .now_ms = op->now_ms};
        bool confirmed = false;
        if (engines_settle(&look, own, &confirmed) != AZ_OK) {
            log_text(AZ_SEV_WARN, "activation check aborted", "%s", look.fault.detail);
            return false;
        }
        if (confirmed)
            return true;
        if (*op->az->stopping || !wait_for_news(op, started))
            return false;
    }
}
