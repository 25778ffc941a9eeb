#include "config.h"

#include "store/policy/engines.h"

#include "base/clock.h"
#include "base/settings/settings.h"
#include "store/db/db.h"
#include "store/db/trip/db_row.h"

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
    " SELECT %N('svc_bundle_status', $1) FROM r",
    5};
#define CODE_TRANSPORT "transport"

/*
 * An engine is waited for only if it has reported and asked for its bundle lately, and has asked
 * since the last call. Attack: a status push costs nothing but the bundle key, so a report under a
 * made-up name makes no save wait.
 */
#define LATELY "now() - interval '" ENGINE_SILENT_AFTER " seconds'"
#define ENGINES                                                                                    \
    "engine_instance e, bundle_state s WHERE e.reported_at > " LATELY " AND e.asked_at > " LATELY
#define PRESENT ENGINES " AND e.asked_at >= s.called_at"

/* clang-format off */
static const struct db_stmt engines_list_stmt = {
    "engines_list",
    "SELECT json_strip_nulls(json_build_object('instance', instance,"
    "  'present', reported_at > " LATELY " AND coalesce(asked_at > " LATELY ", false),"
    "  'activeRevision', nullif(active_revision, ''),"
    "  'reportedAt', to_char(nullif(reported_at, '-infinity')" DB_TIME ", 'askedAt', to_char(asked_at" DB_TIME ","
    "  'code', nullif(code, ''), 'message', nullif(message, ''))) AS engine"
    " FROM engine_instance ORDER BY instance LIMIT 1000", 0};
static const struct field engine_fields[] = {
    {"instance",       FIELD_TEXT, .required = true, .help = "Name that the engine gives itself", .example = "\"opa-a\""},
    {"present",        FIELD_BOOLEAN, .required = true, .help = "It has reported, and asked for its bundle, within a minute", .example = "true"},
    {"activeRevision", FIELD_TEXT, .help = "Revision that it decides by; absent if it has no revision"},
    {"reportedAt",     FIELD_TEXT, .help = "Its last report"},
    {"askedAt",        FIELD_TEXT, .help = "Its last request for the bundle"},
    {"code",           FIELD_TEXT, .help = "Kind of its last error; absent if there was no error"},
    {"message",        FIELD_TEXT, .help = "Its last error, in its own words"},
};
/* clang-format on */
const struct field_table engine_view = FIELD_TABLE("Engine", engine_fields, FIELDS_ANSWER);

const struct json_rows engine_rows = {.noun = "engine", .list = &engines_list_stmt};

/* Names of engines, as one text, or NULL if there are none. A source of the column instance,
 * sorted, stands between the two. */
#define NAMES "(SELECT string_agg(l.instance, ', ') FROM (SELECT instance FROM "
#define NAMED " LIMIT " ENGINES_NAMED_MAX ") l)"

/* The first statement of an unnamed engine ($1 is NULL) only wakes the saver. An engine that asks
 * before its first report gets a row that no save counts. */
static const struct db_stmt engines_asked_stmt = {
    "engines_asked",
    UNHURRIED
    "a AS (INSERT INTO engine_instance (instance, active_revision, code, message, reported_at, "
    "asked_at) SELECT $1::text, '', '', '', '-infinity', clock_timestamp() FROM async WHERE $1 IS "
    "NOT NULL ON CONFLICT (instance) DO UPDATE SET asked_at = excluded.asked_at)"
    " SELECT %N('svc_bundle_status', 'get') FROM async",
    1};
/* Only the first fetch counts: reports after it can be about this bundle. */
static const struct db_stmt engines_fetched_stmt = {
    "engines_fetched",
    UNHURRIED
    "b AS (UPDATE bundle SET fetched_ms = $3 WHERE id = $1 AND fetched_ms IS NULL)"
    " UPDATE engine_instance SET fetched = $1, fetched_ms = $3 FROM async WHERE instance = $2 AND "
    "fetched IS DISTINCT FROM $1",
    3};
/* Without a second engine the wait for a dead one stops no decisions. The time of the call before
 * tells the engines that did not answer it, which are not called again. */
