#include "config.h"

#include "policy/save/save.h"

#include <string.h>

#include "base/log.h"
#include "base/settings/settings.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "policy/decide/console_guard.h"
#include "policy/save/bundle/bundle.h"
#include "policy/save/check/hook_check.h"
#include "policy/save/check/rule_warnings.h"
#include "policy/save/plan/bundle_plan.h"
#include "policy/save/steps/activation.h"
#include "policy/save/steps/limits.h"
#include "policy/save/steps/save_lock.h"
#include "policy/save/steps/save_trial.h"
#include "store/db/db.h"
#include "store/policy/bundle_history.h"

/* State of one save. */
struct save {
    const struct save_plan *plan;
    struct measured *measured;
    unsigned session;              /* that holds the lock */
    struct bundle_served previous; /* served when the save began */
    struct bundle_build build;     /* the bundle with the change */
    const char *tried;             /* revision that was tried, or NULL */
    bool changed;                  /* the bundle differs */
    bool ready;                    /* the engine beside this process answers */
    int64_t id;                    /* of the row published */
    struct planning *planning;     /* of the modules; NULL: not begun */
    struct save_outcome outcome;
};

const char *
save_activation_word(enum save_activation activation)
{
    static const char *const words[] = {
        [SAVE_CONFIRMED] = "confirmed",
        [SAVE_PENDING] = "pending",
        [SAVE_UNCONFIRMED] = "unconfirmed",
        [SAVE_REHEARSED] = "dry-run",
    };
    return words[activation];
}

const char *
save_message_fault(const char *message)
{
    size_t length = strlen(message);
    if (length > SAVE_MESSAGE_MAX)
        return "must have at most 500 octets";
    return utf8_valid(message, length) ? visible_fault(message) : "must be UTF-8";
}

_Static_assert(SAVE_MESSAGE_MAX == 500, "the text above names the limit");

enum az_status
save_refuse(struct op *op, struct save_refusal *ret, const char *description)
{
    struct bundle_served now = {.revision = NULL};
    enum az_status st = bundle_current(op, &now);
    if (st != AZ_OK)
        return st;
    *ret = (struct save_refusal){.error = "bundle_not_activated",
                                 .description = description,
                                 .expected = "",
                                 .active = now.revision != NULL ? now.revision : ""};
    return op_fail(op, AZ_UNPROCESSABLE, NULL, "%s", description);
}

/* Refuse a save that was prepared for another revision than the one that is served. */
static enum az_status
check_revision(struct op *op, const struct save *save)
{
    const char *expected = save->plan->if_revision;
    const char *active = save->previous.revision != NULL ? save->previous.revision : "none";
    if (expected == NULL || strcmp(expected, active) == 0)
        return AZ_OK;
    const char *why =
        talloc_asprintf(op->mem, "The active revision is %s, not %s", active, expected);
    return op_fail(op, AZ_PRECONDITION_FAILED, why,
                   "the active revision is %s, not %s, so nothing was changed; pull it, merge your "
                   "change and run this again",
                   active, expected);
}

/* Make the change, under the guards that hold now. AZ_RETRY: the measurement was made for another
 * change or with other guards. */
static enum az_status
change_rows(struct op *op, struct save *save)
{
    const char *base = save->previous.revision;
    struct guards guards;
    enum az_status st = guards_read(op, &guards);
    if (st == AZ_OK)
        st = save->plan->apply(op, save->plan->arg);
    if (st == AZ_OK)
        st = bundle_read(op, &save->build);
    if (st != AZ_OK)
        return st;
    const char *candidate = save->build.bundle.revision;
    if (!limits_fit(save->plan, save->measured, &guards, base, candidate))
        return AZ_RETRY;
    st = limits_keep_guards(op, save->plan, &guards, save->measured, &save->outcome);
    if (st == AZ_UNPROCESSABLE) {
        save->outcome.refusal.expected = candidate;
        save->outcome.refusal.active = base != NULL ? base : "";
    }
    return st;
}

