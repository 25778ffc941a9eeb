#include "config.h"

#include "store/clients/clients_admin.h"

#include "store/clients/clients.h"
#include "store/db/db.h"

/* The members of ClientDto. The view is of the first schema version, which lacks the last ones. A
 * use from before the client was made is that of an earlier one of the same name. */
#define CLIENTS_ADMIN_MEMBERS                                                                      \
    "v.*, c.scope, c.id_token_signed_response_alg AS \"idTokenSignedResponseAlg\","                \
    " c.dpop_bound AS \"dpopBoundAccessTokens\", c.pkce_required AS \"pkceRequired\","             \
    " instant_text(c.created_at) AS \"createdAt\", instant_text(c.updated_at) AS \"updatedAt\","   \
    " c.updated_by AS \"updatedBy\", instant_text(l.used_at) AS \"lastUsedAt\""
#define CLIENTS_ADMIN_FROM " FROM client_dto v JOIN client c ON c.id = v.id" CLIENTS_ADMIN_LAST
#define CLIENTS_ADMIN_LAST                                                                         \
    " LEFT JOIN client_last l ON l.client_id = c.client_id AND l.used_at >= c.created_at"
#define CLIENTS_ADMIN_DTO "(SELECT " CLIENTS_ADMIN_MEMBERS CLIENTS_ADMIN_FROM ") d"

/* The decisions of a client in this hour and the 23 before, of an outcome that follows. */
#define CLIENTS_ADMIN_HOURS                                                                        \
    "(SELECT coalesce(sum(h.n), 0)::bigint FROM hour_count h WHERE h.client_id = c.client_id"      \
    " AND h.hour > now() - interval '24 hours' AND h.outcome = "

/* clang-format off */
/* A page of the clients that match, in the order of $8; the id decides between equals. The total is
 * counted apart, so that a page beyond the last one has it too; LIMIT NULL is none. The sum of denials
 * that the order goes by is stored: to add up a day of 10,000 clients takes longer than a page may.
 * Live tokens are counted if at most $9 are stored ($9 0: no figures): the partitions of the hours that
 * are over hold none, and no index knows the client. */
enum clients_page_column { PAGE_TOTAL, PAGE_CLIENTS };
static const struct db_stmt clients_page_stmt = {
    "clients_page",
    "WITH m AS (SELECT c.id, c.client_id, c.client_name, l.used_at, l.denied24h FROM client c" CLIENTS_ADMIN_LAST
    "  WHERE ($1::text IS NULL OR strpos(lower(c.client_id), lower($1)) > 0"
    "   OR strpos(lower(c.client_name), lower($1)) > 0)"
    "  AND ($2::text IS NULL OR registration_type = $2) AND ($3::text IS NULL OR client_type = $3)"
    "  AND ($4::boolean IS NULL OR enabled = $4::boolean)"
    "  AND ($7::timestamptz IS NULL OR l.used_at >= $7::timestamptz)),"
    " p AS (SELECT o.id, row_number() OVER () AS place FROM (SELECT m.id FROM m ORDER BY"
    "   CASE $8::text WHEN 'clientId' THEN m.client_id"
    "    WHEN 'clientName' THEN lower(coalesce(m.client_name, m.client_id)) END,"
    "   CASE $8::text WHEN '-clientId' THEN m.client_id"
    "    WHEN '-clientName' THEN lower(coalesce(m.client_name, m.client_id)) END DESC,"
    "   CASE $8::text WHEN 'lastUsedAt' THEN m.used_at END NULLS FIRST,"
    "   CASE $8::text WHEN '-lastUsedAt' THEN m.used_at END DESC NULLS LAST,"
    "   CASE $8::text WHEN '-denied24h' THEN coalesce(m.denied24h, 0) END DESC,"
    "   CASE $8::text WHEN '-createdAt' THEN m.id END DESC, m.id LIMIT $5::bigint OFFSET $6::bigint) o),"
    " stored AS MATERIALIZED (SELECT t.client, t.audit_id, t.grant_id,"
    "   t.expires_at > now() AND t.revoked_at IS NULL AS live FROM access_token t"
    "  WHERE $9::integer > 0 AND t.expires_at > date_trunc('hour', now(), 'UTC')"
    "  ORDER BY t.id DESC LIMIT $9::integer + 1),"
    " alive AS (SELECT s.client, count(*) AS n FROM stored s JOIN client o ON o.id = s.client AND o.enabled"
    "   LEFT JOIN token_grant g ON g.id = s.grant_id"
    "  WHERE s.live AND (SELECT count(*) FROM stored) <= $9::integer AND s.audit_id >= o.revoked_before AND g.revoked_at IS NULL GROUP BY 1)"
    " SELECT (SELECT count(*) FROM m) AS total,"
    "  (SELECT coalesce(json_agg(" JSON_ROWS_DTO " ORDER BY p.place), '[]')"
    "   FROM (SELECT " CLIENTS_ADMIN_MEMBERS ","
    "     CASE WHEN $9::integer > 0 AND (SELECT count(*) FROM stored) <= $9::integer"
    "      THEN coalesce(a.n, 0) END AS \"liveTokens\","
    "     CASE WHEN $9::integer > 0 THEN " CLIENTS_ADMIN_HOURS "'allowed') END AS \"allowed24h\","
    "     CASE WHEN $9::integer > 0 THEN " CLIENTS_ADMIN_HOURS "'denied') END AS \"denied24h\""
    "     " CLIENTS_ADMIN_FROM " LEFT JOIN alive a ON a.client = c.id) d"
    "   JOIN p ON p.id = d.id) AS clients", 9};
