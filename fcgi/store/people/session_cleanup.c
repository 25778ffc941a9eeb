#include "config.h"

#include "store/people/session_cleanup.h"

#include "base/settings/settings.h"
#include "store/db/db.h"
#include "store/db/trip/db_row.h"

/* Locked rows are left for the next run: housekeeping does not wait. A session whose stored end is
 * later than its age allows ($2) is from a time when SVC_SESSION_MAX_AGE was longer. */
static const struct db_stmt cleanup_sessions_stmt = {
    "cleanup_sessions",
    "DELETE FROM browser_session WHERE id_hash IN (SELECT id_hash FROM browser_session"
    " WHERE expires_at <= now()"
    "  OR created_at <= now() - make_interval(secs => $2::double precision)"
    " LIMIT $1 FOR UPDATE SKIP LOCKED)",
    2};
static const struct db_stmt cleanup_sign_ins_stmt = {
    "cleanup_sign_ins",
    "DELETE FROM sign_in WHERE state_hash IN (SELECT state_hash FROM sign_in"
    " WHERE expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)",
    1};
static const struct db_stmt cleanup_consent_requests_stmt = {
    "cleanup_consent_requests",
    "DELETE FROM consent_request WHERE id_hash IN (SELECT id_hash FROM consent_request"
    " WHERE expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)",
    1};
static const struct removal {
    const struct db_stmt *stmt; /* $1 is the size of a batch */
    bool by_age;                /* $2 is the longest life of a session in seconds */
} removals[] = {
    {&cleanup_sessions_stmt,         true },
    {&cleanup_sign_ins_stmt,         false},
    {&cleanup_consent_requests_stmt, false},
};
#define REMOVALS (sizeof(removals) / sizeof(removals[0]))

/* Remembered starts are deleted once no such process can be alive. */
static const struct db_stmt session_discard_stmt = {
    "session_discard",
    "WITH old AS (DELETE FROM job WHERE name LIKE 'discard per user %'"
    "   AND ran_at < now() - interval '5 years'),"
    " ours AS (INSERT INTO job (name, due_at, ran_at) VALUES ('discard per user ' || $1::text,"
    "   'infinity', now()) ON CONFLICT (name) DO NOTHING RETURNING 1),"
    " s AS (DELETE FROM browser_session WHERE EXISTS (SELECT 1 FROM ours) RETURNING 1),"
    " i AS (DELETE FROM sign_in WHERE EXISTS (SELECT 1 FROM ours) RETURNING 1),"
    " c AS (DELETE FROM gateway_connection WHERE EXISTS (SELECT 1 FROM ours) RETURNING 1),"
    " l AS (DELETE FROM gateway_link_request WHERE EXISTS (SELECT 1 FROM ours) RETURNING 1),"
    " u AS (DELETE FROM upstream_token WHERE owner <> '' AND EXISTS (SELECT 1 FROM ours))"
    " SELECT EXISTS (SELECT 1 FROM ours) AS done, (SELECT count(*) FROM s) AS sessions,"
    "  (SELECT count(*) FROM i) AS sign_ins, (SELECT count(*) FROM c) AS connections,"
    "  (SELECT count(*) FROM l) AS links",
    1};
static const struct db_column session_discard_columns[] = {
    {"done",        DB_INTO(struct session_discarded, done)       },
    {"sessions",    DB_INTO(struct session_discarded, sessions)   },
    {"sign_ins",    DB_INTO(struct session_discarded, sign_ins)   },
    {"connections", DB_INTO(struct session_discarded, connections)},
    {"links",       DB_INTO(struct session_discarded, links)      },
};

static enum az_status
remove_rows(struct op *op, const struct removal *removal, int64_t *removed)
{
    for (int i = 0; i < SESSION_CLEANUP_BATCHES && !*op->az->stopping; i++) {
        struct db_params params = {.count = 0};
        PGresult *result;
        db_number(&params, SESSION_CLEANUP_BATCH);
        if (removal->by_age)
            db_number(&params, op->az->cfg->session_max_age);
        enum az_status st = db_exec(op, removal->stmt, &params, false, &result);
        if (st != AZ_OK)
            return st;
        int64_t rows = db_written(result);
        *removed += rows;
        if (rows < SESSION_CLEANUP_BATCH)
            break;
    }
    return AZ_OK;
}

enum az_status
session_cleanup(struct op *op, int64_t *ret_removed)
{
    int64_t removed = 0;
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < REMOVALS && st == AZ_OK; i++)
        st = remove_rows(op, &removals[i], &removed);
    *ret_removed = removed;
    return st;
}

enum az_status
session_discard(struct op *op, const char *start, struct session_discarded *ret)
{
    struct db_params params = {.count = 0};
    db_text(&params, start);
    *ret = (struct session_discarded){.done = false};
    return db_fetch_row(op, &session_discard_stmt, &params, false,
                        DB_TABLE(struct session_discarded, session_discard_columns), ret, NULL);
}
