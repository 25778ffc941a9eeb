#include "config.h"

#include "store/people/subjects.h"

#include "base/json/jsonx.h"
#include "store/db/db.h"
#include "store/db/trip/db_row.h"
#include "store/people/stored_claims.h"

/* The writes of session_create_stmt (sessions.c) without a session. A name that a subject or a
 * client has is not taken. */
static const struct db_stmt subject_meet_stmt = {
    "subject_meet",
    "WITH list AS (SELECT last_value <> $8 AS stale FROM identity_provider_version_seq),"
    " known AS (SELECT s.subject, s.claims, s.signed_in_at FROM subject s, list"
    "   WHERE s.issuer = $1 AND s.upstream_sub = $2 AND NOT list.stale),"
    " person AS (INSERT INTO subject (subject, issuer, upstream_sub, idp_id, claims)"
    "   SELECT CASE WHEN EXISTS (SELECT 1 FROM subject WHERE subject = $4)"
    "     OR EXISTS (SELECT 1 FROM client WHERE client_id = $4) THEN $5 ELSE $4 END,"
    "    $1, $2, $3, $6::json FROM list"
    "   WHERE NOT list.stale AND NOT EXISTS (SELECT 1 FROM known)"
    "   ON CONFLICT DO NOTHING RETURNING subject),"
    " home AS (INSERT INTO home_issuer (issuer) SELECT $7 FROM list"
    "   WHERE NOT list.stale AND $7::text IS NOT NULL"
    "    AND NOT EXISTS (SELECT 1 FROM home_issuer) ON CONFLICT DO NOTHING)"
    " SELECT coalesce(k.subject, n.subject) AS subject, list.stale, k.claims,"
    "  EXISTS (SELECT 1 FROM provider_userinfo u JOIN identity_provider p ON p.id = u.idp"
    "   WHERE p.issuer = $1 AND k.signed_in_at < u.first_at) AS older"
    " FROM list LEFT JOIN known k ON true LEFT JOIN person n ON true",
    8};
/* clang-format off */
static const struct db_column subject_meet_columns[] = {
    {"subject", DB_INTO(struct subject_seen, name)},
    {"stale",   DB_INTO(struct subject_seen, stale), .needed = true},
    {"claims",  DB_INTO(struct subject_seen, claims)},
    {"older",   DB_INTO(struct subject_seen, older), .needed = true},
};
/* clang-format on */

static const struct db_stmt subject_know_stmt = {
    "subject_know", "SELECT issuer, idp_id, claims FROM subject WHERE subject = $1", 1};
/* clang-format off */
static const struct db_column subject_know_columns[] = {
    {"issuer", DB_INTO(struct subject_known, issuer), .needed = true},
    {"idp_id", DB_INTO(struct subject_known, idp_id)},
    {"claims", DB_INTO(struct subject_known, claims)},
};
/* clang-format on */

static enum az_status
try_meet(struct op *op, const struct subject_met *met, const char *claims, struct subject_seen *ret)
{
    struct db_params params = {.count = 0};
    *ret = (struct subject_seen){.name = NULL};
    db_text(&params, met->issuer);
    db_text(&params, met->upstream_sub);
    db_text(&params, met->idp_id);
    db_text(&params, met->name);
    db_text(&params, met->other);
    db_text(&params, claims);
    db_text(&params, met->home_issuer);
    db_number(&params, met->providers_version);
    enum az_status st =
        db_fetch_row(op, &subject_meet_stmt, &params, false,
                     DB_TABLE(struct subject_seen, subject_meet_columns), ret, NULL);
    return st == AZ_OK ? stored_claims_typed(op, ret->claims) : st;
}

enum az_status
subject_meet(struct op *op, const struct subject_met *met, struct subject_seen *ret)
{
    const char *claims = jsonx_dump(op->mem, met->claims);
    if (claims == NULL)
        return op_no_memory(op);
    enum az_status st = try_meet(op, met, claims, ret);
    /* Another request has stored the person at this moment; the statement could not see that. */
    if (st == AZ_OK && ret->name == NULL && !ret->stale)
        st = try_meet(op, met, claims, ret);
    if (st == AZ_OK && ret->name == NULL && !ret->stale)
        return op_fail(op, AZ_UNAVAILABLE, NULL, "a subject could not be stored");
    return st;
}

enum az_status
subject_know(struct op *op, const char *subject, struct subject_known *ret)
{
    struct db_params params = {.count = 0};
    *ret = (struct subject_known){.issuer = NULL};
    db_text(&params, subject);
    enum az_status st =
        db_fetch_row(op, &subject_know_stmt, &params, true,
                     DB_TABLE(struct subject_known, subject_know_columns), ret, NULL);
    return st == AZ_OK ? stored_claims_typed(op, ret->claims) : st;
}
