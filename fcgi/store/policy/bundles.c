#include "config.h"

#include "store/policy/bundles.h"

#include <string.h>

#include "store/db/db.h"
#include "store/db/keep/locks.h"
#include "store/db/trip/db_row.h"

static const struct db_stmt bundle_rules_stmt = {
    "bundle_rules",
    "SELECT path, content FROM policy_rule WHERE enabled ORDER BY path COLLATE \"C\"", 0};
static const struct db_stmt bundle_digests_stmt = {
    "bundle_digests",
    "SELECT path, digest FROM policy_rule WHERE enabled ORDER BY path COLLATE \"C\"", 0};
static const struct db_stmt bundle_data_stmt = {
    "bundle_data",
    "SELECT data_key, payload FROM policy_data WHERE in_bundle ORDER BY data_key COLLATE \"C\"", 0};
static const struct db_stmt bundle_content_stmt = {
    "bundle_content",
    "SELECT json_build_object('rules', (SELECT coalesce(json_agg(json_build_object('path', path, "
    "'content', content, 'version', version) ORDER BY path COLLATE \"C\"), '[]')"
    "  FROM policy_rule WHERE enabled),"
    " 'data', (SELECT coalesce(json_agg(json_build_object('dataKey', data_key, 'payload', payload, "
    "'version', version) ORDER BY data_key COLLATE \"C\"), '[]')"
    "  FROM policy_data WHERE in_bundle)) AS content",
    0};

/* A candidate that is lost in a crash was never applied, so its commit does not wait for the
 * disk. */
enum bundle_publish_column { PUBLISH_ID, PUBLISH_PG_NOTIFY };
static const struct db_stmt bundle_publish_stmt = {
    "bundle_publish",
    "WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', CASE WHEN $10::boolean THEN "
    "'off' ELSE current_setting('synchronous_commit') END, true)),"
    " old AS (SELECT b.id, b.etag FROM bundle_state s JOIN bundle b ON b.id = s.served),"
    " new AS (INSERT INTO bundle (revision, etag, previous_etag, previous, body, content, status, "
    "trigger_source, triggered_by, size_octets, rule_paths, data_keys, message, modules, impact, "
    "override_by, override_reason, created_at) "
    "SELECT "
    "$1, "
    "$2, "
    "(SELECT etag "
    "FROM old), (SELECT id FROM old), $3, $9, CASE WHEN $10::boolean THEN 'pending' ELSE "
    "'published' END, $4, $5, $6, $7::text[], $8::text[], $11, $12, $13::json, $14, $15, "
    "clock_timestamp() FROM "
    "how "
    "RETURNING id),"
    " state AS (UPDATE bundle_state SET served = (SELECT id FROM new), acceptable = CASE WHEN "
    "$10::boolean OR $1 = ANY (acceptable) THEN acceptable ELSE acceptable[1:1] || "
    "acceptable[greatest(2, cardinality(acceptable) - 97):] || $1::text END RETURNING 1)"
    " SELECT (SELECT id FROM new) AS id, %N('svc_bundle', $1) FROM state",
    15};

enum bundle_confirm_column { CONFIRM_COUNT };
static const struct db_stmt bundle_confirm_stmt = {
    "bundle_confirm",
    "WITH won AS (UPDATE bundle SET status = 'confirmed', confirmed_at = now(), created_at = now() "
    "WHERE id = $1 AND status = 'pending' RETURNING id, revision),"
    " state AS (UPDATE bundle_state s SET acceptable = ARRAY[w.revision] FROM won w WHERE s.served "
    "= w.id RETURNING 1)"
    " SELECT count(*) FROM state",
    1};
static const struct db_stmt bundle_withdraw_stmt = {
    "bundle_withdraw",
    "WITH lost AS (UPDATE bundle SET status = $2, body = NULL WHERE id = $1 AND status = 'pending' "
    "RETURNING id, previous),"
    " state AS (UPDATE bundle_state s SET served = l.previous FROM lost l WHERE s.served = l.id "
    "RETURNING 1)"
    " SELECT %N('svc_bundle', 'withdrawn') FROM state",
    2};
