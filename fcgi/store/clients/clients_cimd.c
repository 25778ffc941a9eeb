#include "config.h"

#include "store/clients/clients_cimd.h"

#include "base/settings.h"
#include "store/clients/clients_dynamic.h"
#include "store/db/db.h"

/*
 * An existing row is renewed however many other rows there are. A client must not share its name
 * with a subject: tokens of the two would look alike. If nothing was written, the row comes from
 * the second branch. That branch sees the table as it was when the statement began, so it finds
 * nothing if another process made the row meanwhile; a second try finds it.
 */
/* clang-format off */
enum client_cimd_put_column { PUT_ID, PUT_VERSION, PUT_ENABLED, PUT_OURS, PUT_TAKEN, PUT_FULL };
static const struct db_stmt client_cimd_put_stmt = {
    "client_cimd_put",
    "WITH taken AS (SELECT 1 FROM subject WHERE subject = $1),"
    " room AS (SELECT CASE WHEN EXISTS (SELECT 1 FROM client WHERE client_id = $1) THEN true"
    "   ELSE (SELECT count(*) < $8::bigint FROM " CLIENTS_DYNAMIC " LIMIT $8::bigint) held)"
    "   END AS free),"
    " put AS (INSERT INTO client (client_id, client_type, registration_type, auth_method,"
    "   client_name, client_uri, logo_uri, scope, redirect_uris, grant_types)"
    "  SELECT $1, 'public', 'CIMD', 'none', $2, $3, $7, $4, $5::text[], $6::text[]"
    "   FROM room WHERE free AND NOT EXISTS (SELECT 1 FROM taken)"
    "  ON CONFLICT (client_id) DO UPDATE SET auth_method = excluded.auth_method,"
    "   client_name = excluded.client_name, client_uri = excluded.client_uri,"
    "   logo_uri = excluded.logo_uri, scope = excluded.scope,"
    "   redirect_uris = excluded.redirect_uris, grant_types = excluded.grant_types"
    "  WHERE client.registration_type = 'CIMD' AND client.client_type = 'public'"
    "   AND (client.auth_method, client.client_name, client.client_uri, client.logo_uri,"
    "     client.scope, client.redirect_uris, client.grant_types)"
    "    IS DISTINCT FROM (excluded.auth_method, excluded.client_name, excluded.client_uri,"
    "     excluded.logo_uri, excluded.scope, excluded.redirect_uris, excluded.grant_types)"
    "  RETURNING id, version, enabled, registration_type, client_type),"
    " stands AS (SELECT * FROM put UNION ALL"
    "  SELECT id, version, enabled, registration_type, client_type FROM client"
    "   WHERE client_id = $1 AND NOT EXISTS (SELECT 1 FROM put))"
    " SELECT id, version, enabled, registration_type = 'CIMD' AND client_type = 'public' AS ours,"
    "  EXISTS (SELECT 1 FROM taken) AS taken, NOT free AS full"
    " FROM room LEFT JOIN stands ON true", 8};
/* clang-format on */

static enum az_status
put_once(struct op *op, const struct client *client, struct client_cimd_row *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, client->client_id);
    db_text(&params, client->name);
    db_text(&params, client->uri);
    db_text(&params, client->scope);
    db_words_or_null(op->mem, &params, client->redirect_uris);
    db_words_or_null(op->mem, &params, client->grant_types);
    db_text(&params, client->logo);
    db_number(&params, op->az->cfg->dynamic_clients_max);
    enum az_status st = db_exec(op, &client_cimd_put_stmt, &params, false, &result);
    if (st != AZ_OK)
        return st;
    *ret = (struct client_cimd_row){
        .id = db_get_number(result, 0, PUT_ID, 0),
        .version = db_get_number(result, 0, PUT_VERSION, 0),
        .enabled = db_get_bool(result, 0, PUT_ENABLED),
        .ours = db_get_bool(result, 0, PUT_OURS),
        .taken = db_get_bool(result, 0, PUT_TAKEN),
        .full = db_get_bool(result, 0, PUT_FULL),
    };
    return AZ_OK;
}

enum az_status
client_cimd_put(struct op *op, const struct client *client, struct client_cimd_row *ret)
{
    struct client_cimd_row row = {.id = 0};
    enum az_status st = put_once(op, client, &row);
    if (st == AZ_OK && row.id == 0 && !row.taken && !row.full)
        st = put_once(op, client, &row);
    if (st == AZ_OK)
        *ret = row;
    return st;
}
