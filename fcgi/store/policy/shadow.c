#include "config.h"

#include "store/policy/shadow.h"

#include "base/settings/settings.h"
#include "store/db/db.h"
#include "store/db/trip/db_row.h"

/* The time of a shadow may be over before housekeeping ends it. */
#define IS_OVER "(s.state = 'active' AND s.ends_at <= now())"

/* clang-format off */
static const struct db_stmt shadow_expire_stmt = {
    "shadow_expire",
    "UPDATE policy_shadow SET state = 'expired', ended_at = ends_at WHERE state = 'active' AND ends_at <= now()", 0};
static const struct db_stmt shadow_end_stmt = {
    "shadow_end",
    "UPDATE policy_shadow SET state = $2, ended_by = $3, ended_at = now() WHERE id = $1 AND state = 'active' AND ends_at > now()", 3};
static const struct db_stmt shadow_promote_stmt = {
    "shadow_promote",
    "UPDATE policy_shadow SET state = 'promoted', ended_by = $3, ended_at = now()"
    " WHERE id = $1 AND state = 'active' AND ends_at > now() AND base = $2", 3};
static const struct db_stmt shadow_insert_stmt = {
    "shadow_insert",
    "INSERT INTO policy_shadow (who, message, change, base, candidate, rate, ends_at) VALUES ($1, $2, $3, $4, $5, $6, $7)"
    " ON CONFLICT (state) WHERE state = 'active' DO NOTHING RETURNING id", 7};
static const struct db_stmt shadow_fetch_stmt = {
    "shadow_fetch",
    "SELECT s.id, s.state = 'active' AND NOT " IS_OVER " AS active, s.id || '.' || s.base AS version,"
    " jsonb_strip_nulls(jsonb_build_object('id', s.id, 'state', CASE WHEN " IS_OVER " THEN 'expired'"
    "  WHEN s.state = 'active' AND s.note IS NOT NULL THEN 'stale' ELSE s.state END,"
    "  'createdAt', to_char(s.made_at" DB_TIME ", 'by', s.who, 'message', s.message, 'until', to_char(s.ends_at" DB_TIME ","
    "  'endedAt', to_char(CASE WHEN " IS_OVER " THEN s.ends_at ELSE s.ended_at END" DB_TIME ", 'endedBy', s.ended_by,"
    "  'rate', s.rate, 'baseRevision', s.base, 'candidateRevision', s.candidate, 'note', s.note,"
    "  'reportedAt', to_char(s.reported_at" DB_TIME ", 'change', jsonb_build_object('mode', c.j -> 'mode',"
    "  'rules', jsonb_path_query_array(c.j, '$.rules[*].path'), 'data', jsonb_path_query_array(c.j, '$.data[*].dataKey'),"
    "  'deleteRules', jsonb_path_query_array(c.j, '$.deleteRules[*]'), 'deleteData', jsonb_path_query_array(c.j, '$.deleteData[*]')))) AS dto, s.result"
    " FROM policy_shadow s, LATERAL (SELECT s.change::jsonb AS j) c ORDER BY s.id DESC LIMIT 1", 0};
static const struct db_column shadow_fetch_columns[] = {
    {"id",      DB_INTO(struct shadow_shown, id)},
    {"active",  DB_INTO(struct shadow_shown, active)},
    {"version", DB_INTO(struct shadow_shown, version)},
    {"dto",     DB_INTO(struct shadow_shown, dto)},
    {"result",  DB_INTO(struct shadow_shown, result)},
};
static const struct db_stmt shadow_fetch_active_stmt = {
    "shadow_fetch_active",
    "SELECT id, CASE WHEN id <> $1 THEN change END AS change, base, message, who, rate FROM policy_shadow"
    " WHERE state = 'active' AND ends_at > now()", 1};
static const struct db_column shadow_fetch_active_columns[] = {
    {"id",      DB_INTO(struct shadow_work, id)},
    {"change",  DB_INTO(struct shadow_work, change)},
    {"base",    DB_INTO(struct shadow_work, base)},
    {"message", DB_INTO(struct shadow_work, message)},
    {"who",     DB_INTO(struct shadow_work, who)},
    {"rate",    DB_INTO(struct shadow_work, rate)},
};
static const struct db_stmt shadow_note_stmt = {
    "shadow_note",
    "UPDATE policy_shadow SET base = coalesce($2, base), candidate = coalesce($3, candidate), note = $4"
    " WHERE id = $1 AND state = 'active'", 4};