enum client_dto_fetch_column { SHOWN_DTO, SHOWN_VERSION };
static const struct db_stmt clients_admin_fetch_stmt = {
    "client_dto_fetch",
    "SELECT " JSON_ROWS_DTO " AS dto, o.version FROM " CLIENTS_ADMIN_DTO " JOIN client o ON o.id = d.id"
    " WHERE d.\"clientId\" = $1", 1};

enum client_state_fetch_column { STATE_REGISTRATION_TYPE, STATE_HAS_SECRET, STATE_STATEMENT, STATE_ISSUED, STATE_ID_TOKEN_ALG, STATE_CLIENT_TYPE, STATE_AUTH_METHOD, STATE_DPOP_BOUND };
static const struct db_stmt client_state_stmt = {
    "client_state_fetch",
    "SELECT registration_type, secret_sealed IS NOT NULL AS has_secret,"
    " software_statement::text AS statement, issued_statement AS issued,"
    " id_token_signed_response_alg AS id_token_alg, client_type, auth_method, dpop_bound"
    " FROM client WHERE client_id = $1", 1};

/* The values of columns that may not be NULL and were not given. */
#define CLIENTS_ADMIN_EMPTY "'{\"redirect_uris\": [], \"post_logout_redirect_uris\": []}'::jsonb"

/* A client that has secrets (clients_admin.h). */
#define CLIENTS_ADMIN_SECRET                                                                       \
    "client_type = 'confidential'"                                                                 \
    " AND coalesce(auth_method, '') NOT IN ('private_key_jwt', 'spiffe_jwt')"

/* The values come by name from one JSON object. Joining with || lets the members on the right win. */
static const struct db_stmt clients_admin_insert_stmt = {
    "client_insert",
    "INSERT INTO client (" CLIENTS_ADMIN_COLUMNS ", client_id, registration_type, secret_sealed)"
    " SELECT " CLIENTS_ADMIN_COLUMNS ", $1, 'ADMIN', $3::bytea"
    " FROM jsonb_populate_record(NULL::client,"
    "  " CLIENTS_ADMIN_EMPTY " || '{\"enabled\": true, \"dpop_bound\": false, \"pkce_required\": false}' || $2::jsonb)"
    " WHERE NOT EXISTS (" CLIENT_NAME_TAKEN ")"
    " ON CONFLICT (client_id) DO NOTHING RETURNING id", 3};
static const struct db_stmt clients_admin_replace_stmt = {
    "client_replace",
    "UPDATE client c SET (" CLIENTS_ADMIN_COLUMNS ","
    "  secret_sealed, previous_secret_sealed, previous_secret_expires_at)"
    " = (SELECT " CLIENTS_ADMIN_COLUMNS ","
    "  CASE WHEN " CLIENTS_ADMIN_SECRET " THEN coalesce($3::bytea, c.secret_sealed) END,"
    "  CASE WHEN " CLIENTS_ADMIN_SECRET " AND $3::bytea IS NULL"
    "   THEN c.previous_secret_sealed END,"
    "  CASE WHEN " CLIENTS_ADMIN_SECRET " AND $3::bytea IS NULL"
    "   THEN c.previous_secret_expires_at END"
    " FROM jsonb_populate_record(NULL::client,"
    "  " CLIENTS_ADMIN_EMPTY " || jsonb_build_object('enabled', c.enabled, 'scope', c.scope,"
    "   'id_token_signed_response_alg', c.id_token_signed_response_alg, 'dpop_bound', c.dpop_bound,"
    "   'pkce_required', c.pkce_required) || $2::jsonb"
    "  || CASE WHEN c.registration_type = 'STATEMENT' THEN jsonb_build_object("
    "   'software_statement', c.software_statement,"
    "   'software_statement_json', c.software_statement_json) ELSE '{}' END))"
    " WHERE c.client_id = $1 AND ($4::bigint IS NULL OR c.version = $4::bigint) RETURNING c.id", 4};
