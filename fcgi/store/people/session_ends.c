#include "config.h"

#include "store/people/session_ends.h"

#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "store/db/db.h"
#include "store/db/trip/db_row.h"
#include "store/people/sessions.h"

/* The cookie's own session comes first. A session that had expired counts only if an ID token names
 * it: the user was not asked about it, and a session that is found is logged out at its provider
 * too, which any page could otherwise do to the user. */
static const struct db_stmt session_end_stmt = {
    "session_end",
    "WITH gone AS (DELETE FROM browser_session WHERE id_hash = $1 OR (sid = $2 AND subject = $3)"
    "  RETURNING id_hash, sid, subject, idp, id_token_sealed, expires_at)"
    " SELECT sid, subject, idp, id_token_sealed FROM gone"
    "  WHERE expires_at > now() OR (sid = $2 AND subject = $3)"
    "  ORDER BY id_hash IS DISTINCT FROM $1",
    3};
struct session_ended {
    struct session_end end; /* without the ID token */
    const char *sid;
    const unsigned char *sealed; /* the ID token, or NULL */
    size_t length;
};
/* clang-format off */
static const struct db_column session_end_columns[] = {
    {"sid",             DB_INTO(struct session_ended, sid)},
    {"subject",         DB_INTO(struct session_ended, end.subject)},
    {"idp",             DB_INTO(struct session_ended, end.idp)},
    {"id_token_sealed", DB_OCTETS_INTO(struct session_ended, sealed, length)},
};
/* clang-format on */

static const struct db_stmt logout_facts_stmt = {
    "logout_facts",
    "SELECT s.subject, coalesce(p.claims ->> 'email', p.claims ->> 'preferred_username',"
    "  p.claims ->> 'name') AS label, s.idp, c.id IS NOT NULL AS client,"
    "  c.registration_type = 'ADMIN' AS by_admin, c.client_name,"
    "  to_json(c.post_logout_redirect_uris) AS uris"
    " FROM (SELECT 1) AS one"
    "  LEFT JOIN browser_session s ON s.id_hash = $1 AND s.expires_at > now()"
    "  LEFT JOIN subject p ON p.subject = s.subject"
    "  LEFT JOIN client c ON c.client_id = $2 AND c.enabled",
    2};
/* clang-format off */
static const struct db_column logout_facts_columns[] = {
    {"subject",     DB_INTO(struct logout_facts, subject)},
    {"label",       DB_INTO(struct logout_facts, label)},
    {"idp",         DB_INTO(struct logout_facts, idp)},
    {"client",      DB_INTO(struct logout_facts, client), .needed = true},
    {"by_admin",    DB_INTO(struct logout_facts, by_admin)},
    {"client_name", DB_INTO(struct logout_facts, name)},
    {"uris",        DB_INTO(struct logout_facts, uris)},
};
/* clang-format on */

/* clang-format off */
static const struct db_stmt sessions_page_stmt = {
    "sessions_page",
    "WITH m AS (SELECT s.id_hash, s.created_at, s.sid FROM browser_session s"
    "  WHERE s.expires_at > now() AND ($1::text IS NULL OR s.subject = $1)"
    "   AND ($2::text IS NULL OR s.idp = (SELECT id FROM identity_provider WHERE idp_id = $2))),"
    " p AS (SELECT m.id_hash FROM m ORDER BY m.created_at DESC, m.sid LIMIT $3::bigint OFFSET $4::bigint)"
    " SELECT (SELECT count(*) FROM m) AS total,"
    "  (SELECT coalesce(json_agg(json_strip_nulls(json_build_object('sid', s.sid, 'subjectId', s.subject,"
    "    'idpId', i.idp_id, 'authTime', instant_text(nullif(s.auth_time, to_timestamp(0))),"
    "    'createdAt', instant_text(s.created_at), 'lastSeenAt', instant_text(coalesce(s.last_seen_at, s.created_at)),"
    "    'expiresAt', instant_text(s.expires_at), 'ip', host(s.ip), 'userAgent', s.user_agent))"
    "    ORDER BY s.created_at DESC, s.sid), '[]')"
    "   FROM p JOIN browser_session s ON s.id_hash = p.id_hash JOIN identity_provider i ON i.id = s.idp) AS sessions", 4};
