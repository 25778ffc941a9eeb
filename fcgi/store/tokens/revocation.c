#include "config.h"

#include "store/tokens/revocation.h"

#include "store/db/keep/partitions.h"

/* A statement that waited for another revocation of the row draws its number after the wait, so the
 * mark never falls. */
#define MARK " SET revoked_before = nextval('audit_id_seq')"
#define NOTED                                                                                      \
    " RETURNING revoked_before)"                                                                   \
    " INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"                               \
    " SELECT $2::timestamptz, revoked_before, $3, $4::uuid, $5, $6, $7, $8, $9, $10, $11,"         \
    "  $12::inet, $13, $14, $15, $16 FROM marked"

static const struct db_stmt revocation_of_subject_stmt = {
    "revocation_of_subject",
    "WITH marked AS (UPDATE subject" MARK " WHERE subject = $1" NOTED,
    16,
};
static const struct db_stmt revocation_of_client_stmt = {
    "revocation_of_client",
    "WITH marked AS (UPDATE client" MARK " WHERE client_id = $1" NOTED,
    16,
};

enum az_status
revocation_write(struct op *op, const char *subject, const char *client_id,
                 const struct audit_entry *audit, bool *ret_known)
{
    uint32_t day = partition_day(op_now(op));
    enum az_status st = partition_need_day(op, day);
    if (st != AZ_OK)
        return st;
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(
        batch, subject != NULL ? &revocation_of_subject_stmt : &revocation_of_client_stmt,
        DB_NO_PARTITION, day);
    db_text(&step->params, subject != NULL ? subject : client_id);
    db_time(&step->params, op->now_ms);
    audit_bind(&step->params, audit);
    if ((st = db_run(op, batch, false)) == AZ_OK)
        *ret_known = db_written(step->result) > 0;
    return st;
}
