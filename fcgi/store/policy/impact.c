#include "config.h"

#include "store/policy/impact.h"

#include "base/settings/settings.h"
#include "store/db/db.h"
#include "store/db/keep/locks.h"

static const struct db_stmt impact_insert_stmt = {
    "impact_insert",
    "INSERT INTO policy_impact (who, base, candidate, selection) VALUES ($1, $2, $3, $4) RETURNING "
    "id",
    4};
static const struct db_stmt impact_note_stmt = {
    "impact_note", "UPDATE policy_impact SET looked = $2 WHERE id = $1 AND state = 'running'", 2};
static const struct db_stmt impact_end_stmt = {
    "impact_end",
    "UPDATE policy_impact SET state = CASE WHEN $2::text IS NULL THEN 'failed' ELSE 'done' END, "
    "result = $2, note = $3, ended_at = now(), looked = coalesce(($2::jsonb ->> 'looked')::bigint, "
    "looked) WHERE id = $1 AND state = 'running'",
    3};

/* A run holds LOCK_IMPACT from before its row is seen to its end. The locks are looked at once for
 * all that a statement says. */
#define HELD                                                                                       \
    "WITH held AS MATERIALIZED (SELECT EXISTS (SELECT 1 FROM pg_locks l WHERE l.locktype = "       \
    "'advisory' AND l.classid = $1::oid AND l.granted AND l.database = (SELECT oid FROM "          \
    "pg_database WHERE datname = current_database())) AS live) "
#define LIVE "(i.state = 'running' AND held.live)"
#define LOST "(i.state = 'running' AND NOT held.live)"
#define DTO                                                                                        \
    "jsonb_strip_nulls(jsonb_build_object('id', i.id, 'state', CASE WHEN NOT " LOST                \
    " THEN i.state ELSE 'failed' END, 'createdAt', to_char(i.made_at" DB_TIME                      \
    ", 'by', i.who, 'baseRevision', i.base, 'candidateRevision', i.candidate, 'selection', "       \
    "i.selection::jsonb, 'progress', jsonb_build_object('done', i.looked, 'of', "                  \
    "i.selection::jsonb -> 'decisions', 'elapsedMs', (extract(epoch FROM coalesce(i.ended_at, "    \
    "now()) - i.made_at) * 1000)::bigint), 'note', CASE WHEN " LOST                                \
    " THEN 'process lost' ELSE i.note END))"
enum impact_fetch_column { FETCH_DTO, FETCH_RUNNING, FETCH_LOST };
static const struct db_stmt impact_fetch_stmt = {
    "impact_fetch",
    HELD "SELECT " DTO " || coalesce(i.result::jsonb, '{}') AS dto, " LIVE " AS running, " LOST
         " AS lost FROM policy_impact i, held WHERE i.id = $2",
    2};
static const struct db_stmt impact_find_like_stmt = {
    "impact_find_like",
    "SELECT max(id) FROM policy_impact WHERE state = 'done' AND base = $1 AND candidate = $2"
    " AND selection::jsonb ->> 'guards' = $3"
    " AND ($4::text IS NULL OR selection::jsonb ->> 'since' = $4)"
    " AND (selection::jsonb ->> 'decisions')::bigint = $5"
    " AND made_at > now() - make_interval(secs => $6::bigint)"
    " AND NOT selection::jsonb ?| ARRAY['filter', 'until']"
    " AND result::jsonb @> '{\"truncated\": false}'"
    " AND (NOT result::jsonb ? 'sampled' OR extract(epoch FROM (result::jsonb ->> "
    "'to')::timestamptz"
    "  - (result::jsonb ->> 'from')::timestamptz) * 1000 <= $7::bigint)",
    7};
enum impact_list_column { LIST_RUNS, LIST_LOST };
static const struct db_stmt impact_list_stmt = {
    "impact_list",
    HELD "SELECT coalesce(jsonb_agg(" DTO
         " ORDER BY i.id DESC), '[]') AS runs, coalesce(bool_or(" LOST
         "), false) AS lost FROM policy_impact i, held",
    1};
static const struct db_stmt impact_remove_stmt = {"impact_remove",
                                                  "DELETE FROM policy_impact WHERE id = $1", 1};
static const struct db_stmt impact_end_previews_stmt = {
    "impact_end_previews",
    "DELETE FROM policy_impact WHERE state = 'running' AND (selection::jsonb -> 'save') IS NULL",
    0};