/* Make the change in the open transaction and build its bundle, if it differs. */
static enum az_status
make_change(struct op *op, struct save *save)
{
    struct bundle_new *bundle = &save->build.bundle;
    const char *roles = NULL;
    enum az_status st = bundle_current(op, &save->previous);
    if (st == AZ_OK)
        st = check_revision(op, save);
    if (st == AZ_OK)
        st = console_guard_begin(op, &roles);
    if (st == AZ_OK)
        st = change_rows(op, save);
    if (st == AZ_OK)
        st = console_guard_end(op, roles);
    if (st != AZ_OK)
        return st;
    if (save->plan->mode == SAVE_STRICT || save->plan->mode == SAVE_DRY_RUN)
        save->outcome.warnings = rule_warnings(op, &save->build.rows);
    save->changed =
        save->previous.revision == NULL || strcmp(save->previous.revision, bundle->revision) != 0;
    if (save->changed && (st = bundle_pack(op, &save->build)) != AZ_OK)
        return st;
    bundle->source = save->plan->source;
    bundle->who = save->plan->who;
    bundle->message = save->plan->message;
    bundle->impact = save->measured->counts;
    bundle->override_by = save->measured->override_by;
    bundle->override_reason = save->measured->override_reason;
    save->outcome.overridden = bundle->override_by != NULL;
    save->outcome.revision = bundle->revision;
    save->outcome.etag = save->changed ? bundle->etag : save->previous.etag;
    save->outcome.previous_etag = save->previous.etag != NULL ? save->previous.etag : "";
    return AZ_OK;
}

/* Make the change and build its bundle, then roll back. */
static enum az_status
rehearse(struct op *op, struct save *save)
{
    enum az_status st = save_begin(op, save->session);
    if (st != AZ_OK)
        return st;
    st = make_change(op, save);
    db_rollback(op);
    if (st == AZ_OK && !save_lock_held(op, save->session))
        st = op_fail(op, AZ_UNAVAILABLE, NULL, "database: the session with the save lock was lost");
    return st;
}

static enum az_status
rows_changed(struct op *op)
{
    return op_fail(op, AZ_UNAVAILABLE, NULL, "the policy rows were changed without the save lock");
}

/* Try the bundle that was rehearsed. Shipped policy is not tried: it came with the program. */
static enum az_status
try_bundle(struct op *op, struct save *save)
{
    struct bundle_new *bundle = &save->build.bundle;
    if (!save->changed || save->plan->mode == SAVE_LATER)
        return AZ_OK;
    enum az_status st =
        plan_begin_trial(op, &save->build.modules, bundle->modules, &save->planning);
    if (st == AZ_OK)
        st = save_trial(op, save->plan, &save->build, save->planning, save->previous.revision,
                        save->measured, &save->outcome);
    bundle->override_by = save->measured->override_by;
    bundle->override_reason = save->measured->override_reason;
    save->outcome.overridden = bundle->override_by != NULL;
    save->tried = bundle->revision;
    return st;
}

/* Write the rows and publish the bundle in one transaction, so that the bundle that is served
 * always matches the rows. */
static enum az_status
write_and_publish(struct op *op, struct save *save)
{
    enum az_status st = save_begin(op, save->session);
    if (st != AZ_OK)
        return st;
    st = make_change(op, save);
    if (st == AZ_OK && save->tried != NULL && strcmp(save->tried, save->build.bundle.revision) != 0)
        st = rows_changed(op);
    if (st == AZ_OK && save->changed)
        st = bundle_publish(op, &save->build.bundle, &save->id);
    if (st == AZ_OK && save->changed)
        st = bundle_history_prune(op);
    return db_end(op, st);
}

/* Publish the candidate, which is served from now on; save_begin() makes sure that the session
 * still holds the lock. */
static enum az_status
publish(struct op *op, struct save *save)
{
    enum az_status st = save_begin(op, save->session);
    if (st != AZ_OK)
        return st;
    save->build.bundle.pending = true;
    st = bundle_publish(op, &save->build.bundle, &save->id);
    return db_end(op, st);
}

/* Make sure that the rows are those the engines activated. Rows that were changed meanwhile without
 * the save lock would be stored under a revision that is not theirs. */
static enum az_status
check_same(struct op *op, const struct save *save)
{
    struct bundle_build now;
    enum az_status st = bundle_read(op, &now);
    if (st == AZ_OK && strcmp(now.bundle.revision, save->build.bundle.revision) != 0)
        st = rows_changed(op);
    return st;
}

