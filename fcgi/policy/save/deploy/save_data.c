#include "config.h"

#include "policy/save/deploy/save_data.h"

#include <string.h>

#include "policy/rows/cedar_data.h"
#include "policy/rows/data_key.h"
#include "policy/save/bundle/bundle_conflicts.h"
#include "policy/save/check/issuers_check.h"
#include "policy/save/check/jwt_resources_check.h"
#include "store/policy/policy_rows.h"

enum save_owner
save_key_owner(const char *data_key, bool known)
{
    if (policy_name_lies_in(data_key, "system"))
        return SAVE_OWNER_ENGINE;
    return policy_name_lies_in(data_key, "svc") && !known && !cedar_data_holds_entities(data_key)
                   && strncmp(data_key, "svc.connectors.", strlen("svc.connectors.")) != 0
               ? SAVE_OWNER_SERVICE
               : SAVE_OWNER_NONE;
}

/* The change, and the state of its row. */
struct row_save {
    const struct data_change *change;
    bool created;     /* there was no such row */
    bool changed;     /* its payload is not the expected one */
    json_t *failures; /* of a check against other rows, or NULL */
};

static enum az_status
check_data_row(struct op *op, struct row_save *save, const struct policy_row *row)
{
    const struct data_change *change = save->change;
    if (change->payload == NULL && row->payload == NULL)
        return op_fail(op, AZ_NOT_FOUND, NULL, "no row %s", change->data_key);
    if (change->payload == NULL && row->shipped)
        return op_fail(op, AZ_PROTECTED,
                       "The row belongs to a shipped control and cannot be deleted", NULL);
    if (change->must_be_new && row->payload != NULL)
        return op_fail(op, AZ_CONFLICT, NULL, "row %s already exists", change->data_key);
    save->changed = change->if_match != NULL
                    && (row->digest == NULL || strcmp(row->digest, change->if_match) != 0);
    return save->changed ? op_fail(op, AZ_PRECONDITION_FAILED, NULL, NULL) : AZ_OK;
}

static enum az_status
apply_row(struct op *op, void *arg)
{
    struct row_save *save = arg;
    const struct data_change *change = save->change;
    struct policy_row row = {.payload = NULL};
    enum az_status st = policy_data_fetch(op, change->data_key, &row);
    if (st == AZ_OK)
        st = check_data_row(op, save, &row);
    save->created = row.payload == NULL;
    if (st != AZ_OK)
        return st;
    if (change->payload == NULL)
        return policy_data_delete(op, change->data_key);
    st = policy_data_write(op, change->data_key, change->payload, change->version,
                           change->in_bundle);
    if (st == AZ_OK)
        st = issuers_check(op, change->data_key, &save->failures);
    if (st == AZ_OK)
        st = jwt_resources_check(op, change->data_key, &save->failures);
    return st == AZ_OK ? cedar_data_check(op, change->data_key, &save->failures) : st;
}

enum az_status
save_data_row(struct op *op, const struct data_change *change, const char *who,
              struct save_outcome *ret, bool *ret_created)
{
    struct row_save save = {.change = change};
    const struct save_plan plan = {.apply = apply_row,
                                   .arg = &save,
                                   .mode = SAVE_KEEP,
                                   .source = "policy-data",
                                   .who = who,
                                   .message = change->message,
                                   .if_revision = change->if_revision,
                                   .limits = change->limits};
    enum az_status st = save_policy(op, &plan, ret);
    if (st == AZ_OK)
        *ret_created = save.created;
    ret->row_changed = save.changed;
    ret->failures = save.failures;
    return st;
}