/* A save that waits for the engines holds the lock: if it is free, or ours ($3), that save has
 * ended. The row is checked again under the lock, so that a save that just finished keeps
 * its bundle. */
enum bundle_reconcile_column { RECONCILE_COUNT, RECONCILE_TOLD };
static const struct db_stmt bundle_reconcile_stmt = {
    "bundle_reconcile",
    "WITH lock AS MATERIALIZED (SELECT CASE WHEN EXISTS (SELECT 1 FROM bundle WHERE status = "
    "'pending') THEN $3::boolean OR pg_try_advisory_xact_lock($1::integer, $2::integer) ELSE false "
    "END AS got),"
    " lost AS (UPDATE bundle b SET status = 'withdrawn', body = NULL FROM lock WHERE lock.got AND "
    "b.status = 'pending' RETURNING b.id, b.previous),"
    " state AS (UPDATE bundle_state s SET served = l.previous FROM lost l WHERE s.served = l.id "
    "RETURNING 1)"
    " SELECT count(*), count(%N('svc_bundle', 'withdrawn')) AS told FROM state",
    3};

static const struct db_stmt bundle_current_stmt = {
    "bundle_current",
    "SELECT b.id, b.revision, b.etag, b.status = 'pending' AS pending FROM bundle_state s JOIN "
    "bundle b ON b.id = s.served",
    0};
static const struct db_column bundle_current_columns[] = {
    {"id",       DB_INTO(struct bundle_served, id)      },
    {"revision", DB_INTO(struct bundle_served, revision)},
    {"etag",     DB_INTO(struct bundle_served, etag)    },
    {"pending",  DB_INTO(struct bundle_served, pending) },
};
/* An engine that may hold a withdrawn candidate gets the body whatever ETag it names: one that
 * could not store the candidate on its disk has it active under the old ETag. */
static const struct db_stmt bundle_fetch_stmt = {
    "bundle_fetch",
    "SELECT b.id, b.revision, b.etag, b.status = 'pending' AS pending, s.called_at::text AS "
    "called, CASE WHEN b.etag <> $1 OR "
    "EXISTS (SELECT 1 FROM engine_instance e JOIN bundle x ON x.id = e.fetched WHERE e.instance = "
    "$2 AND x.status IN ('refused', 'withdrawn')) THEN b.body END AS body FROM bundle_state s JOIN "
    "bundle b ON b.id = s.served",
    2};
/* clang-format off */
static const struct db_column bundle_fetch_columns[] = {
    {"id",       DB_INTO(struct bundle_served, id)},
    {"revision", DB_INTO(struct bundle_served, revision)},
    {"etag",     DB_INTO(struct bundle_served, etag)},
    {"pending",  DB_INTO(struct bundle_served, pending)},
    {"called",   DB_INTO(struct bundle_served, called)},
    {"body",     DB_OCTETS_INTO(struct bundle_served, body, length)},
};
/* clang-format on */

static enum az_status
read_pairs(struct op *op, const PGresult *result, size_t *ret_count, const char ***ret_name,
           const char ***ret_text)
{
    size_t count = (size_t) PQntuples(result);
    *ret_name = talloc_zero_array(op->mem, const char *, (unsigned) count + 1);
    *ret_text = talloc_zero_array(op->mem, const char *, (unsigned) count + 1);
    if (*ret_name == NULL || *ret_text == NULL)
        return op_no_memory(op);
    for (size_t i = 0; i < count; i++) {
        (*ret_name)[i] = PQgetvalue(result, (int) i, 0);
        (*ret_text)[i] = PQgetvalue(result, (int) i, 1);
    }
    *ret_count = count;
    return AZ_OK;
}

