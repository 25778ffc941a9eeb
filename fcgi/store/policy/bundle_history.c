#include "config.h"

#include "store/policy/bundle_history.h"

#include "store/db/db.h"
#include "store/db/keep/locks.h"

/* clang-format off */
static const struct db_stmt bundle_history_page_stmt = {
    "bundle_history_page",
    "WITH m AS (SELECT b.id FROM bundle b WHERE b.status IN ('published', 'confirmed')"
    "  AND ($1::text IS NULL OR $1 = ANY (b.rule_paths)) AND ($2::text IS NULL OR $2 = ANY (b.data_keys))"
    "  AND ($3::text IS NULL OR b.triggered_by = $3) AND ($4::text IS NULL OR b.revision = $4)),"
    " p AS (SELECT m.id FROM m ORDER BY m.id DESC LIMIT $5::bigint OFFSET $6::bigint)"
    " SELECT (SELECT count(*) FROM m) AS total,"
    "  (SELECT coalesce(json_agg(" JSON_ROWS_DTO " ORDER BY d.id DESC), '[]')"
    "   FROM bundle_audit_dto d JOIN p ON p.id = d.id) AS bundles", 6};
static const struct db_stmt bundle_history_latest_stmt = {
    "bundle_history_latest",
    "SELECT " JSON_ROWS_DTO " AS dto FROM (SELECT b.*, (SELECT max(id) + 1 FROM bundle) AS \"nextId\""
    " FROM bundle_audit_dto b ORDER BY b.id DESC LIMIT 1) d", 0};
static const struct db_stmt bundle_history_fetch_stmt = {
    "bundle_history_fetch",
    "SELECT " JSON_ROWS_DTO " AS dto FROM bundle_audit_dto d WHERE d.id = $1", 1};
/* Compared in milliseconds, as createdAt shows them. */
static const struct db_stmt bundle_history_at_stmt = {
    "bundle_history_at",
    "SELECT " JSON_ROWS_DTO " AS dto FROM bundle_audit_dto d JOIN bundle b ON b.id = d.id"
    " WHERE date_trunc('milliseconds', b.created_at) <= $1::timestamptz"
    " ORDER BY b.created_at DESC, d.id DESC LIMIT 1", 1};
static const struct db_stmt bundle_history_content_stmt = {
    "bundle_history_content",
    "SELECT content FROM bundle WHERE id = $1 AND status IN ('published', 'confirmed')", 1};

/* A save and housekeeping may prune at the same time, and the references between the rows could
 * make each wait for the other; so the second one does nothing. */
#define ALONE                                                                                      \
    "alone AS MATERIALIZED (SELECT pg_try_advisory_xact_lock($1::integer,"                         \
    " hashtext('bundle_history')) AS got)"
/* Bundles that may have to be served: the served bundle, a candidate, and the bundles to which each
 * would fall back. */
#define SERVABLE                                                                                   \
    "live AS (SELECT b.id, b.previous FROM bundle b"                                               \
    "  WHERE b.status = 'pending' OR b.id = (SELECT served FROM bundle_state)),"                   \
    " servable AS (SELECT id FROM live"                                                            \
    "  UNION SELECT previous FROM live WHERE previous IS NOT NULL)"

static const struct db_stmt bundle_history_prune_stmt = {
    "bundle_history_prune",
    "WITH " ALONE ", " SERVABLE ","
    " placed AS (SELECT b.id, b.status IN ('published', 'confirmed') AS good,"
    "   row_number() OVER (PARTITION BY b.status IN ('published', 'confirmed')"
    "    ORDER BY b.id DESC) AS place"
    "   FROM bundle b WHERE b.id IS DISTINCT FROM (SELECT served FROM bundle_state)),"
    " horizon AS (SELECT max(id) AS id FROM placed WHERE good AND place > $2::bigint)"
    " DELETE FROM bundle b USING placed p, alone"
    "  WHERE alone.got AND b.id = p.id AND b.id NOT IN (SELECT id FROM servable)"
    "  AND (p.place > $2::bigint OR NOT p.good AND p.id < (SELECT id FROM horizon))", 2};
static const struct db_stmt bundle_history_release_stmt = {
    "bundle_history_release",
    "WITH " ALONE ", " SERVABLE
    " UPDATE bundle b SET body = NULL,"
    "  content = CASE WHEN b.status IN ('published', 'confirmed') THEN b.content END"
    "  FROM alone WHERE alone.got AND b.id NOT IN (SELECT id FROM servable)"
    "  AND (b.body IS NOT NULL"
    "   OR b.content IS NOT NULL AND b.status NOT IN ('published', 'confirmed'))", 1};
/* A plan is stored before the bundle that uses it is confirmed, so a young one stays. */
static const struct db_stmt bundle_history_plans_stmt = {
    "bundle_history_plans",
    "DELETE FROM policy_plan p WHERE p.created_at < now() - interval '1 hour'"
    " AND NOT EXISTS (SELECT 1 FROM bundle b WHERE b.modules = p.modules)", 0};
/* clang-format on */

const struct json_rows bundle_history_rows = {.noun = "bundle", .page = &bundle_history_page_stmt};

enum az_status
bundle_history_list(struct op *op, int64_t count, const char **ret_json)
{
    const char *const any[] = {NULL, NULL, NULL, NULL};
    struct json_page page = {.limit = count};
    enum az_status st =
        json_rows_page(op, &bundle_history_rows, any, sizeof(any) / sizeof(any[0]), &page);
    *ret_json = page.array;
    return st;
}

enum az_status
bundle_history_latest(struct op *op, const char **ret_json)
{
    return db_fetch_text(op, &bundle_history_latest_stmt, NULL, ret_json);
}

enum az_status
bundle_history_fetch(struct op *op, int64_t id, const char **ret_json)
{
    struct db_params params = {.count = 0};
    db_number(&params, id);
    return db_fetch_text(op, &bundle_history_fetch_stmt, &params, ret_json);
}

enum az_status
bundle_history_at(struct op *op, const char *timestamp, const char **ret_json)
{
    struct db_params params = {.count = 0};
    db_text(&params, timestamp);
    return db_fetch_text(op, &bundle_history_at_stmt, &params, ret_json);
}

enum az_status
bundle_history_content(struct op *op, int64_t id, json_t **ret_content)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    json_t *content = NULL;
    db_number(&params, id);
    enum az_status st = db_exec(op, &bundle_history_content_stmt, &params, true, &result);
    if (st == AZ_OK)
        st = db_read_json(op, result, 0, 0, &content);
    if (st == AZ_OK)
        *ret_content = content;
    return st;
}

enum az_status
bundle_history_prune(struct op *op)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *prune = db_batch_add(batch, &bundle_history_prune_stmt),
                   *release = db_batch_add(batch, &bundle_history_release_stmt);
    db_batch_add(batch, &bundle_history_plans_stmt);
    db_number(&prune->params, LOCK_JOBS);
    db_number(&prune->params, BUNDLE_HISTORY_MAX);
    db_number(&release->params, LOCK_JOBS);
    return db_run(op, batch, false);
}
