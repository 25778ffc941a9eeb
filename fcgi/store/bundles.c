#include "config.h"

#include "store/bundles.h"

#include <string.h>

#include "store/db.h"

static const struct db_stmt rules_stmt = {"bundle_rules",
                                          "SELECT path, content FROM policy_rule WHERE enabled AND "
                                          "kind = 'rego' ORDER BY path COLLATE \"C\"",
                                          0};
static const struct db_stmt data_stmt = {
    "bundle_data",
    "SELECT data_key, payload FROM policy_data WHERE in_bundle ORDER BY data_key COLLATE \"C\"", 0};
enum bundle_number_column { NUMBER_NEXTVAL };
static const struct db_stmt number_stmt = {"bundle_number", "SELECT nextval('bundle_revision_seq')",
                                           0};
static const struct db_stmt publish_stmt = {
    "bundle_publish",
    "WITH old AS (SELECT b.etag FROM bundle_state s JOIN bundle b ON b.id = s.served),"
    " new AS (INSERT INTO bundle (revision, etag, previous_etag, body, status, trigger_source, "
    "triggered_by, size_octets,"
    "  rule_paths, data_keys) SELECT $1, $2, (SELECT etag FROM old), $3, 'published', $4, $5, $6, "
    "$7::text[], $8::text[]"
    "  RETURNING id),"
    " state AS (UPDATE bundle_state SET served = (SELECT id FROM new), acceptable = "
    "array_append(acceptable, $1) RETURNING 1)"
    " SELECT pg_notify('svc_bundle', $1) FROM state",
    8};
enum bundle_current_column { CURRENT_REVISION };
static const struct db_stmt current_stmt = {
    "bundle_current", "SELECT b.revision FROM bundle_state s JOIN bundle b ON b.id = s.served", 0};
enum bundle_fetch_column { FETCH_REVISION, FETCH_ETAG, FETCH_BODY };
static const struct db_stmt fetch_stmt = {
    "bundle_fetch",
    "SELECT b.revision, b.etag, CASE WHEN b.etag <> $1 THEN b.body END AS body FROM bundle_state s "
    "JOIN bundle b ON b.id = s.served",
    1};
static const struct db_stmt report_stmt = {
    "bundle_report",
    "WITH r AS (INSERT INTO engine_instance (instance, active_revision, code, message, "
    "reported_at) VALUES ($1, $2, $3, $4, now())"
    " ON CONFLICT (instance) DO UPDATE SET active_revision = excluded.active_revision, code = "
    "excluded.code,"
    "  message = excluded.message, reported_at = excluded.reported_at RETURNING 1)"
    " SELECT pg_notify('svc_bundle_status', $1) FROM r",
    4};
/* One statement decides and records: all engines heard of lately have the served revision, or, if
 * none was, ours has. */
enum bundle_settle_column { SETTLE_CONFIRMED, SETTLE_CHANGED };
static const struct db_stmt settle_stmt = {
    "bundle_settle",
    "WITH served AS (SELECT b.id, b.revision FROM bundle_state s JOIN bundle b ON b.id = s.served),"
    " heard AS (SELECT count(*) AS engines, count(*) FILTER (WHERE active_revision = (SELECT "
    "revision FROM served)) AS active"
    "  FROM engine_instance WHERE reported_at > now() - make_interval(secs => $2::double "
    "precision)),"
    " verdict AS (SELECT served.id, served.revision FROM served, heard"
    "  WHERE (heard.engines > 0 AND heard.active = heard.engines) OR (heard.engines = 0 AND "
    "served.revision = $1::text)),"
    " state AS (UPDATE bundle_state s SET acceptable = ARRAY[v.revision] FROM verdict v"
    "  WHERE s.served = v.id AND s.acceptable <> ARRAY[v.revision] RETURNING 1),"
    " bundle AS (UPDATE bundle SET status = 'confirmed', confirmed_at = now()"
    "  WHERE id = (SELECT id FROM verdict) AND status = 'published' RETURNING 1)"
    " SELECT EXISTS (SELECT 1 FROM verdict) AS confirmed, (SELECT count(*) FROM state) + (SELECT "
    "count(*) FROM bundle) AS changed",
    2};