/* Make the change again, this time to keep it, and confirm the candidate. */
static enum az_status
apply_plan(struct op *op, struct save *save)
{
    enum az_status st = save_begin(op, save->session);
    if (st != AZ_OK)
        return st;
    st = save->plan->apply(op, save->plan->arg);
    if (st == AZ_OK)
        st = check_same(op, save);
    if (st == AZ_OK)
        st = bundle_confirm(op, save->id);
    if (st == AZ_OK)
        st = bundle_history_prune(op);
    return db_end(op, st);
}

/* Serve the previous bundle again. If the session with the lock was lost, do it on another session,
 * and only if no other save holds the lock; otherwise that save does it. */
static void
take_back(struct op *op, const struct save *save, const char *status)
{
    struct op after = op_beside(op, op->mem);
    enum az_status st = save_lock_held(op, save->session)
                            ? bundle_withdraw(&after, save->id, status)
                            : bundle_reconcile(&after, false, NULL);
    if (st != AZ_OK)
        log_text(AZ_SEV_ERROR, "candidate not withdrawn",
                 "%s; the next save or bundle request withdraws it", after.fault.detail);
}

/* Describe a save that ran out of time, with the engine that did not report. */
static const char *
describe_delay(struct op *op, const struct activation *activation)
{
    const char *what = "no policy engine has answered", *late = "";
    if (activation->reached) {
        what = "not every policy engine has reported the bundle active";
        if (activation->late != NULL)
            late = talloc_asprintf(op->mem, "; waited for %s", activation->late);
    }
    return talloc_asprintf(op->mem, "%s within %ld ms (SVC_BUNDLE_CONFIRM_TIMEOUT_MS)%s", what,
                           op->az->cfg->bundle_confirm_timeout_ms, late);
}

static enum az_status
refused(struct op *op, struct save *save, const struct activation *activation)
{
    struct save_refusal *refusal = &save->outcome.refusal;
    const char *previous = save->previous.revision != NULL ? save->previous.revision : "";
    take_back(op, save, "refused");
    refusal->error = activation->reached || activation->refusal != NULL ? "bundle_not_activated"
                                                                        : "opa_unreachable";
    refusal->expected = save->build.bundle.revision;
    refusal->active = activation->active != NULL ? activation->active : previous;
    if (activation->refusal != NULL)
        refusal->description = activation->refusal;
    else
        refusal->description = describe_delay(op, activation);
    return op_fail(op, AZ_UNPROCESSABLE, NULL, "%s: %s%s%s", refusal->error, refusal->description,
                   activation->refused_by != NULL ? "; refused by " : "",
                   activation->refused_by != NULL ? activation->refused_by : "");
}

/* Store the plan of a bundle that is published or was rehearsed. Its trial has begun that plan,
 * unless there was none. */
static enum az_status
save_finish_plan(struct op *op, struct save *save)
{
    struct bundle_build *build = &save->build;
    enum az_status st = AZ_OK;
    if (save->planning == NULL)
        st = plan_begin(op, &build->modules, build->bundle.modules, &save->planning);
    return st == AZ_OK ? plan_finish(op, save->planning, &save->outcome.plan_warning) : st;
}

static enum az_status
save_and_keep(struct op *op, struct save *save, bool wait)
{
    enum az_status st = save->plan->mode == SAVE_LATER ? AZ_OK : rehearse(op, save);
    if (st == AZ_OK)
        st = try_bundle(op, save);
    if (st == AZ_OK && wait)
        st = activation_call(op);
    if (st == AZ_OK)
        st = write_and_publish(op, save);
    if (st != AZ_OK)
        return st;
    if (!save->changed) {
        bool made;
        st = plan_served(op, &made, &save->outcome.plan_warning);
    } else {
        st = save_finish_plan(op, save);
    }
    if (st == AZ_OK && !(wait && activation_follow(op, save->outcome.revision)))
        save->outcome.activation =
            save->plan->mode == SAVE_STRICT && !wait ? SAVE_UNCONFIRMED : SAVE_PENDING;
    return st;
}