enum engines_call_column { CALL_BEFORE, CALL_PG_NOTIFY };
static const struct db_stmt engines_call_stmt = {
    "engines_call",
    UNHURRIED
    "there AS (SELECT count(*) AS engines FROM " PRESENT "),"
    " before AS (SELECT called_at FROM bundle_state),"
    " called AS (UPDATE bundle_state SET called_at = clock_timestamp() FROM there, async WHERE "
    "there.engines > 1 RETURNING 1)"
    " SELECT before.called_at::text AS before, %N('svc_bundle', 'call') FROM called, before",
    0};
enum engines_unanswered_column { UNANSWERED_LATE };
static const struct db_stmt engines_unanswered_stmt = {
    "engines_unanswered",
    "SELECT " NAMES ENGINES " AND e.asked_at >= $1::timestamptz AND e.asked_at < s.called_at ORDER "
    "BY instance" NAMED " AS late",
    1};
/* An engine without the bundle (b) is awaited for the grace after the bundle was published. After
 * that it must have asked, and not even so once the save has waited long enough for it. */
#define AWAITED                                                                                    \
    "(e.active_revision <> b.revision AND (b.created_at + make_interval(secs => $3::double "       \
    "precision / 1000) > now() OR (coalesce(e.asked_at >= b.created_at, false) AND $2::boolean)))"
/* One statement decides and records: an engine has the served revision, and none is awaited. */
enum engines_settle_column { SETTLE_CONFIRMED, SETTLE_CHANGED, SETTLE_LATE };
static const struct db_stmt engines_settle_stmt = {
    "engines_settle",
    UNHURRIED
    "b AS (SELECT b.id, b.revision, b.created_at FROM async, bundle_state s JOIN bundle b ON b.id "
    "= s.served WHERE b.status <> 'pending'),"
    " heard AS (SELECT e.instance, e.active_revision = b.revision AS active, " AWAITED
    " AS awaited FROM b, " PRESENT "),"
    " verdict AS (SELECT b.id, b.revision FROM b WHERE NOT EXISTS (SELECT 1 FROM heard WHERE "
    "awaited) AND (b.revision = $1::text OR EXISTS (SELECT 1 FROM heard WHERE active))),"
    " state AS (UPDATE bundle_state s SET acceptable = ARRAY[v.revision] FROM verdict v"
    "  WHERE s.served = v.id AND s.acceptable <> ARRAY[v.revision] RETURNING 1),"
    " bundle AS (UPDATE bundle SET status = 'confirmed', confirmed_at = now()"
    "  WHERE id = (SELECT id FROM verdict) AND status = 'published' RETURNING 1)"
    " SELECT EXISTS (SELECT 1 FROM verdict) AS confirmed, (SELECT count(*) FROM state) + (SELECT "
    "count(*) FROM bundle) AS changed, " NAMES "heard WHERE awaited ORDER BY instance" NAMED
    " AS late",
    3};
/* A status does not name the bundle that it refuses. It is about the candidate if the engine's
 * last attempt came after the engine first fetched the candidate, because engines try one bundle
 * after the other. If an engine does not name itself when it fetches, the fetch counts for every
 * engine. The engine beside the saver ($5) was asked itself, so it counts in any case. */
static const struct db_stmt engines_verdict_stmt = {
    "engines_verdict",
    "WITH b AS (SELECT id, revision, fetched_ms, created_at FROM bundle WHERE id = $4),"
    " heard AS (SELECT e.instance, e.active_revision, e.message, e.reported_at, e.active_revision "
    "= b.revision AS active, " AWAITED " AS awaited,"
    "   e.code <> '' AND e.code <> '" CODE_TRANSPORT "' AND e.active_revision <> b.revision"
    "   AND e.tried_ms >= CASE WHEN e.fetched IS NULL THEN b.fetched_ms WHEN e.fetched = b.id THEN "
    "e.fetched_ms END AS refused"
    "  FROM b, " PRESENT " OR e.instance = $5)"
    " SELECT NOT EXISTS (SELECT 1 FROM heard WHERE awaited) AND (coalesce(b.revision = $1::text, "
    "false) OR EXISTS (SELECT 1 FROM heard WHERE active)) AS taken,"
    " (SELECT coalesce(nullif(message, ''), 'the engine gave no reason') FROM heard WHERE refused "
    "ORDER BY instance LIMIT 1) AS refusal,"
    " (SELECT instance FROM heard WHERE refused ORDER BY instance LIMIT 1) AS refused_by,"
    " (SELECT active_revision FROM heard ORDER BY refused DESC NULLS LAST, active LIMIT 1) AS "
    "active,"
    " " NAMES "heard WHERE awaited ORDER BY reported_at, instance" NAMED " AS late,"
    " EXISTS (SELECT 1 FROM heard WHERE reported_at > b.created_at) AS heard FROM b",
    5};