/* clang-format on */

static const struct db_stmt session_delete_stmt = {
    "session_delete", "DELETE FROM browser_session WHERE sid = $1 RETURNING sid", 1};

/* clang-format off */
static const struct field session_fields[] = {
    {"sid",       FIELD_TEXT, .required = true, .help = "Id of the session in tokens and paths", .example = "\"s-example\""},
    {"subjectId", FIELD_TEXT, .required = true, .help = "User who is signed in", .example = "\"alice\""},
    {"idpId",     FIELD_TEXT, .help = "Identity provider of the sign-in", .example = "\"corp\""},
    {"authTime",  FIELD_TEXT, .help = "Authentication at the provider; absent: it did not say"},
    {"createdAt", FIELD_TEXT, .help = "Begin of the session", .example = "\"2026-01-31T12:00:00.000Z\""},
    {"lastSeenAt", FIELD_TEXT, .help = "Last use, to a tenth of SVC_SESSION_TIMEOUT", .example = "\"2026-01-31T12:30:00.000Z\""},
    {"expiresAt", FIELD_TEXT, .help = "End of the session if it is not used", .example = "\"2026-01-31T13:00:00.000Z\""},
    {"ip",        FIELD_TEXT, .help = "Address of the browser at the sign-in", .example = "\"192.0.2.7\""},
    {"userAgent", FIELD_TEXT, .help = "Its header User-Agent then"},
};
/* clang-format on */
const struct field_table session_view =
    FIELD_TABLE("Session", session_fields, FIELDS_ANSWER | FIELDS_IGNORE_UNKNOWN);

const struct json_rows session_rows = {
    .noun = "session",
    .page = &sessions_page_stmt,
    .remove = &session_delete_stmt,
};

/* Open the provider's ID token. One that does not open (the credential key was changed) does not
 * prevent the logout. */
static const char *
open_id_token(struct op *op, const struct session_ended *ended)
{
    unsigned char *plain;
    size_t plain_length;
    if (ended->sealed == NULL
        || keyring_open(op->mem, op->az->keyring, KEYRING_SIGN_IN,
                        session_id_token_place(op->mem, ended->sid), ended->sealed, ended->length,
                        &plain, &plain_length)
               != AZ_OK)
        return NULL;
    return secret_copy(op->mem, plain, plain_length);
}

enum az_status
session_end(struct op *op, const unsigned char *id_hash, const char *sid, const char *subject,
            struct session_end *ret)
{
    struct db_params params = {.count = 0};
    struct session_ended ended = {.sid = NULL};
    bool found;
    db_octets(&params, id_hash, SHA256_OCTETS);
    db_text(&params, sid);
    db_text(&params, subject);
    enum az_status st =
        db_fetch_row(op, &session_end_stmt, &params, false,
                     DB_TABLE(struct session_ended, session_end_columns), &ended, &found);
    if (st != AZ_OK)
        return st;
    *ret = ended.end;
    ret->found = found;
    if (found)
        ret->id_token = open_id_token(op, &ended);
    return AZ_OK;
}

enum az_status
logout_facts_fetch(struct op *op, const unsigned char *id_hash, const char *client_id,
                   struct logout_facts *ret)
{
    struct db_params params = {.count = 0};
    db_octets(&params, id_hash, SHA256_OCTETS);
    db_text(&params, client_id);
    *ret = (struct logout_facts){.subject = NULL};
    return db_fetch_row(op, &logout_facts_stmt, &params, true,
                        DB_TABLE(struct logout_facts, logout_facts_columns), ret, NULL);
}
