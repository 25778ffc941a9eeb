#include "config.h"

#include "store/people/admin_sessions.h"

#include "store/db/db.h"
#include "store/people/admin_keys_private.h"

/* True for a row `s` of admin_session that is not over by its times, without request or at all. */
#define IS_LIVE                                                                                    \
    "s.last_seen_at > now() - make_interval(secs => $2::double precision)"                         \
    " AND s.created_at > now() - make_interval(secs => $3::double precision)"

static const struct db_stmt admin_session_begin_stmt = {
    "admin_session_begin",
    "WITH gone AS (DELETE FROM admin_session s WHERE s.id_hash = $6 OR NOT (" IS_LIVE "))"
    " INSERT INTO admin_session (id_hash, admin_key, role) VALUES ($1, $4::uuid, $5)",
    6};

enum admin_session_find_column { SESSION_ID, SESSION_LABEL, SESSION_ROLE };
static const struct db_stmt admin_session_find_stmt = {
    "admin_session_find",
    "WITH found AS (SELECT s.id_hash, k.id, k.label, k.role FROM admin_session s"
    "  JOIN admin_key k ON k.id = s.admin_key AND k.role = s.role"
    "  WHERE s.id_hash = $1 AND " IS_LIVE " AND " ADMIN_KEY_IS_VALID "),"
    " seen AS (UPDATE admin_session s SET last_seen_at = now() FROM found"
    "  WHERE s.id_hash = found.id_hash AND s.last_seen_at < now() - interval '1 minute'),"
    " used AS (" ADMIN_KEY_USED ")"
    " SELECT id, label, role FROM found",
    3};

/* clang-format off */
static const struct db_stmt admin_session_times_stmt = {
    "admin_session_times",
    "SELECT json_build_object('createdAt', to_char(created_at" DB_TIME ","
    "  'idleUntil', to_char((last_seen_at + make_interval(secs => $2::double precision))" DB_TIME ","
    "  'expiresAt', to_char((created_at + make_interval(secs => $3::double precision))" DB_TIME ")"
    " FROM admin_session WHERE id_hash = $1", 3};
/* clang-format on */

static const struct db_stmt admin_session_end_stmt = {
    "admin_session_end", "DELETE FROM admin_session WHERE id_hash = $1", 1};

/* Bind a hash and the two times. */
static void
bind_session(struct db_params *params, const unsigned char hash[SHA256_OCTETS])
{
    db_octets(params, hash, SHA256_OCTETS);
    db_number(params, ADMIN_SESSION_IDLE);
    db_number(params, ADMIN_SESSION_LIFE);
}

enum az_status
admin_session_begin(struct op *op, const unsigned char hash[SHA256_OCTETS],
                    const unsigned char *before, const struct admin_key *key)
{
    struct db_params params = {.count = 0};
    bind_session(&params, hash);
    db_text(&params, key->id);
    db_text(&params, admin_role_word(key->role));
    db_octets(&params, before, before != NULL ? SHA256_OCTETS : 0);
    return db_exec(op, &admin_session_begin_stmt, &params, false, NULL);
}

enum az_status
admin_session_find(struct op *op, const unsigned char hash[SHA256_OCTETS], struct admin_key *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    *ret = (struct admin_key){.id = NULL};
    bind_session(&params, hash);
    /* Sent again after a lost connection: the use is noted once a minute at most. */
    enum az_status st = db_exec(op, &admin_session_find_stmt, &params, true, &result);
    if (st == AZ_OK && PQntuples(result) > 0)
        *ret = (struct admin_key){db_get(result, 0, SESSION_ID), db_get(result, 0, SESSION_LABEL),
                                  admin_role_of(db_get(result, 0, SESSION_ROLE))};
    return st;
}

enum az_status
admin_session_times(struct op *op, const unsigned char hash[SHA256_OCTETS], const char **ret)
{
    struct db_params params = {.count = 0};
    bind_session(&params, hash);
    return db_fetch_text(op, &admin_session_times_stmt, &params, ret);
}

enum az_status
admin_session_end(struct op *op, const unsigned char hash[SHA256_OCTETS])
{
    struct db_params params = {.count = 0};
    db_octets(&params, hash, SHA256_OCTETS);
    return db_exec(op, &admin_session_end_stmt, &params, false, NULL);
}