static const struct db_stmt clients_admin_delete_stmt = {
    "client_delete", "DELETE FROM client WHERE client_id = $1 AND ($2::bigint IS NULL OR version = $2::bigint)"
    " RETURNING id", 2};

/* The secret that was good until now stays good until $3, or is dropped. */
enum client_rotate_secret_column { ROTATE_DONE, ROTATE_UNTIL };
static const struct db_stmt client_rotate_stmt = {
    "client_rotate_secret",
    "WITH k AS (SELECT 1 FROM client WHERE client_id = $1),"
    " u AS (UPDATE client SET secret_sealed = $2, updated_by = $4,"
    "  previous_secret_sealed = CASE WHEN $3::timestamptz IS NOT NULL THEN secret_sealed END,"
    "  previous_secret_expires_at ="
    "   CASE WHEN secret_sealed IS NOT NULL THEN $3::timestamptz END"
    "  WHERE client_id = $1 AND " CLIENTS_ADMIN_SECRET
    "  RETURNING previous_secret_expires_at AS until)"
    " SELECT (SELECT count(*) FROM u) AS done,"
    "  (SELECT to_char(until" DB_TIME " FROM u) AS until"
    " FROM k", 4};
/* clang-format on */

const struct json_rows clients_admin_rows = {
    .noun = "client",
    .key = "clientId",
    .besides = "",
    .fetch = &clients_admin_fetch_stmt,
    .insert = &clients_admin_insert_stmt,
    .replace = &clients_admin_replace_stmt,
    .remove = &clients_admin_delete_stmt,
    .owned = "client",
};

enum az_status
clients_page(struct op *op, const struct clients_filter *filter, int64_t limit, int64_t offset,
             struct clients_found *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, filter->text);
    db_text(&params, filter->registration_type);
    db_text(&params, filter->client_type);
    db_text(&params, filter->enabled);
    if (limit > 0)
        db_number(&params, limit);
    else
        db_text(&params, NULL);
    db_number(&params, offset);
    if (filter->has_used_since)
        db_time(&params, filter->used_since_ms);
    else
        db_text(&params, NULL);
    db_text(&params, filter->sort);
    db_number(&params, limit > 0 ? CLIENTS_TOKENS_MAX : 0);
    enum az_status st = json_rows_filter(op, &clients_page_stmt, &params, &result);
    if (st == AZ_OK)
        *ret = (struct clients_found){.total = db_get_number(result, 0, PAGE_TOTAL, 0),
                                      .array = db_get(result, 0, PAGE_CLIENTS)};
    return st;
}

enum az_status
client_state_fetch(struct op *op, const char *client_id, const struct client_state **ret)
{
    struct db_params params = {.count = 0};
    struct client_state *state = NULL;
    PGresult *result;
    db_text(&params, client_id);
    enum az_status st = db_exec(op, &client_state_stmt, &params, true, &result);
    if (st == AZ_OK && PQntuples(result) == 1) {
        if ((state = talloc(op->mem, struct client_state)) == NULL)
            return op_no_memory(op);
        *state = (struct client_state){
            .dpop_bound = db_get_bool(result, 0, STATE_DPOP_BOUND),
            .has_secret = db_get_bool(result, 0, STATE_HAS_SECRET),
            .registration = db_get(result, 0, STATE_REGISTRATION_TYPE),
            .statement = db_get(result, 0, STATE_STATEMENT),
            .issued = db_get(result, 0, STATE_ISSUED),
            .id_token_alg = db_get(result, 0, STATE_ID_TOKEN_ALG),
            .type = db_get(result, 0, STATE_CLIENT_TYPE),
            .auth_method = db_get(result, 0, STATE_AUTH_METHOD),
        };
    }
    if (st == AZ_OK)
        *ret = state;
    return st;
}

enum az_status
client_rotate_secret(struct op *op, const char *client_id, const struct client_rotation *rotation,
                     const char **ret_previous_until)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, client_id);
    db_octets(&params, rotation->sealed, rotation->sealed_length);
    if (rotation->previous_until_ms > 0)
        db_time(&params, rotation->previous_until_ms);
    else
        db_text(&params, NULL);
    db_text(&params, op->who);
    enum az_status st = db_exec(op, &client_rotate_stmt, &params, false, &result);
    if (st != AZ_OK)
        return st;
    if (PQntuples(result) == 0)
        return op_fail(op, AZ_NOT_FOUND, NULL, "no such client");
    if (db_get_number(result, 0, ROTATE_DONE, 0) == 0)
        return op_fail(op, AZ_INVALID_FIELDS, "The client has no secret", NULL);
    *ret_previous_until = db_get(result, 0, ROTATE_UNTIL);
    return AZ_OK;
}
