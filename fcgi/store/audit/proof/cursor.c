#include "config.h"

#include "store/audit/proof/cursor.h"

void
audit_cursor_init(struct audit_cursor *cursor, struct op *op, int64_t after, int64_t up_to)
{
    *cursor = (struct audit_cursor){.op = op, .after = after, .up_to = up_to};
}

enum az_status
audit_cursor_peek(struct audit_cursor *cursor, int64_t *ret_id)
{
    PGresult *result;
    *ret_id = INT64_MAX;
    if (cursor->result != NULL && cursor->at < PQntuples(cursor->result)) {
        *ret_id = audit_line_id(cursor->result, cursor->at);
        return AZ_OK;
    }
    talloc_free(cursor->step.mem);
    cursor->step = op_beside(cursor->op, talloc_new(cursor->op->mem));
    cursor->result = NULL;
    cursor->at = 0;
    enum az_status st = audit_lines_read(&cursor->step, cursor->after, cursor->up_to, &result);
    if (st != AZ_OK) {
        cursor->op->fault = cursor->step.fault;
        return st;
    }
    if (PQntuples(result) == 0)
        return AZ_OK;
    cursor->result = result;
    cursor->after = audit_line_id(result, PQntuples(result) - 1);
    *ret_id = audit_line_id(result, 0);
    return AZ_OK;
}

enum az_status
audit_cursor_take(struct audit_cursor *cursor, struct audit_line *ret)
{
    enum az_status st = audit_line_get(&cursor->step, cursor->result, cursor->at++, ret);
    if (st != AZ_OK)
        cursor->op->fault = cursor->step.fault;
    return st;
}

void
audit_cursor_pass(struct audit_cursor *cursor)
{
    cursor->at++;
}

bool
audit_cursor_skip(struct audit_cursor *cursor, int64_t id)
{
    if (cursor->result != NULL || cursor->after >= id)
        return false;
    cursor->after = id;
    return true;
}
