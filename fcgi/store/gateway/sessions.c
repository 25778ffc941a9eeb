#include "config.h"

#include "store/gateway/sessions.h"

#include "store/db/keep/locks.h"
#include "store/db/keep/purge.h"

#define SESSION_COLUMNS                                                                            \
    "s.ended_at IS NOT NULL AS ended, s.log_level AS level, s.uris <> '{}' AS watches, s.changes"
enum gateway_session_read_column { SESSION_ENDED, SESSION_LEVEL, SESSION_WATCHES, SESSION_CHANGES };
static const struct db_stmt gateway_session_read_stmt = {
    "gateway_session_read", "SELECT " SESSION_COLUMNS " FROM gateway_session s WHERE s.id = $1", 1};

enum gateway_sessions_look_column { LOOK_ENDED, LOOK_LEVEL, LOOK_WATCHES, LOOK_CHANGES, LOOK_N };
static const struct db_stmt gateway_sessions_look_stmt = {
    "gateway_sessions_look",
    "SELECT " SESSION_COLUMNS ", o.n FROM unnest($1::bytea[]) WITH ORDINALITY AS o (id, n)"
    " JOIN gateway_session s ON s.id = o.id",
    1};

/* The caller holds the lock of the owner, so that the count is right. */
static const struct db_stmt gateway_session_keep_stmt = {
    "gateway_session_keep",
    "INSERT INTO gateway_session AS s (id, owner_hash, log_level, ended_at, expires_at)"
    " SELECT $1, $2, $3::smallint, CASE WHEN $4::boolean THEN now() END, $5::timestamptz"
    "  WHERE EXISTS (SELECT 1 FROM gateway_session WHERE id = $1)"
    "   OR (SELECT count(*) FROM gateway_session WHERE owner_hash = $2 AND expires_at > now())"
    "    < $6::bigint"
    " ON CONFLICT (id) DO UPDATE SET log_level = coalesce(excluded.log_level, s.log_level),"
    "  ended_at = coalesce(s.ended_at, excluded.ended_at)",
    6};

/* The caller holds the lock of the owner. Subscriptions that are there already count as kept. */
static const struct db_stmt gateway_session_watch_stmt = {
    "gateway_session_watch",
    "INSERT INTO gateway_session AS s (id, owner_hash, expires_at, uris, changes)"
    " SELECT $1, $2, $3::timestamptz, ARRAY[$4::text], 1"
    "  WHERE EXISTS (SELECT 1 FROM gateway_session WHERE id = $1)"
    "   OR (SELECT count(*) FROM gateway_session WHERE owner_hash = $2 AND expires_at > now())"
    "    < $5::bigint"
    " ON CONFLICT (id) DO UPDATE SET uris = CASE WHEN $4 = ANY (s.uris) THEN s.uris"
    "   ELSE s.uris || $4::text END,"
    "  changes = s.changes + CASE WHEN $4 = ANY (s.uris) THEN 0 ELSE 1 END"
    "  WHERE $4 = ANY (s.uris) OR (cardinality(s.uris) < $6::int"
    "   AND octet_length(array_to_string(s.uris, '')) + octet_length($4) <= $7::int)",
    7};

static const struct db_stmt gateway_session_unwatch_stmt = {
    "gateway_session_unwatch",
    "UPDATE gateway_session SET uris = array_remove(uris, $2::text), changes = changes + 1"
    " WHERE id = $1 AND $2 = ANY (uris)",
    2};

enum gateway_session_uris_column { SESSION_URIS };
static const struct db_stmt gateway_session_uris_stmt = {
    "gateway_session_uris", "SELECT to_json(uris) AS uris FROM gateway_session WHERE id = $1", 1};

static const struct db_stmt gateway_session_purge_stmt = {
    "gateway_session_purge",
    "DELETE FROM gateway_session WHERE id IN (SELECT id FROM gateway_session"
    " WHERE expires_at < now() - interval '60 seconds' ORDER BY expires_at LIMIT $1"
    " FOR UPDATE SKIP LOCKED)",
    1};

struct db_step *
session_step(struct db_batch *batch, const unsigned char id[GATEWAY_SESSION_OCTETS])
{
    struct db_step *step = db_batch_add(batch, &gateway_session_read_stmt);
    db_octets(&step->params, id, GATEWAY_SESSION_OCTETS);
    return step;
}

/* Take a row out of a result; a row that is not there says nothing. */
static struct gateway_session_row
row_of(const PGresult *result, int row)
{
    bool found = row < PQntuples(result);
    return (struct gateway_session_row){
        .ended = found && db_get_bool(result, row, SESSION_ENDED),
        .log_level = found ? (int) db_get_number(result, row, SESSION_LEVEL, -1) : -1,
        .watches = found && db_get_bool(result, row, SESSION_WATCHES),
        .changes = found ? db_get_number(result, row, SESSION_CHANGES, 0) : 0,
    };
}