static const struct db_stmt forget_stmt = {
    "bundle_forget_engines",
    "DELETE FROM engine_instance WHERE reported_at < now() - interval '1 day'", 0};

static enum az_status
read_pairs(struct op *op, const struct db_stmt *stmt, size_t *ret_count, const char ***ret_name,
           const char ***ret_text)
{
    PGresult *result;
    enum az_status st = db_exec(op, stmt, NULL, true, &result);
    if (st != AZ_OK)
        return st;
    size_t count = (size_t) PQntuples(result);
    *ret_name = talloc_zero_array(op->mem, const char *, (unsigned) count + 1);
    *ret_text = talloc_zero_array(op->mem, const char *, (unsigned) count + 1);
    if (*ret_name == NULL || *ret_text == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "no memory");
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
    enum az_status st =
        read_pairs(op, &rules_stmt, &ret->rules, &ret->rule_path, &ret->rule_content);
    return st == AZ_OK ? read_pairs(op, &data_stmt, &ret->data, &ret->data_key, &ret->data_payload)
                       : st;
}

enum az_status
bundle_next_number(struct op *op, int64_t *ret)
{
    PGresult *result;
    enum az_status st = db_exec(op, &number_stmt, NULL, false, &result);
    if (st == AZ_OK)
        *ret = db_get_number(result, 0, NUMBER_NEXTVAL, 0);
    return st;
}

enum az_status
bundle_publish(struct op *op, const struct bundle_new *bundle)
{
    struct db_params params = {.count = 0};
    db_text(&params, bundle->revision);
    db_text(&params, bundle->etag);
    db_octets(&params, bundle->body, bundle->length);
    db_text(&params, bundle->source);
    db_text(&params, bundle->who);
    db_number(&params, (int64_t) bundle->length);
    if (db_words(op->mem, &params, bundle->rows->rule_path, bundle->rows->rules) != AZ_OK
        || db_words(op->mem, &params, bundle->rows->data_key, bundle->rows->data) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "no memory");
    return db_exec(op, &publish_stmt, &params, false, NULL);
}

enum az_status
bundle_current(struct op *op, const char **ret_revision)
{
    PGresult *result;
    enum az_status st = db_exec(op, &current_stmt, NULL, true, &result);
    if (st == AZ_OK)
        *ret_revision = PQntuples(result) > 0 ? db_get(result, 0, CURRENT_REVISION) : "";
    return st;
}

enum az_status
bundle_fetch(struct op *op, const char *known, struct bundle_served *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, known != NULL ? known : "");
    enum az_status st = db_exec(op, &fetch_stmt, &params, true, &result);
    if (st != AZ_OK)
        return st;
    ret->revision = db_get(result, 0, FETCH_REVISION);
    ret->etag = db_get(result, 0, FETCH_ETAG);
    ret->body = NULL;
    if (db_get(result, 0, FETCH_BODY) != NULL
        && db_get_octets(op->mem, result, 0, FETCH_BODY, &ret->body, &ret->length) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "stored bundle is damaged");
    return AZ_OK;
}

enum az_status
bundle_report(struct op *op, const char *instance, const char *revision, const char *code,
              const char *message)
{
    struct db_params params = {.count = 0};
    bool confirmed;
    db_text(&params, instance);
    db_text(&params, revision);
    db_text(&params, code);
    db_text(&params, message);
    enum az_status st = db_exec(op, &report_stmt, &params, false, NULL);
    return st == AZ_OK ? bundle_settle(op, NULL, &confirmed) : st;
}

enum az_status
bundle_settle(struct op *op, const char *own_revision, bool *ret_confirmed)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, own_revision);
    db_number(&params, ENGINE_SILENT_AFTER);
    enum az_status st = db_exec(op, &settle_stmt, &params, false, &result);
    if (st == AZ_OK)
        *ret_confirmed = db_get_bool(result, 0, SETTLE_CONFIRMED);
    return st;
}

enum az_status
bundle_forget_engines(struct op *op)
{
    return db_exec(op, &forget_stmt, NULL, false, NULL);
}
