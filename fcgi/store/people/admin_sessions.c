#include "config.h"

#include "store/people/admin_sessions.h"

#include "base/settings/settings.h"
#include "store/db/db.h"
#include "store/db/trip/db_row.h"
#include "store/people/admin_keys_private.h"
#include "store/people/stored_claims.h"

_Static_assert(ADMIN_SESSION_IDLE == 30 * 60 && ADMIN_SESSION_LIFE == 8 * 60 * 60,
               "ADMIN_SESSION_IS_LIVE says the same");

static const struct db_stmt admin_session_begin_stmt = {
    "admin_session_begin",
    "WITH gone AS (DELETE FROM admin_session s WHERE s.id_hash = $4"
    "   OR NOT (" ADMIN_SESSION_IS_LIVE "))"
    " INSERT INTO admin_session (id_hash, admin_key, role, sign_in) VALUES ($1, $2::uuid, $3, $5)",
    5};

/* The row that gives roles to people. */
#define GRANTS_KEY "d.data_key = 'svc.operator.controls.console'"

/*
 * A session of a key ends with the key; one of a person with the sign-in, at which the claims of
 * the person are from, and with the provider. A request of the console is a use of the sign-in, as
 * one of a page is (sessions.c).
 */
static const struct db_stmt admin_session_find_stmt = {
    "admin_session_find",
    "WITH one AS (SELECT s.* FROM admin_session s"
    "   WHERE s.id_hash = $1 AND " ADMIN_SESSION_IS_LIVE "),"
    " found AS (SELECT k.id, k.label, k.role FROM one s JOIN admin_key k ON k.id = s.admin_key"
    "   AND k.role = s.role WHERE " ADMIN_KEY_IS_VALID "),"
    " person AS (SELECT b.subject, b.id_hash, b.created_at, p.idp_id, u.claims FROM one s"
    "   JOIN browser_session b ON b.id_hash = s.sign_in"
    "   JOIN identity_provider p ON p.id = b.idp AND p.enabled"
    "   JOIN subject u ON u.subject = b.subject AND u.idp_id = p.idp_id"
    "   WHERE b.expires_at > now()"
    "    AND b.created_at + make_interval(secs => $3::double precision) > now()),"
    " seen AS (UPDATE admin_session s SET last_seen_at = now() FROM one"
    "   WHERE s.id_hash = one.id_hash AND s.last_seen_at < now() - interval '1 minute'"
    "   RETURNING s.sign_in),"
    " moved AS (UPDATE browser_session b SET expires_at ="
    "    least(now() + make_interval(secs => $2::double precision),"
    "     b.created_at + make_interval(secs => $3::double precision))"
    "   FROM seen, person WHERE b.id_hash = seen.sign_in AND b.id_hash = person.id_hash),"
    " used AS (" ADMIN_KEY_USED ")"
    " SELECT k.id, k.label, k.role, h.subject, h.idp_id, h.claims::text AS claims,"
    "  d.payload AS grants, one.role AS first FROM one LEFT JOIN found k ON true"
    "  LEFT JOIN person h ON true"
    "  LEFT JOIN policy_data d ON " GRANTS_KEY " AND h.subject IS NOT NULL",
    3};
struct session_stored {
    struct admin_key key;         /* without its role */
    struct admin_sign_in sign_in; /* without its role */
    const char *role, *first;     /* words of both */
};
/* clang-format off */
static const struct db_column admin_session_find_columns[] = {
    {"id",      DB_INTO(struct session_stored, key.id)},
    {"label",   DB_INTO(struct session_stored, key.label)},
    {"role",    DB_INTO(struct session_stored, role)},
    {"subject", DB_INTO(struct session_stored, sign_in.subject)},
    {"idp_id",  DB_INTO(struct session_stored, sign_in.idp_id)},
    {"claims",  DB_INTO(struct session_stored, sign_in.claims)},
    {"grants",  DB_INTO(struct session_stored, sign_in.grants)},
    {"first",   DB_INTO(struct session_stored, first)},
};
/* clang-format on */

static const struct db_stmt admin_grants_read_stmt = {
    "admin_grants_read", "SELECT d.payload FROM policy_data d WHERE " GRANTS_KEY, 0};

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

enum az_status
admin_session_begin(struct op *op, const unsigned char hash[SHA256_OCTETS],
                    const unsigned char *before, const struct admin_key *key,
                    const unsigned char *sign_in)
{
    struct db_params params = {.count = 0};
    db_octets(&params, hash, SHA256_OCTETS);
    db_text(&params, key->id);
    db_text(&params, admin_role_word(key->role));
    db_octets(&params, before, before != NULL ? SHA256_OCTETS : 0);
    db_octets(&params, sign_in, sign_in != NULL ? SHA256_OCTETS : 0);
    return db_exec(op, &admin_session_begin_stmt, &params, false, NULL);
}

enum az_status
admin_session_find(struct op *op, const unsigned char hash[SHA256_OCTETS], struct admin_key *ret,
                   struct admin_sign_in *ret_sign_in)
{
    struct db_params params = {.count = 0};
    struct session_stored stored = {.role = NULL};
    bool found;
    *ret = (struct admin_key){.id = NULL};
    *ret_sign_in = (struct admin_sign_in){.subject = NULL};
    db_octets(&params, hash, SHA256_OCTETS);
    db_number(&params, op->az->cfg->session_timeout);
    db_number(&params, op->az->cfg->session_max_age);
    /* Sent again after a lost connection: the use is noted once a minute at most. */
    enum az_status st =
        db_fetch_row(op, &admin_session_find_stmt, &params, true,
                     DB_TABLE(struct session_stored, admin_session_find_columns), &stored, &found);
    if (found)
        st = stored_claims_typed(op, stored.sign_in.claims);
    if (!found || st != AZ_OK)
        return st;
    *ret = stored.key;
    ret->role = admin_role_of(stored.role);
    *ret_sign_in = stored.sign_in;
    ret_sign_in->role = admin_role_of(stored.first);
    return AZ_OK;
}

enum az_status
admin_grants_read(struct op *op, json_t **ret)
{
    const struct db_params params = {.count = 0};
    PGresult *result;
    *ret = NULL;
    enum az_status st = db_exec(op, &admin_grants_read_stmt, &params, true, &result);
    return st == AZ_OK && PQntuples(result) > 0 ? db_read_json(op, result, 0, 0, ret) : st;
}

enum az_status
admin_session_times(struct op *op, const unsigned char hash[SHA256_OCTETS], const char **ret)
{
    struct db_params params = {.count = 0};
    db_octets(&params, hash, SHA256_OCTETS);
    db_number(&params, ADMIN_SESSION_IDLE);
    db_number(&params, ADMIN_SESSION_LIFE);
    return db_fetch_text(op, &admin_session_times_stmt, &params, ret);
}

enum az_status
admin_session_end(struct op *op, const unsigned char hash[SHA256_OCTETS])
{
    struct db_params params = {.count = 0};
    db_octets(&params, hash, SHA256_OCTETS);
    return db_exec(op, &admin_session_end_stmt, &params, false, NULL);
}
