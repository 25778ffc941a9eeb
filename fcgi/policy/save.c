#include "config.h"

#include "policy/save.h"

#include <string.h>

#include "base/settings.h"
#include "policy/bundle.h"
#include "store/db.h"
#include "store/policy_rows.h"

/* "K" or something below it. */
static bool
lies_in(const char *key, const char *root)
{
    size_t length = strlen(root);
    return strncmp(key, root, length) == 0 && (key[length] == '.' || key[length] == '\0');
}

enum save_owner
save_key_owner(const char *data_key, bool known)
{
    if (lies_in(data_key, "system"))
        return SAVE_OWNER_ENGINE;
    return lies_in(data_key, "svc") && !known ? SAVE_OWNER_SERVICE : SAVE_OWNER_NONE;
}

static enum az_status
check_row(struct op *op, const struct data_change *change, const struct policy_row *row)
{
    if (change->payload == NULL && row->payload == NULL)
        return op_fail(op, AZ_NOT_FOUND, NULL, "no row %s", change->data_key);
    if (change->payload == NULL && row->shipped)
        return op_fail(op, AZ_PROTECTED, "The row is shipped with a control and cannot be deleted",
                       NULL);
    if (change->if_match != NULL
        && (row->digest == NULL || strcmp(row->digest, change->if_match) != 0))
        return op_fail(op, AZ_PRECONDITION_FAILED, NULL, NULL);
    return AZ_OK;
}

/* Row and bundle in one transaction: what is served is always built from the rows. */
static enum az_status
write_and_publish(struct op *op, unsigned session, const struct data_change *change,
                  const char *source, const char *who, struct save_outcome *ret)
{
    struct policy_row row = {.payload = NULL};
    enum az_status st = bundle_begin(op, session);
    if (st == AZ_OK)
        st = policy_data_fetch(op, change->data_key, &row);
    if (st == AZ_OK)
        st = check_row(op, change, &row);
    if (st == AZ_OK && change->payload != NULL)
        st = policy_data_write(op, change->data_key, change->payload, change->version,
                               change->in_bundle);
    else if (st == AZ_OK)
        st = policy_data_delete(op, change->data_key);
    if (st == AZ_OK)
        st = bundle_build(op, source, who, &ret->revision);
    if (st == AZ_OK)
        st = db_commit(op);
    ret->created = row.payload == NULL;
    if (st != AZ_OK)
        db_rollback(op);
    return st;
}

enum az_status
save_data_row(struct op *op, const struct data_change *change, const char *source, const char *who,
              struct save_outcome *ret)
{
    struct save_outcome outcome = {.confirmed = false};
    unsigned session;
    enum az_status st = bundle_lock(op, &session);
    if (st != AZ_OK)
        return st;
    bool wait = op->az->cfg->bundle_confirm_activation;
    if (wait)
        st = db_listen(op, "svc_bundle_status");
    if (st == AZ_OK)
        st = write_and_publish(op, session, change, source, who, &outcome);
    if (st == AZ_OK && wait)
        outcome.confirmed = bundle_await(op);
    struct op after = {.mem = op->mem, .az = op->az, .now_ms = op->now_ms};
    if (wait)
        db_unlisten(&after);
    bundle_unlock(op);
    if (st == AZ_OK)
        *ret = outcome;
    return st;
}
