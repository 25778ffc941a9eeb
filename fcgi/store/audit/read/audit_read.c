#include "config.h"

#include "store/audit/read/audit_read.h"

#include "store/db/db.h"

/* An id does not tell its day, so this looks into the index of each partition; few requests need
 * it. */
enum audit_fetch_column {
    FETCH_ENDPOINT,
    FETCH_CREATED_AT,
    FETCH_POLICY_INPUT,
    FETCH_POLICY_DECISION
};
static const struct db_stmt audit_fetch_stmt = {
    "audit_fetch",
    "SELECT endpoint,"
    " to_char(created_at" DB_TIME " AS created_at,"
    " policy_input, policy_decision FROM audit_log WHERE id = $1",
    1};

enum az_status
audit_fetch(struct op *op, int64_t id, struct audit_record *ret)
{
    struct audit_record record = {.input = NULL};
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, id);
    enum az_status st = db_exec(op, &audit_fetch_stmt, &params, true, &result);
    if (st != AZ_OK)
        return st;
    if (PQntuples(result) == 0)
        return op_fail(op, AZ_NOT_FOUND, NULL, "no audit row %lld", (long long) id);
    record.endpoint = db_get(result, 0, FETCH_ENDPOINT);
    record.created_at = db_get(result, 0, FETCH_CREATED_AT);
    st = db_read_octets(op, result, 0, FETCH_POLICY_INPUT, &record.input, &record.input_length);
    if (st == AZ_OK)
        st = db_read_octets(op, result, 0, FETCH_POLICY_DECISION, &record.decision,
                            &record.decision_length);
    if (st == AZ_OK)
        *ret = record;
    return st;
}