static const struct db_stmt impact_purge_stmt = {
    "impact_purge",
    "DELETE FROM policy_impact WHERE made_at < now() - make_interval(days => $1::integer) OR id <= "
    "(SELECT id FROM policy_impact ORDER BY id DESC OFFSET $2 LIMIT 1)",
    2};

enum az_status
impact_insert(struct op *op, const struct impact_new *run, int64_t *ret_id)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, run->who);
    db_text(&params, run->base);
    db_text(&params, run->candidate);
    db_text(&params, run->selection);
    enum az_status st = db_exec(op, &impact_insert_stmt, &params, false, &result);
    *ret_id = st == AZ_OK ? db_get_number(result, 0, 0, 0) : 0;
    return st;
}

enum az_status
impact_note(struct op *op, int64_t id, int64_t looked, bool *ret_wanted)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, id);
    db_number(&params, looked);
    enum az_status st = db_exec(op, &impact_note_stmt, &params, false, &result);
    *ret_wanted = st == AZ_OK && db_written(result) > 0;
    return st;
}

enum az_status
impact_end(struct op *op, int64_t id, const char *result, const char *note)
{
    struct db_params params = {.count = 0};
    db_number(&params, id);
    db_text(&params, result);
    db_text(&params, note);
    return db_exec(op, &impact_end_stmt, &params, false, NULL);
}

/*
 * Read by a statement; *ret has a row with the column `lost`. The locks are those of now, and the
 * rows are those of the statement's snapshot: a run that ended in between looks lost. It stores its
 * end before it gives the lock back, so a second statement sees the end.
 */
static enum az_status
read_runs(struct op *op, const struct db_stmt *stmt, const int64_t *id, int lost_column,
          PGresult **ret)
{
    enum az_status st = AZ_OK;
    bool lost = true;
    for (int look = 0; look < 2 && st == AZ_OK && lost; look++) {
        struct db_params params = {.count = 0};
        db_number(&params, LOCK_IMPACT);
        if (id != NULL)
            db_number(&params, *id);
        st = db_exec(op, stmt, &params, true, ret);
        lost = st == AZ_OK && db_get_bool(*ret, 0, lost_column);
    }
    return st;
}

enum az_status
impact_fetch(struct op *op, int64_t id, const char **ret, bool *ret_running)
{
    PGresult *result = NULL;
    enum az_status st = read_runs(op, &impact_fetch_stmt, &id, FETCH_LOST, &result);
    *ret = st == AZ_OK ? db_get(result, 0, FETCH_DTO) : NULL;
    *ret_running = st == AZ_OK && db_get_bool(result, 0, FETCH_RUNNING);
    return st;
}

enum az_status
impact_find_like(struct op *op, const struct impact_like *like, int64_t *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, like->base);
    db_text(&params, like->candidate);
    db_text(&params, like->guards);
    db_text(&params, like->since);
    db_number(&params, like->decisions);
    db_number(&params, like->age_s);
    db_number(&params, like->sample_ms);
    enum az_status st = db_exec(op, &impact_find_like_stmt, &params, true, &result);
    *ret = st == AZ_OK ? db_get_number(result, 0, 0, 0) : 0;
    return st;
}

enum az_status
impact_list(struct op *op, const char **ret)
{
    PGresult *result = NULL;
    enum az_status st = read_runs(op, &impact_list_stmt, NULL, LIST_LOST, &result);
    *ret = st == AZ_OK ? db_get(result, 0, LIST_RUNS) : NULL;
    return st;
}

enum az_status
impact_remove(struct op *op, int64_t id, bool *ret_found)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, id);
    enum az_status st = db_exec(op, &impact_remove_stmt, &params, false, &result);
    *ret_found = st == AZ_OK && db_written(result) > 0;
    return st;
}

enum az_status
impact_end_previews(struct op *op)
{
    return db_exec(op, &impact_end_previews_stmt, NULL, false, NULL);
}

enum az_status
impact_purge(struct op *op, int64_t *ret_removed)
{
    const struct settings *cfg = op->az->cfg;
    struct db_params params = {.count = 0};
    PGresult *result;
    bool sooner =
        cfg->audit_retention_days > 0 && cfg->audit_retention_days < cfg->impact_keep_days;
    db_number(&params, sooner ? cfg->audit_retention_days : cfg->impact_keep_days);
    db_number(&params, IMPACT_KEPT_MAX);
    enum az_status st = db_exec(op, &impact_purge_stmt, &params, false, &result);
    *ret_removed = st == AZ_OK ? db_written(result) : 0;
    return st;
}
