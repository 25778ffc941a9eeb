#include "config.h"

#include "store/audit/proof/seal/unsealed.h"

#include "store/db/db.h"

/* The note before a checkpoint says up to which row it seals; without one the first note says where
 * the log begins. */
static const struct db_stmt audit_unsealed_age_stmt = {
    "audit_unsealed_age",
    "WITH sealed AS (SELECT coalesce("
    "   (SELECT (n.line::json -> 'seal' ->> 'upTo')::bigint FROM audit_checkpoint c"
    "     JOIN audit_note n ON n.epoch = c.epoch AND n.leaf = c.size - 1"
    "     WHERE c.epoch = s.epoch ORDER BY c.size DESC LIMIT 1),"
    "   (SELECT (n.line::json -> 'begin' ->> 'upTo')::bigint FROM audit_note n"
    "     WHERE n.epoch = s.epoch AND n.leaf = 0), s.up_to) AS up_to FROM audit_log_state s)"
    " SELECT coalesce(greatest(0, floor(extract(epoch FROM now() - (SELECT a.created_at"
    "  FROM audit_log a WHERE a.id > (SELECT up_to FROM sealed) ORDER BY a.id LIMIT 1)))), 0)"
    "  ::bigint::text",
    0};

enum az_status
audit_unsealed_seconds(struct op *op, int64_t *ret)
{
    PGresult *result;
    enum az_status st = db_exec(op, &audit_unsealed_age_stmt, NULL, true, &result);
    *ret = st == AZ_OK ? db_get_number(result, 0, 0, 0) : 0;
    return st;
}
