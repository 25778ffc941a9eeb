#include "config.h"

#include "policy/decide/console_guard.h"

#include <string.h>

#include "policy/decide/console_role.h"
#include "store/people/admin_sessions.h"
#include "store/policy/policy_rows.h"

static enum az_status
read_digest(struct op *op, const char **ret)
{
    struct policy_row row = {.payload = NULL};
    *ret = NULL;
    enum az_status st = op->no_owner ? policy_data_fetch(op, CONSOLE_ROW, &row) : AZ_OK;
    if (st == AZ_OK && row.payload != NULL)
        *ret = row.digest;
    return st;
}

enum az_status
console_guard_begin(struct op *op, const char **ret_before)
{
    return read_digest(op, ret_before);
}

enum az_status
console_guard_end(struct op *op, const char *before)
{
    const char *after;
    enum az_status st = read_digest(op, &after);
    bool same = before == NULL || after == NULL ? before == after : strcmp(before, after) == 0;
    if (st != AZ_OK || same)
        return st;
    return op_fail(op, AZ_ROLE_REQUIRED,
                   "The row " CONSOLE_ROW " gives roles, so the role owner changes it", NULL);
}

enum az_status
console_guard_provider(struct op *op, const char *idp_id)
{
    json_t *row = NULL;
    enum az_status st = op->no_owner ? admin_grants_read(op, &row) : AZ_OK;
    if (st != AZ_OK || !console_role_concerns(row, idp_id))
        return st;
    return op_fail(op, AZ_ROLE_REQUIRED,
                   "The row " CONSOLE_ROW " gives roles to people of this provider, so the role "
                   "owner changes it",
                   NULL);
}