static const struct db_stmt shadow_lock_result_stmt = {
    "shadow_lock_result", "SELECT result FROM policy_shadow WHERE id = $1 AND (state = 'active' OR ended_at > now() - interval '10 seconds') FOR UPDATE", 1};
static const struct db_stmt shadow_store_result_stmt = {
    "shadow_store_result", "UPDATE policy_shadow SET result = $2, reported_at = now() WHERE id = $1", 2};
static const struct db_stmt shadow_purge_stmt = {
    "shadow_purge",
    "DELETE FROM policy_shadow WHERE state <> 'active' AND ended_at < now() - make_interval(days => $1::integer)", 1};
static const struct field change_fields[] = {
    {"mode",        FIELD_TEXT,      .required = true, .help = "merge or replace", .example = "\"merge\""},
    {"rules",       FIELD_TEXT_LIST, .required = true, .help = "Paths of rules", .example = "[\"custom/issue.rego\"]"},
    {"data",        FIELD_TEXT_LIST, .required = true, .help = "Keys of data rows", .example = "[]"},
    {"deleteRules", FIELD_TEXT_LIST, .required = true, .help = "Paths of rules to delete", .example = "[]"},
    {"deleteData",  FIELD_TEXT_LIST, .required = true, .help = "Keys of data rows to delete", .example = "[]"},
};
static const struct field_table change_view = FIELD_TABLE("PolicyShadowChange", change_fields, FIELDS_ANSWER);
static const struct field shadow_fields[] = {
    {"id",                FIELD_INTEGER, .required = true, .example = "3"},
    {"state",             FIELD_TEXT,    .required = true, .help = "active; stale: it cannot be made of the current policy, as note says; promoted, dropped or expired", .example = "\"active\""},
    {"createdAt",         FIELD_TEXT,    .required = true, .example = "\"2026-01-31T12:00:00.000Z\""},
    {"by",                FIELD_TEXT,    .required = true, .help = "Label of the admin key, or authzctl", .example = "\"ci\""},
    {"message",           FIELD_TEXT,    .help = "Reason of the change"},
    {"until",             FIELD_TEXT,    .required = true, .help = "When it ends by itself", .example = "\"2026-02-14T12:00:00.000Z\""},
    {"endedAt",           FIELD_TEXT,    .help = "When it ended"},
    {"endedBy",           FIELD_TEXT,    .help = "Who promoted or dropped it"},
    {"rate",              FIELD_INTEGER, .required = true, .help = "One decision in so many is compared", .example = "10"},
    {"baseRevision",      FIELD_TEXT,    .required = true, .help = "Revision that it was last made of, and that promote needs to be active", .example = "\"0123456789abcdef0123456789abcdef\""},
    {"candidateRevision", FIELD_TEXT,    .required = true, .help = "Revision that it would make", .example = "\"abcdef0123456789abcdef0123456789\""},
    {"note",              FIELD_TEXT,    .help = "Why it is stale"},
    {"reportedAt",        FIELD_TEXT,    .help = "Newest report of a host that compares; absent if no host has reported yet"},
    {"change",            FIELD_OBJECT,  .required = true, .shape = &change_view},
    {"result",            FIELD_OBJECT,  .help = "Counts, groups and examples with the members of PolicyImpact, requestId in place of auditId; moved: decided by another revision; dropped: not compared because the queue was full"},
};
const struct field_table shadow_view = FIELD_TABLE("PolicyShadow", shadow_fields, FIELDS_ANSWER);
/* clang-format on */

/* End a shadow by a statement of its id, a text, and who does it. */
static enum az_status
end_by(struct op *op, const struct db_stmt *stmt, int64_t id, const char *text, const char *who,
       bool *ret_found)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, id);
    db_text(&params, text);
    db_text(&params, who);
    enum az_status st = db_exec(op, stmt, &params, false, &result);
    *ret_found = st == AZ_OK && db_written(result) > 0;
    return st;
}

