#include "config.h"

#include "store/gateway/sessions.h"

#include "store/db/locks.h"
#include "store/db/purge.h"

enum gateway_session_read_column { SESSION_ENDED, SESSION_LEVEL };
static const struct db_stmt gateway_session_read_stmt = {
    "gateway_session_read",
    "SELECT ended_at IS NOT NULL AS ended, log_level AS level FROM gateway_session WHERE id = $1",
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

static const struct db_stmt gateway_sessions_ended_stmt = {
    "gateway_sessions_ended",
    "SELECT o.n FROM unnest($1::bytea[]) WITH ORDINALITY AS o (id, n)"
    " JOIN gateway_session s ON s.id = o.id WHERE s.ended_at IS NOT NULL",
    1};

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

void
session_take(const struct db_step *step, struct gateway_session_row *ret)
{
    bool found = PQntuples(step->result) > 0;
    *ret = (struct gateway_session_row){
        .ended = found && db_get_bool(step->result, 0, SESSION_ENDED),
        .log_level = found ? (int) db_get_number(step->result, 0, SESSION_LEVEL, -1) : -1,
    };
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
        return op_fail(op, AZ_BUSY, "Too many sessions are open; try again later",
                       "the owner of a session has as many as it may have");
    return st;
}

enum az_status
sessions_ended(struct op *op, const unsigned char (*id)[GATEWAY_SESSION_OCTETS], size_t count,
               bool *ended)
{
    const char **words = talloc_array(op->mem, const char *, (unsigned) count + 1);
    for (size_t i = 0; i < count; i++) {
        char *word = words != NULL ? talloc_strdup(words, "\\x") : NULL;
        for (size_t j = 0; word != NULL && j < GATEWAY_SESSION_OCTETS; j++)
            word = talloc_asprintf_append(word, "%02x", id[i][j]);
        if (word == NULL)
            return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for a look at sessions");
        words[i] = word;
        ended[i] = false;
    }
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = db_batch_add(batch, &gateway_sessions_ended_stmt);
    db_words(op->mem, &step->params, words, count);
    enum az_status st = db_run(op, batch, true);
    for (int row = 0; st == AZ_OK && row < PQntuples(step->result); row++) {
        int64_t n = db_get_number(step->result, row, 0, 0);
        if (n >= 1 && n <= (int64_t) count)
            ended[n - 1] = true;
    }
    return st;
}

enum az_status
session_rows_purge(struct op *op, int64_t *removed)
{
    return db_purge(op, &gateway_session_purge_stmt, 0, removed);
}
