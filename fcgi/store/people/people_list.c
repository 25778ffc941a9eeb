#include "config.h"

#include "store/people/people_list.h"

/* The members of a person in lists. */
#define MEMBERS                                                                                    \
    "'subjectId', s.subject,"                                                                      \
    " 'name', left(coalesce(s.claims ->> 'name', s.claims ->> 'preferred_username'), 254),"        \
    " 'email', left(s.claims ->> 'email', 254), 'idpId', s.idp_id, 'issuer', s.issuer,"            \
    " 'createdAt', instant_text(s.created_at), 'signedInAt', instant_text(s.signed_in_at),"        \
    " 'sessions', (SELECT count(*) FROM browser_session b WHERE b.subject = s.subject"             \
    "  AND b.expires_at > now())"

/* json_to_record() reads the claims of a person, which may be long, once. */
/* clang-format off */
static const struct db_stmt people_page_stmt = {
    "people_page",
    "WITH m AS (SELECT s.subject, s.signed_in_at FROM"
    "   (SELECT * FROM subject ORDER BY signed_in_at DESC LIMIT " PEOPLE_SEARCHED ") s"
    "   WHERE $1::text IS NULL OR strpos(lower(s.subject), lower($1)) > 0"
    "    OR EXISTS (SELECT FROM json_to_record(s.claims) AS c(email text, name text, preferred_username text)"
    "     WHERE strpos(lower(c.email), lower($1)) > 0 OR strpos(lower(c.name), lower($1)) > 0"
    "      OR strpos(lower(c.preferred_username), lower($1)) > 0)"
    "  UNION SELECT s.subject, s.signed_in_at FROM subject s WHERE s.subject = $1"
    "  UNION SELECT s.subject, s.signed_in_at FROM subject s"
    "   WHERE lower(left(s.claims ->> 'email', 254)) = lower($1)),"
    " p AS (SELECT m.subject FROM m ORDER BY m.signed_in_at DESC, m.subject LIMIT $2::bigint OFFSET $3::bigint)"
    " SELECT (SELECT count(*) FROM m) AS total,"
    "  (SELECT coalesce(json_agg(json_strip_nulls(json_build_object(" MEMBERS ")) ORDER BY s.signed_in_at DESC, s.subject), '[]')"
    "   FROM p JOIN subject s ON s.subject = p.subject) AS people", 3};
static const struct db_stmt person_fetch_stmt = {
    "person_fetch",
    "SELECT json_strip_nulls(json_build_object(" MEMBERS ", 'claims', s.claims)) FROM subject s WHERE s.subject = $1", 1};

static const struct field person_fields[] = {
    {"subjectId",  FIELD_TEXT,    .required = true, .help = "Name of the person in tokens and decisions", .example = "\"alice\""},
    {"name",       FIELD_TEXT,    .help = "Name by the last sign-in", .example = "\"Alice Archer\""},
    {"email",      FIELD_TEXT,    .help = "Address by the last sign-in", .example = "\"alice@shop.example\""},
    {"idpId",      FIELD_TEXT,    .help = "Identity provider of the last sign-in", .example = "\"corp\""},
    {"issuer",     FIELD_TEXT,    .required = true, .help = "Issuer that names the person", .example = "\"https://login.example\""},
    {"createdAt",  FIELD_TEXT,    .required = true, .help = "First time that the person was seen", .example = "\"2026-01-31T12:00:00.000Z\""},
    {"signedInAt", FIELD_TEXT,    .required = true, .help = "Last sign-in", .example = "\"2026-01-31T12:00:00.000Z\""},
    {"sessions",   FIELD_INTEGER, .required = true, .help = "Browser sessions that are live", .example = "1"},
    {"claims",     FIELD_OBJECT,  .help = "Of one person: what the provider said at the last sign-in"},
};
/* clang-format on */
const struct field_table person_view = FIELD_TABLE("Person", person_fields, FIELDS_ANSWER);

const struct json_rows people_rows = {
    .noun = "person", .page = &people_page_stmt, .fetch = &person_fetch_stmt};
