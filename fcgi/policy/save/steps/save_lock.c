#include "config.h"

#include "policy/save/steps/save_lock.h"

#include <stdarg.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "policy/save/check/hook_check.h"
#include "store/db/db.h"
#include "store/db/keep/locks.h"
#include "store/policy/bundles.h"

/*
 * A save talks to the database at least once per poll interval, also while it waits for a plan, and
 * waits for one answer of an engine at most the policy timeout or HOOK_TRIAL_MS. A session that is
 * silent for longer and this margin belongs to a process that hangs or to a host that is gone;
 * PostgreSQL ends it and frees the lock. Milliseconds.
 */
#define SILENCE_MS 5000
/* Other saves wait the confirm timeout plus this for the lock: the limit of
 * SVC_BUNDLE_FETCH_GRACE_MS, for which a save may call the engines first. Milliseconds. */
#define LOCK_EXTRA_MS 5000
#define LOCK_PAUSE_MS 10

/* Make PostgreSQL end this session if it falls silent while it holds the lock. */
static enum az_status
limit_silence(struct op *op)
{
    const struct settings *cfg = op->az->cfg;
    long answer = cfg->policy_timeout_ms > HOOK_TRIAL_MS ? cfg->policy_timeout_ms : HOOK_TRIAL_MS;
    int ms = (int) (cfg->bundle_confirm_poll_ms + answer) + SILENCE_MS;
    return db_limit_silence(op, ms);
}

static enum az_status
wait_for_lock(struct op *op, unsigned *ret_session)
{
    int64_t started = clock_monotonic_ms();
    long limit = op->az->cfg->bundle_confirm_timeout_ms + LOCK_EXTRA_MS;
    for (bool got = false;;) {
        enum az_status st = lock_session_try(op, LOCK_POLICY, "", &got);
        *ret_session = db_generation(op->az->db);
        if (st != AZ_OK || got)
            return st;
        if (*op->az->stopping || clock_monotonic_ms() - started > limit)
            return op_fail(op, AZ_SAVE_IN_PROGRESS, NULL, NULL);
        save_notice(op, started, "waiting for another policy save to end, for at most %ld s",
                    limit / 1000);
        nanosleep(&(struct timespec){0, LOCK_PAUSE_MS * 1000000L}, NULL);
    }
}

/* Begin a transaction of a save. If the lock is on another connection, that one can end while the
 * transaction goes on: lock out the transactions of a save that takes the lock then. */
static enum az_status
begin_write(struct op *op)
{
    enum az_status st = db_begin(op);
    if (st != AZ_OK || !lock_session_is_aside(op))
        return st;
    struct db_batch *batch = db_batch_new(op);
    lock_add(batch, LOCK_POLICY_WRITE, "", 0);
    st = db_run(op, batch, false);
    if (st != AZ_OK)
        db_rollback(op);
    return st;
}

/* Withdraw the candidate of a save that ended. One whose lock ended may be publishing it at this
 * moment. */
static enum az_status
withdraw_left(struct op *op, bool *ret_withdrawn)
{
    if (!lock_session_is_aside(op))
        return bundle_reconcile(op, true, ret_withdrawn);
    enum az_status st = begin_write(op);
    return st == AZ_OK ? db_end(op, bundle_reconcile(op, true, ret_withdrawn)) : st;
}

enum az_status
save_lock(struct op *op, unsigned *ret_session)
{
    bool withdrawn = false;
    if (!db_enter_session(op->az, false))
        return op_no_memory(op);
    enum az_status st = db_learn_notify(op); /* the bundle is published in a transaction */
    if (st == AZ_OK)
        st = wait_for_lock(op, ret_session);
    if (st != AZ_OK) {
        db_leave_session(op->az);
        return st;
    }
    st = limit_silence(op);
    if (st == AZ_OK)
        st = withdraw_left(op, &withdrawn);
    if (withdrawn)
        log_text(AZ_SEV_WARN, "candidate withdrawn",
                 "a policy save ended before its bundle was confirmed; the previous bundle is "
                 "served again");
    if (st != AZ_OK)
        save_unlock(op);
    return st;
}

bool
save_lock_held(const struct op *op, unsigned session)
{
    return db_is_open(op->az->db) && db_generation(op->az->db) == session
           && lock_session_is_held(op, LOCK_POLICY, "");
}

enum az_status
save_begin(struct op *op, unsigned session)
{
    enum az_status st = begin_write(op);
    if (st == AZ_OK && !save_lock_held(op, session)) {
        db_rollback(op);
        return op_fail(op, AZ_UNAVAILABLE, NULL,
                       "database: the session with the save lock was lost");
    }
    return st;
}

void
save_unlock(struct op *op)
{
    struct op quiet = op_beside(op, op->mem);
    bool got;
    if (lock_session_drop(&quiet, LOCK_POLICY, "", &got) != AZ_OK || !got
        || db_allow_silence(&quiet) != AZ_OK)
        db_close(op->az->db); /* the lock ends with the session */
    db_leave_session(op->az);
}

void
save_notice(struct op *op, int64_t started, const char *format, ...)
{
    va_list args;
    if (op->watch == NULL || clock_monotonic_ms() - started < SAVE_NOTICE_MS)
        return;
    va_start(args, format);
    const char *what = talloc_vasprintf(op->mem, format, args);
    va_end(args);
    if (what != NULL)
        op->watch->tell(op->watch->arg, what);
}