enum az_status
shadow_end(struct op *op, int64_t id, const char *state, const char *who, bool *ret_found)
{
    return end_by(op, &shadow_end_stmt, id, state, who, ret_found);
}

enum az_status
shadow_promote(struct op *op, int64_t id, const char *base, const char *who, bool *ret_found)
{
    return end_by(op, &shadow_promote_stmt, id, base, who, ret_found);
}

/* Store a shadow, in the open transaction. */
static enum az_status
insert(struct op *op, const struct shadow_new *shadow, int64_t replaced, int64_t *ret_id)
{
    struct db_params params = {.count = 0};
    PGresult *result = NULL;
    bool ended;
    db_text(&params, shadow->who);
    db_text(&params, shadow->message);
    db_text(&params, shadow->change);
    db_text(&params, shadow->base);
    db_text(&params, shadow->candidate);
    db_number(&params, shadow->rate);
    db_time(&params, shadow->ends_ms);
    enum az_status st = db_exec(op, &shadow_expire_stmt, NULL, false, NULL);
    if (st == AZ_OK && replaced != 0)
        st = shadow_end(op, replaced, "dropped", shadow->who, &ended);
    if (st == AZ_OK)
        st = db_exec(op, &shadow_insert_stmt, &params, false, &result);
    *ret_id = st == AZ_OK && PQntuples(result) > 0 ? db_get_number(result, 0, 0, 0) : 0;
    return st;
}

enum az_status
shadow_insert(struct op *op, const struct shadow_new *shadow, int64_t replaced, int64_t *ret_id)
{
    enum az_status st = db_begin(op);
    if (st != AZ_OK)
        return st;
    st = insert(op, shadow, replaced, ret_id);
    if (st != AZ_OK || *ret_id != 0)
        return db_end(op, st);
    db_rollback(op);
    return AZ_OK;
}

enum az_status
shadow_fetch(struct op *op, struct shadow_shown *ret)
{
    *ret = (struct shadow_shown){.dto = NULL};
    return db_fetch_row(op, &shadow_fetch_stmt, NULL, true,
                        DB_TABLE(struct shadow_shown, shadow_fetch_columns), ret, NULL);
}

enum az_status
shadow_fetch_active(struct op *op, int64_t known, struct shadow_work *ret)
{
    struct db_params params = {.count = 0};
    *ret = (struct shadow_work){.id = 0};
    db_number(&params, known);
    return db_fetch_row(op, &shadow_fetch_active_stmt, &params, true,
                        DB_TABLE(struct shadow_work, shadow_fetch_active_columns), ret, NULL);
}

enum az_status
shadow_note(struct op *op, int64_t id, const char *base, const char *candidate, const char *note)
{
    struct db_params params = {.count = 0};
    db_number(&params, id);
    db_text(&params, base);
    db_text(&params, candidate);
    db_text(&params, note);
    return db_exec(op, &shadow_note_stmt, &params, false, NULL);
}

enum az_status
shadow_lock_result(struct op *op, int64_t id, const char **ret, bool *ret_found)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, id);
    enum az_status st = db_exec(op, &shadow_lock_result_stmt, &params, false, &result);
    *ret_found = st == AZ_OK && PQntuples(result) > 0;
    *ret = *ret_found ? db_get(result, 0, 0) : NULL;
    return st;
}

enum az_status
shadow_store_result(struct op *op, int64_t id, const char *result)
{
    struct db_params params = {.count = 0};
    db_number(&params, id);
    db_text(&params, result);
    return db_exec(op, &shadow_store_result_stmt, &params, false, NULL);
}

enum az_status
shadow_purge(struct op *op, int64_t *ret_removed)
{
    const struct settings *cfg = op->az->cfg;
    struct db_params params = {.count = 0};
    PGresult *result = NULL;
    bool sooner =
        cfg->audit_retention_days > 0 && cfg->audit_retention_days < cfg->impact_keep_days;
    db_number(&params, sooner ? cfg->audit_retention_days : cfg->impact_keep_days);
    enum az_status st = db_exec(op, &shadow_expire_stmt, NULL, false, NULL);
    if (st == AZ_OK)
        st = db_exec(op, &shadow_purge_stmt, &params, false, &result);
    *ret_removed = st == AZ_OK ? db_written(result) : 0;
    return st;
}
