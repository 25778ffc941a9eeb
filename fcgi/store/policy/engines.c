#include "config.h"

#include "store/policy/engines.h"

#include "base/clock.h"
#include "store/db/db.h"

/* Reports of engines may be lost in a crash: engines repeat them, and no decision depends on them.
 * So these commits do not wait for the disk. */
#define UNHURRIED                                                                                  \
    "WITH async AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)), "

/* An error of fetching says nothing about a bundle; it is kept for the operator under another
 * code. */
static const struct db_stmt engines_report_stmt = {
    "engines_report",
    UNHURRIED
    "r AS (INSERT INTO engine_instance (instance, active_revision, code, message, tried_ms, "
    "reported_at) SELECT $1, $2, $3, $4, $5::bigint, now() FROM async"
    " ON CONFLICT (instance) DO UPDATE SET active_revision = excluded.active_revision, code = "
    "excluded.code, message = excluded.message, tried_ms = excluded.tried_ms, reported_at = "
    "excluded.reported_at RETURNING 1)"
    " SELECT pg_notify('svc_bundle_status', $1) FROM r",
    5};
#define CODE_TRANSPORT "transport"

/* Only the first fetch counts: reports after it can be about this bundle. */
static const struct db_stmt engines_fetched_stmt = {
    "engines_fetched",
    UNHURRIED
    "b AS (UPDATE bundle SET fetched_ms = $3 WHERE id = $1 AND fetched_ms IS NULL)"
    " UPDATE engine_instance SET fetched = $1, fetched_ms = $3 FROM async WHERE instance = $2 AND "
    "fetched IS DISTINCT FROM $1",
    3};
static const struct db_stmt engines_wake_stmt = {"engines_wake",
                                                 "SELECT pg_notify('svc_bundle_status', 'get')", 0};
/* One statement decides and records: either all engines that reported lately have the served
 * revision, or, if none did, our own engine has it. */
enum engines_settle_column { SETTLE_CONFIRMED, SETTLE_CHANGED };
static const struct db_stmt engines_settle_stmt = {
    "engines_settle",
    "WITH async AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)), "
    "served AS (SELECT b.id, b.revision FROM async, bundle_state s JOIN bundle b ON b.id = "
    "s.served "
    "WHERE b.status <> 'pending'),"
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
/* A status does not name the bundle that it refuses. It is about the candidate if the engine's
 * last attempt came after the engine first fetched the candidate, because engines try one bundle
 * after the other. If an engine does not name itself when it fetches, the fetch counts for every
 * engine. */
enum engines_verdict_column {
    VERDICT_TAKEN,
    VERDICT_REFUSAL,
    VERDICT_ACTIVE,
    VERDICT_LATE,
    VERDICT_HEARD
};
static const struct db_stmt engines_verdict_stmt = {
    "engines_verdict",
    "WITH c AS (SELECT id, revision, fetched_ms, created_at FROM bundle WHERE id = $1),"
    " heard AS (SELECT e.instance, e.active_revision, e.message, e.reported_at, e.active_revision "
    "= c.revision "
    "AS active,"
    "   e.code <> '' AND e.code <> '" CODE_TRANSPORT "' AND e.active_revision <> c.revision"
    "   AND e.tried_ms >= CASE WHEN e.fetched IS NULL THEN c.fetched_ms WHEN e.fetched = c.id THEN "
    "e.fetched_ms END AS refused"
    "  FROM engine_instance e, c WHERE e.reported_at > now() - make_interval(secs => $3::double "
    "precision))"
    " SELECT coalesce((SELECT bool_and(active) FROM heard), c.revision = $2::text, false) AS taken,"
    " (SELECT coalesce(nullif(message, ''), 'the engine gave no reason') FROM heard WHERE refused "
    "LIMIT 1) AS refusal,"
    " (SELECT active_revision FROM heard ORDER BY refused DESC NULLS LAST, active LIMIT 1) AS "
    "active,"
    " (SELECT instance FROM heard WHERE NOT active ORDER BY reported_at LIMIT 1) AS late,"
    " EXISTS (SELECT 1 FROM heard WHERE reported_at > c.created_at) AS heard FROM c",
    3};
enum engines_may_decide_column { MAY_GOOD };
static const struct db_stmt engines_may_decide_stmt = {
    "engines_may_decide",
    "SELECT $1 = ANY (s.acceptable) OR EXISTS (SELECT 1 FROM "
    "bundle b WHERE b.status = 'pending' AND "
    "b.revision = $1) AS good FROM bundle_state s",
    1};
static const struct db_stmt engines_forget_stmt = {
    "engines_forget", "DELETE FROM engine_instance WHERE reported_at < now() - interval '1 day'",
    0};

enum az_status
engines_report(struct op *op, const struct engine_report *report)
{
    struct db_params params = {.count = 0};
    bool confirmed;
    db_text(&params, report->instance);
    db_text(&params, report->revision);
    db_text(&params, report->transport ? CODE_TRANSPORT : report->code);
    db_text(&params, report->message);
    db_number(&params, report->tried_ms);
    enum az_status st = db_exec(op, &engines_report_stmt, &params, false, NULL);
    return st == AZ_OK ? engines_settle(op, NULL, &confirmed) : st;
}

enum az_status
engines_note_fetch(struct op *op, int64_t bundle, const char *instance)
{
    struct db_params params = {.count = 0};
    db_number(&params, bundle);
    db_text(&params, instance);
    db_number(&params, clock_realtime_ms());
    return db_exec(op, &engines_fetched_stmt, &params, false, NULL);
}

enum az_status
engines_wake_saver(struct op *op)
{
    return db_exec(op, &engines_wake_stmt, NULL, false, NULL);
}

enum az_status
engines_settle(struct op *op, const char *own_revision, bool *ret_confirmed)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, own_revision);
    db_number(&params, ENGINE_SILENT_AFTER);
    enum az_status st = db_exec(op, &engines_settle_stmt, &params, false, &result);
    if (st == AZ_OK)
        *ret_confirmed = db_get_bool(result, 0, SETTLE_CONFIRMED);
    return st;
}

enum az_status
engines_verdict(struct op *op, int64_t bundle, const char *own_revision,
                struct engines_verdict *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, bundle);
    db_text(&params, own_revision);
    db_number(&params, ENGINE_SILENT_AFTER);
    enum az_status st = db_exec(op, &engines_verdict_stmt, &params, false, &result);
    if (st != AZ_OK)
        return st;
    ret->taken = db_get_bool(result, 0, VERDICT_TAKEN);
    ret->refusal = db_get(result, 0, VERDICT_REFUSAL);
    ret->active = db_get(result, 0, VERDICT_ACTIVE);
    ret->late = db_get(result, 0, VERDICT_LATE);
    ret->heard = db_get_bool(result, 0, VERDICT_HEARD);
    return AZ_OK;
}

enum az_status
engines_may_decide(struct op *op, const char *revision, bool *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, revision);
    enum az_status st = db_exec(op, &engines_may_decide_stmt, &params, true, &result);
    if (st == AZ_OK)
        *ret = db_get_bool(result, 0, MAY_GOOD);
    return st;
}

enum az_status
engines_forget(struct op *op)
{
    return db_exec(op, &engines_forget_stmt, NULL, false, NULL);
}
