#include "config.h"

#include "store/audit/posted.h"

static const struct db_stmt posted_waiting_stmt = {
    "posted_waiting",
    "SELECT epoch, size, note FROM audit_checkpoint WHERE posted_at IS NULL"
    " ORDER BY epoch DESC, size DESC LIMIT $1",
    1};
static const struct db_stmt posted_write_stmt = {
    "posted_write",
    "UPDATE audit_checkpoint SET posted_at = now(), cosigned = CASE WHEN epoch = $1::integer"
    "  AND size = $2::bigint THEN $3::text END"
    " WHERE posted_at IS NULL AND (epoch, size) <= ($1::integer, $2::bigint)",
    3};

enum az_status
posted_waiting(struct op *op, PGresult **ret)
{
    struct db_params params = {.count = 0};
    db_number(&params, POSTED_WAITING_MAX + 1);
    return db_exec(op, &posted_waiting_stmt, &params, true, ret);
}

enum az_status
posted_write(struct op *op, int64_t epoch, int64_t size, const char *cosigned)
{
    struct db_params params = {.count = 0};
    db_number(&params, epoch);
    db_number(&params, size);
    db_text(&params, cosigned);
    return db_exec(op, &posted_write_stmt, &params, false, NULL);
}
