/* Verification of all epochs of the log. */
#include "config.h"

#include <string.h>

#include "store/audit/proof/verify/verify.h"

/* True if one of the reports is of the log that a checkpoint names. */
static bool
is_known(const struct audit_verified *verified, const struct checkpoint *checkpoint)
{
    for (size_t i = 0; i < verified->notes.epochs; i++)
        if (strcmp(verified->report[i].origin, checkpoint->origin) == 0)
            return true;
    return false;
}

/* Report missing epochs, except those that a restore lost according to a first note, and
 * checkpoints of unknown logs, with the present epoch. */
static void
check_epochs(const struct audit_check *check, struct audit_verified *verified)
{
    struct audit_report *last = &verified->report[verified->notes.epochs - 1];
    int epoch = 1;
    for (size_t i = 0; i < verified->notes.epochs; i++) {
        const struct audit_epoch *at = &verified->notes.epoch[i];
        for (; epoch <= at->previous && epoch < at->state.epoch; epoch++)
            audit_fault_add(last, AUDIT_EPOCH_GONE, epoch);
        epoch = at->state.epoch + 1;
    }
    for (size_t i = 0; i < check->foreigns; i++)
        if (!is_known(verified, &check->foreign[i]))
            audit_fault_add(last, AUDIT_OTHER_LOG, (int64_t) check->foreign[i].size);
}

/* Check all epochs once. */
static enum az_status
verify_once(struct op *op, const struct audit_check *check, struct audit_verified *ret)
{
    *ret = (struct audit_verified){.report = NULL};
    enum az_status st = audit_notes_read(op, &ret->notes);
    if (st != AZ_OK)
        return st;
    ret->report = talloc_zero_array(op->mem, struct audit_report, (unsigned) ret->notes.epochs);
    if (ret->report == NULL)
        return op_no_memory(op);
    for (size_t i = 0; st == AZ_OK && i < ret->notes.epochs; i++)
        st = audit_verify_epoch(op, check, &ret->notes.epoch[i], &ret->notes, &ret->report[i]);
    if (st == AZ_OK)
        check_epochs(check, ret);
    return st;
}

static bool
has_faults(const struct audit_verified *verified)
{
    for (size_t i = 0; i < verified->notes.epochs; i++)
        if (verified->report[i].faults > 0)
            return true;
    return false;
}

enum az_status
audit_verify(struct op *op, const struct audit_check *check, struct audit_verified *ret)
{
    for (int run = 1;; run++) {
        struct audit_notes now;
        enum az_status st = verify_once(op, check, ret);
        if (st != AZ_OK || !has_faults(ret) || run == AUDIT_VERIFY_RUNS)
            return st;
        st = audit_notes_read(op, &now);
        if (st != AZ_OK || now.count == ret->notes.count)
            return st;
    }
}
