#include "config.h"

#include "store/tokens/fence.h"

#include "store/db/keep/partitions.h"
#include "store/db/trip/db_row.h"

/* A mark never falls: a client that was revoked after the mark was drawn keeps its own. Requests
 * that wait for consent go with their sessions. */
static const struct db_stmt fence_stmt = {
    "fence",
    "WITH mark AS (SELECT nextval('audit_id_seq') AS n),"
    " marked AS (UPDATE client SET revoked_before = greatest(revoked_before, (SELECT n FROM mark))"
    "  RETURNING 1),"
    " session AS (DELETE FROM browser_session RETURNING 1),"
    " console AS (DELETE FROM admin_session RETURNING 1),"
    " direct AS (DELETE FROM admin_link RETURNING 1),"
    " sign AS (DELETE FROM sign_in RETURNING 1),"
    " ticket AS (DELETE FROM uma_ticket RETURNING 1),"
    " ciba AS (DELETE FROM ciba_request RETURNING 1),"
    " link AS (DELETE FROM gateway_link_request RETURNING 1),"
    " fenced AS (INSERT INTO restore_fence (fenced_at) VALUES ($1::timestamptz)"
    "  ON CONFLICT (only_row) DO UPDATE"
    "  SET fenced_at = greatest(restore_fence.fenced_at, excluded.fenced_at)),"
    " noted AS (INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"
    "  SELECT $1::timestamptz, n, $2, $3::uuid, $4, $5, $6, $7, $8, $9, $10, $11::inet, $12, $13,"
    "   $14, $15 FROM mark)"
    " SELECT (SELECT count(*) FROM marked) AS clients, (SELECT count(*) FROM session) AS sessions,"
    "  (SELECT count(*) FROM console) AS console,"
    "  (SELECT count(*) FROM sign) + (SELECT count(*) FROM ticket) + (SELECT count(*) FROM ciba)"
    "  + (SELECT count(*) FROM link) + (SELECT count(*) FROM direct) AS pending",
    15,
};
static const struct db_column fence_columns[] = {
    {"clients",  DB_INTO(struct fence_counts, clients) },
    {"sessions", DB_INTO(struct fence_counts, sessions)},
    {"console",  DB_INTO(struct fence_counts, console) },
    {"pending",  DB_INTO(struct fence_counts, pending) },
};

enum az_status
fence_write(struct op *op, const struct audit_entry *audit, struct fence_counts *ret)
{
    uint32_t day = partition_day(op_now(op));
    enum az_status st = partition_need_day(op, day);
    if (st != AZ_OK)
        return st;
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add_in(batch, &fence_stmt, DB_NO_PARTITION, day);
    db_time(&step->params, op->now_ms);
    audit_bind(&step->params, audit);
    st = db_run(op, batch, false);
    return st == AZ_OK
               ? db_read_row(op, step->result, 0, DB_TABLE(struct fence_counts, fence_columns), ret)
               : st;
}
