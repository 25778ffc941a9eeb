#include "config.h"

#include "store/people/session_ends.h"

#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "store/db/db.h"
#include "store/people/sessions.h"

/* The cookie's own session comes first. A session that had expired counts only if an ID token names
 * it: the user was not asked about it, and a session that is found is logged out at its provider
 * too, which any page could otherwise do to the user. */
enum session_end_column { END_SID, END_SUBJECT, END_IDP, END_ID_TOKEN_SEALED };
static const struct db_stmt session_end_stmt = {
    "session_end",
    "WITH gone AS (DELETE FROM browser_session WHERE id_hash = $1 OR (sid = $2 AND subject = $3)"
    "  RETURNING id_hash, sid, subject, idp, id_token_sealed, expires_at)"
    " SELECT sid, subject, idp, id_token_sealed FROM gone"
    "  WHERE expires_at > now() OR (sid = $2 AND subject = $3)"
    "  ORDER BY id_hash IS DISTINCT FROM $1",
    3};

enum logout_facts_column {
    FACTS_SUBJECT,
    FACTS_LABEL,
    FACTS_IDP,
    FACTS_CLIENT,
    FACTS_BY_ADMIN,
    FACTS_CLIENT_NAME,
    FACTS_URIS
};
static const struct db_stmt logout_facts_stmt = {
    "logout_facts",
    "SELECT s.subject, coalesce(p.claims ->> 'email', p.claims ->> 'preferred_username',"
    "  p.claims ->> 'name') AS label, s.idp, c.id AS client,"
    "  c.registration_type = 'ADMIN' AS by_admin, c.client_name,"
    "  to_json(c.post_logout_redirect_uris) AS uris"
    " FROM (SELECT 1) AS one"
    "  LEFT JOIN browser_session s ON s.id_hash = $1 AND s.expires_at > now()"
    "  LEFT JOIN subject p ON p.subject = s.subject"
    "  LEFT JOIN client c ON c.client_id = $2 AND c.enabled",
    2};

/* clang-format off */
static const struct db_stmt sessions_page_stmt = {
    "sessions_page",
    "WITH m AS (SELECT s.id_hash, s.created_at, s.sid FROM browser_session s"
    "  WHERE s.expires_at > now() AND ($1::text IS NULL OR s.subject = $1)),"
    " p AS (SELECT m.id_hash FROM m ORDER BY m.created_at DESC, m.sid LIMIT $2::bigint OFFSET $3::bigint)"
    " SELECT (SELECT count(*) FROM m) AS total,"
    "  (SELECT coalesce(json_agg(json_strip_nulls(json_build_object('sid', s.sid, 'subjectId', s.subject,"
    "    'idpId', i.idp_id, 'authTime', instant_text(nullif(s.auth_time, to_timestamp(0))),"
    "    'createdAt', instant_text(s.created_at), 'lastSeenAt', instant_text(coalesce(s.last_seen_at, s.created_at)),"
    "    'expiresAt', instant_text(s.expires_at), 'ip', host(s.ip), 'userAgent', s.user_agent))"
    "    ORDER BY s.created_at DESC, s.sid), '[]')"
    "   FROM p JOIN browser_session s ON s.id_hash = p.id_hash JOIN identity_provider i ON i.id = s.idp) AS sessions", 3};
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
open_id_token(struct op *op, const PGresult *row)
{
    unsigned char *box, *plain;
    size_t length, plain_length;
    if (db_get(row, 0, END_ID_TOKEN_SEALED) == NULL
        || db_get_octets(op->mem, row, 0, END_ID_TOKEN_SEALED, &box, &length) != AZ_OK
        || keyring_open(op->mem, op->az->keyring, KEYRING_SIGN_IN,
                        session_id_token_place(op->mem, db_get(row, 0, END_SID)), box, length,
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
    PGresult *result;
    db_octets(&params, id_hash, SHA256_OCTETS);
    db_text(&params, sid);
    db_text(&params, subject);
    enum az_status st = db_exec(op, &session_end_stmt, &params, false, &result);
    if (st != AZ_OK)
        return st;
    *ret = (struct session_end){.found = PQntuples(result) > 0};
    if (ret->found) {
        ret->subject = db_get(result, 0, END_SUBJECT);
        ret->idp = db_get_number(result, 0, END_IDP, 0);
        ret->id_token = open_id_token(op, result);
    }
    return AZ_OK;
}

enum az_status
logout_facts_fetch(struct op *op, const unsigned char *id_hash, const char *client_id,
                   struct logout_facts *ret)
{
    struct db_params params = {.count = 0};
    PGresult *row;
    db_octets(&params, id_hash, SHA256_OCTETS);
    db_text(&params, client_id);
    enum az_status st = db_exec(op, &logout_facts_stmt, &params, true, &row);
    if (st != AZ_OK)
        return st;
    struct logout_facts facts = {
        .subject = db_get(row, 0, FACTS_SUBJECT),
        .label = db_get(row, 0, FACTS_LABEL),
        .idp = db_get_number(row, 0, FACTS_IDP, 0),
        .client = db_get(row, 0, FACTS_CLIENT) != NULL,
        .by_admin = db_get_bool(row, 0, FACTS_BY_ADMIN),
        .name = db_get(row, 0, FACTS_CLIENT_NAME),
    };
    if (db_get_words(op->mem, row, 0, FACTS_URIS, &facts.uris) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "the postLogoutRedirectUris of a client cannot be read");
    *ret = facts;
    return AZ_OK;
}