void
session_take(const struct db_step *step, struct gateway_session_row *ret)
{
    *ret = row_of(step->result, 0);
}

static enum az_status
refuse_row(struct op *op)
{
    return op_fail(op, AZ_BUSY, "Too many sessions are open; try again later",
                   "the owner of a session has as many as it may have");
}

enum az_status
session_keep(struct op *op, const struct gateway_session *session, int log_level, bool ends)
{
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    lock_add(batch, LOCK_OWNER, session->owner, sizeof(session->owner));
    struct db_step *step = db_batch_add(batch, &gateway_session_keep_stmt);
    db_batch_commit(batch);
    db_octets(&step->params, session->id, sizeof(session->id));
    db_octets(&step->params, session->owner, sizeof(session->owner));
    if (log_level >= 0)
        db_number(&step->params, log_level);
    else
        db_text(&step->params, NULL);
    db_bool(&step->params, ends);
    db_time(&step->params, session->until * 1000);
    db_number(&step->params, GATEWAY_SESSIONS_MAX);
    enum az_status st = db_run(op, batch, false);
    if (st == AZ_OK && db_written(step->result) == 0)
        return refuse_row(op);
    return st;
}

enum az_status
session_watch(struct op *op, const struct gateway_session *session, const char *uri, bool *ret_full)
{
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    lock_add(batch, LOCK_OWNER, session->owner, sizeof(session->owner));
    struct db_step *before = session_step(batch, session->id);
    struct db_step *step = db_batch_add(batch, &gateway_session_watch_stmt);
    db_batch_commit(batch);
    db_octets(&step->params, session->id, sizeof(session->id));
    db_octets(&step->params, session->owner, sizeof(session->owner));
    db_time(&step->params, session->until * 1000);
    db_text(&step->params, uri);
    db_number(&step->params, GATEWAY_SESSIONS_MAX);
    db_number(&step->params, GATEWAY_SESSION_URIS_MAX);
    db_number(&step->params, GATEWAY_SESSION_URIS_OCTETS_MAX);
    enum az_status st = db_run(op, batch, false);
    bool kept = st == AZ_OK && db_written(step->result) > 0;
    *ret_full = st == AZ_OK && !kept && PQntuples(before->result) > 0;
    return st == AZ_OK && !kept && !*ret_full ? refuse_row(op) : st;
}

enum az_status
session_unwatch(struct op *op, const struct gateway_session *session, const char *uri,
                bool *ret_was)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add(batch, &gateway_session_unwatch_stmt);
    db_octets(&step->params, session->id, sizeof(session->id));
    db_text(&step->params, uri);
    enum az_status st = db_run(op, batch, false);
    *ret_was = st == AZ_OK && db_written(step->result) > 0;
    return st;
}

enum az_status
session_uris(struct op *op, const struct gateway_session *session, const char ***ret)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add(batch, &gateway_session_uris_stmt);
    db_octets(&step->params, session->id, sizeof(session->id));
    enum az_status st = db_run(op, batch, true);
    *ret = NULL;
    return st == AZ_OK ? db_get_words(op->mem, step->result, 0, SESSION_URIS, ret) : st;
}

enum az_status
sessions_look(struct op *op, const unsigned char (*id)[GATEWAY_SESSION_OCTETS], size_t count,
              struct gateway_session_row *ret)
{
    const char **words = talloc_array(op->mem, const char *, (unsigned) count + 1);
    for (size_t i = 0; i < count; i++) {
        char *word = words != NULL ? talloc_strdup(words, "\\x") : NULL;
        for (size_t j = 0; word != NULL && j < GATEWAY_SESSION_OCTETS; j++)
            word = talloc_asprintf_append(word, "%02x", id[i][j]);
        if (word == NULL)
            return op_no_memory(op);
        words[i] = word;
        ret[i] = (struct gateway_session_row){.log_level = -1};
    }
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add(batch, &gateway_sessions_look_stmt);
    db_words(op->mem, &step->params, words, count);
    enum az_status st = db_run(op, batch, true);
    for (int row = 0; st == AZ_OK && row < PQntuples(step->result); row++) {
        int64_t n = db_get_number(step->result, row, LOOK_N, 0);
        if (n >= 1 && n <= (int64_t) count)
            ret[n - 1] = row_of(step->result, row);
    }
    return st;
}

enum az_status
session_rows_purge(struct op *op, int64_t *removed)
{
    return db_purge(op, &gateway_session_purge_stmt, 0, removed);
}