enum az_status
bundle_rows_fetch(struct op *op, struct bundle_rows *ret)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *rules = db_batch_add(batch, &bundle_rules_stmt),
                   *data = db_batch_add(batch, &bundle_data_stmt);
    enum az_status st = db_run(op, batch, true);
    if (st == AZ_OK)
        st = read_pairs(op, rules->result, &ret->rules, &ret->rule_path, &ret->rule_content);
    if (st == AZ_OK)
        st = read_pairs(op, data->result, &ret->data, &ret->data_key, &ret->data_payload);
    return st;
}

enum az_status
bundle_digests_fetch(struct op *op, struct bundle_digests *ret)
{
    PGresult *result;
    enum az_status st = db_exec(op, &bundle_digests_stmt, NULL, true, &result);
    return st == AZ_OK ? read_pairs(op, result, &ret->rules, &ret->path, &ret->digest) : st;
}

enum az_status
bundle_content_fetch(struct op *op, const char **ret)
{
    return db_fetch_text(op, &bundle_content_stmt, NULL, ret);
}

enum az_status
bundle_publish(struct op *op, const struct bundle_new *bundle, int64_t *ret_id)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, bundle->revision);
    db_text(&params, bundle->etag);
    db_octets(&params, bundle->body, bundle->length);
    db_text(&params, bundle->source);
    db_text(&params, bundle->who);
    db_number(&params, (int64_t) bundle->length);
    db_words(op->mem, &params, bundle->rows->rule_path, bundle->rows->rules);
    db_words(op->mem, &params, bundle->rows->data_key, bundle->rows->data);
    db_text(&params, bundle->content);
    db_bool(&params, bundle->pending);
    db_text(&params, bundle->message);
    db_text(&params, bundle->modules);
    db_text(&params, bundle->impact);
    db_text(&params, bundle->override_by);
    db_text(&params, bundle->override_reason);
    enum az_status st = db_exec(op, &bundle_publish_stmt, &params, false, &result);
    if (st == AZ_OK)
        *ret_id = db_get_number(result, 0, PUBLISH_ID, 0);
    return st;
}

enum az_status
bundle_confirm(struct op *op, int64_t id)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, id);
    enum az_status st = db_exec(op, &bundle_confirm_stmt, &params, false, &result);
    if (st == AZ_OK && db_get_number(result, 0, CONFIRM_COUNT, 0) != 1)
        st = op_fail(op, AZ_UNAVAILABLE, NULL, "another process withdrew the candidate");
    return st;
}

enum az_status
bundle_withdraw(struct op *op, int64_t id, const char *status)
{
    struct db_params params = {.count = 0};
    db_number(&params, id);
    db_text(&params, status);
    return db_exec(op, &bundle_withdraw_stmt, &params, false, NULL);
}

enum az_status
bundle_reconcile(struct op *op, bool held, bool *ret_withdrawn)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, LOCK_POLICY);
    db_number(&params, LOCK_UNNAMED);
    db_bool(&params, held);
    enum az_status st = db_exec(op, &bundle_reconcile_stmt, &params, false, &result);
    if (st == AZ_OK && ret_withdrawn != NULL)
        *ret_withdrawn = db_get_number(result, 0, RECONCILE_COUNT, 0) > 0;
    return st;
}

enum az_status
bundle_current(struct op *op, struct bundle_served *ret)
{
    *ret = (struct bundle_served){.id = 0};
    return db_fetch_row(op, &bundle_current_stmt, NULL, true,
                        DB_TABLE(struct bundle_served, bundle_current_columns), ret, NULL);
}

enum az_status
bundle_fetch(struct op *op, const char *known, const char *instance, struct bundle_served *ret)
{
    struct db_params params = {.count = 0};
    *ret = (struct bundle_served){.id = 0};
    db_text(&params, known != NULL ? known : "");
    db_text(&params, instance);
    return db_fetch_row(op, &bundle_fetch_stmt, &params, true,
                        DB_TABLE(struct bundle_served, bundle_fetch_columns), ret, NULL);
}