/* clang-format off */
static const struct db_column engines_verdict_columns[] = {
    {"taken",      DB_INTO(struct engines_verdict, taken), .needed = true},
    {"refusal",    DB_INTO(struct engines_verdict, refusal)},
    {"refused_by", DB_INTO(struct engines_verdict, refused_by)},
    {"active",     DB_INTO(struct engines_verdict, active)},
    {"late",       DB_INTO(struct engines_verdict, late)},
    {"heard",      DB_INTO(struct engines_verdict, heard)},
};
/* clang-format on */
enum engines_may_decide_column { MAY_GOOD };
static const struct db_stmt engines_may_decide_stmt = {
    "engines_may_decide",
    "SELECT $1 = ANY (s.acceptable) OR EXISTS (SELECT 1 FROM "
    "bundle b WHERE b.status = 'pending' AND "
    "b.revision = $1) AS good FROM bundle_state s",
    1};
enum engines_decide_column { DECIDES_GOOD };
static const struct db_stmt engines_decide_stmt = {
    "engines_decide", "SELECT $1 = ANY (acceptable) AS good FROM bundle_state", 1};
static const struct db_stmt engines_forget_stmt = {
    "engines_forget",
    "DELETE FROM engine_instance WHERE greatest(reported_at, asked_at) < now() - interval '1 day'",
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
    return st == AZ_OK
               ? engines_settle(op, &(struct engines_look){.own_revision = NULL}, &confirmed, NULL)
               : st;
}

enum az_status
engines_note_asked(struct op *op, const char *instance)
{
    struct db_params params = {.count = 0};
    db_text(&params, instance);
    return db_exec(op, &engines_asked_stmt, &params, false, NULL);
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
engines_call(struct op *op, const char **ret_before)
{
    PGresult *result;
    enum az_status st = db_exec(op, &engines_call_stmt, NULL, false, &result);
    if (st == AZ_OK)
        *ret_before = PQntuples(result) > 0 ? db_get(result, 0, CALL_BEFORE) : NULL;
    return st;
}

enum az_status
engines_unanswered(struct op *op, const char *before, const char **ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, before);
    enum az_status st = db_exec(op, &engines_unanswered_stmt, &params, true, &result);
    if (st == AZ_OK)
        *ret = db_get(result, 0, UNANSWERED_LATE);
    return st;
}

enum az_status
engines_settle(struct op *op, const struct engines_look *look, bool *ret_confirmed,
               const char **ret_late)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, look->own_revision);
    db_bool(&params, !look->impatient);
    db_number(&params, op->az->cfg->bundle_fetch_grace_ms);
    enum az_status st = db_exec(op, &engines_settle_stmt, &params, false, &result);
    if (st == AZ_OK)
        *ret_confirmed = db_get_bool(result, 0, SETTLE_CONFIRMED);
    if (st == AZ_OK && ret_late != NULL)
        *ret_late = db_get(result, 0, SETTLE_LATE);
    return st;
}

enum az_status
engines_verdict(struct op *op, int64_t bundle, const struct engines_look *look,
                struct engines_verdict *ret)
{
    struct db_params params = {.count = 0};
    *ret = (struct engines_verdict){.taken = false};
    db_text(&params, look->own_revision);
    db_bool(&params, !look->impatient);
    db_number(&params, op->az->cfg->bundle_fetch_grace_ms);
    db_number(&params, bundle);
    db_text(&params, look->own_instance);
    return db_fetch_row(op, &engines_verdict_stmt, &params, false,
                        DB_TABLE(struct engines_verdict, engines_verdict_columns), ret, NULL);
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
engines_decide(struct op *op, const char *revision, bool *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, revision);
    enum az_status st = db_exec(op, &engines_decide_stmt, &params, true, &result);
    *ret = st == AZ_OK && PQntuples(result) > 0 && db_get_bool(result, 0, DECIDES_GOOD);
    return st;
}

enum az_status
engines_forget(struct op *op)
{
    return db_exec(op, &engines_forget_stmt, NULL, false, NULL);
}