/* Wait for the engines, and then for the types of the operator's hooks in what they activated. */
static enum az_status
await_verdict(struct op *op, const struct save *save, struct activation *ret)
{
    const char *revision = save->build.bundle.revision;
    enum az_status st = activation_await(op, save->session, save->id, revision, ret);
    if (st == AZ_OK && ret->refusal != NULL)
        ret->refusal =
            hook_check_refusal(op, &save->build.rows,
                               bundle_modules_blame(op->mem, &save->build.modules, ret->refusal));
    if (st != AZ_OK || !ret->taken || !save->ready)
        return st;
    ret->refusal = hook_check(op, &save->build);
    if (ret->refusal != NULL) {
        ret->taken = false;
        ret->active = NULL; /* it is withdrawn next */
    }
    return AZ_OK;
}

/* Rehearse, publish and wait; then apply or withdraw. */
static enum az_status
save_strictly(struct op *op, struct save *save)
{
    struct activation activation;
    enum az_status st = rehearse(op, save);
    if (st != AZ_OK || save->plan->mode == SAVE_DRY_RUN) {
        save->outcome.activation = SAVE_REHEARSED;
        return st;
    }
    /* The engines would see no difference: a disabled rule, or the same text again. */
    if (!save->changed)
        return save_and_keep(op, save, true);
    if ((st = try_bundle(op, save)) != AZ_OK)
        return st;
    save->ready = hook_check_ready(op);
    if ((st = activation_call(op)) != AZ_OK)
        return st;
    st = publish(op, save);
    if (st == AZ_OK)
        st = save_finish_plan(op, save); /* while the engines load the bundle */
    if (st == AZ_OK)
        st = await_verdict(op, save, &activation);
    if (st == AZ_OK && !activation.taken)
        return refused(op, save, &activation);
    if (st == AZ_OK)
        st = apply_plan(op, save);
    if (st != AZ_OK)
        take_back(op, save, "withdrawn");
    return st;
}

/* Save what was measured, or without a measurement. AZ_RETRY: it was of another change. */
static enum az_status
save_measured(struct op *op, const struct save_plan *plan, struct measured *measured, bool locked,
              struct save_outcome *ret)
{
    bool wait = op->az->cfg->bundle_confirm_activation
                && (plan->mode == SAVE_STRICT || plan->mode == SAVE_KEEP);
    struct save save = {
        .plan = plan,
        .measured = measured,
        .outcome = {.activation = SAVE_CONFIRMED, .impact = ret->impact}
    };
    enum az_status st = save_lock(op, &save.session);
    if (st != AZ_OK)
        return st;
    if (locked)
        st = limits_measure(op, plan, LIMITS_LOCKED_SECONDS, measured, &save.outcome);
    if (st == AZ_OK && wait)
        st = db_listen(op, "svc_bundle_status");
    if (st == AZ_OK && (plan->mode == SAVE_DRY_RUN || (plan->mode == SAVE_STRICT && wait)))
        st = save_strictly(op, &save);
    else if (st == AZ_OK)
        st = save_and_keep(op, &save, wait);
    struct op after = op_beside(op, op->mem);
    if (wait)
        db_unlisten(&after);
    save_unlock(op);
    /* Without the lock: auditors may rehearse, and no save should wait for that. */
    if (st == AZ_OK && plan->mode == SAVE_DRY_RUN)
        st = try_bundle(op, &save);
    if (st == AZ_OK && plan->mode == SAVE_DRY_RUN && save.planning != NULL)
        st = save_finish_plan(op, &save);
    if (st == AZ_OK || save.outcome.refusal.error != NULL)
        *ret = save.outcome;
    return st;
}

enum az_status
save_policy(struct op *op, const struct save_plan *plan, struct save_outcome *ret)
{
    for (int tries = 0;; tries++) {
        struct measured measured = {.done = false};
        bool wanted = false, locked = tries == LIMITS_FREE_TRIES;
        enum az_status st = limits_wanted(op, plan, &wanted);
        if (st == AZ_OK && wanted && !locked)
            st = limits_measure(op, plan, op->az->cfg->impact_seconds, &measured, ret);
        if (st == AZ_OK)
            st = save_measured(op, plan, &measured, wanted && locked, ret);
        if (st == AZ_OK)
            limits_tell_override(op, plan, &measured, ret);
        if (st != AZ_RETRY)
            return st;
        if (locked)
            return op_fail(op, AZ_SAVE_IN_PROGRESS, NULL, NULL);
    }
}
